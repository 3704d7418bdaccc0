package link

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/scorel/scorel/packages/protocol/wire"
)

// Handler takes what arrives. Its methods are called from one goroutine, the
// one in Run; they do not block.
type Handler interface {
	// Control takes a frame: a pointer to one of wire's frame types.
	Control(frame wire.Frame)
	// Records takes the payloads of records that came one behind the other on one
	// channel, at least one. They are valid until Records returns.
	Records(channel uint32, payloads [][]byte)
}

// GoodbyeError says that the relay ended the connection and why.
type GoodbyeError struct{ wire.Goodbye }

func (e *GoodbyeError) Error() string {
	if e.Reason == wire.ReasonReplaced {
		return "another connection with this identity took over"
	}
	return "the relay ended the connection: " + string(e.Reason)
}

const (
	firstBuffer  = 4 << 10          // bytes that a reader begins with
	maxBuffer    = 128 << 10        // bytes that it keeps after a larger message
	maxTogether  = 256              // records that are handed over at once
	pingEvery    = 25 * time.Second // plus up to a third as jitter
	pingTimeout  = 20 * time.Second
	writeTimeout = 30 * time.Second
)

// Conn is one logged-in connection. Send and SendRecords may be called from any
// goroutine.
type Conn struct {
	// Static after Dial.
	ws      *websocket.Conn
	stream  *stream // below ws
	log     *slog.Logger
	welcome *wire.Welcome
	queue   *queue

	// Owned by the reader.
	message  []byte   // where messages are read into
	payloads [][]byte // of the records in it that are handed over together
}

func newConn(ws *websocket.Conn, below *stream, log *slog.Logger) *Conn {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Conn{ws: ws, stream: below, log: log, queue: newQueue()}
}

// Welcome is what the relay said at login.
func (c *Conn) Welcome() *wire.Welcome { return c.welcome }

// Send queues a control frame. It fails when the connection has ended.
func (c *Conn) Send(ctx context.Context, frame wire.Frame) error {
	data, err := wire.EncodeControl(frame)
	if err != nil {
		return err
	}
	return c.queue.putText(ctx, data)
}

// SendRecords queues records of one channel in order, all or none of them. It
// waits while the queue is full.
func (c *Conn) SendRecords(ctx context.Context, channel uint32, payloads ...[]byte) error {
	return c.queue.putRecords(ctx, channel, payloads)
}

// AppendRecord queues one record whose payload of n bytes write appends to a buffer,
// as append does. write runs once, when there is room and just before the record is
// queued, or not at all: one runs at a time, in the order in which the records leave.
// It must not call the Conn. What it returns is returned, and nothing is queued then.
func (c *Conn) AppendRecord(ctx context.Context, channel uint32, n int, write func([]byte) ([]byte, error)) error {
	return c.queue.appendRecord(ctx, channel, n, write)
}

// Run reads until the connection or ctx ends, and returns why: a *GoodbyeError
// when the relay said so. The connection is closed when it returns.
func (c *Conn) Run(ctx context.Context, h Handler) error {
	ctx, cancel := context.WithCancelCause(ctx)
	var helpers sync.WaitGroup
	helpers.Go(func() { cancel(c.writeLoop()) })
	helpers.Go(func() { cancel(c.pingLoop(ctx)) })
	helpers.Go(func() { // one watches ctx for all reads and writes: each of them would pay for it
		<-ctx.Done()
		_ = c.ws.CloseNow() // they fail now
	})

	err := c.readLoop(h)
	if cause := context.Cause(ctx); cause != nil && !errors.As(err, new(*GoodbyeError)) {
		err = cause
	}
	cancel(err)
	c.queue.close()
	helpers.Wait()
	return err
}

// Close ends the connection: what is queued is sent first, if the network takes it
// within a second. Only for a Conn whose Run does not run any more or never did.
func (c *Conn) Close() {
	c.queue.close()
	_ = c.ws.CloseNow()
}

func (c *Conn) readLoop(h Handler) error {
	for {
		kind, data, err := c.readMessage()
		if err != nil {
			return fmt.Errorf("the connection to the relay was lost: %w", err)
		}
		if kind == websocket.MessageBinary {
			err = c.takeRecords(data, h)
		} else {
			err = c.takeControl(data, h)
		}
		if err != nil {
			return err
		}
	}
}

// readMessage returns the next message, which is good until the next call.
func (c *Conn) readMessage() (websocket.MessageType, []byte, error) {
	kind, r, err := c.ws.Reader(context.Background()) // Run closes the connection when its context ends
	if err != nil {
		return 0, nil, err
	}
	if cap(c.message) < firstBuffer || cap(c.message) > maxBuffer {
		c.message = make([]byte, 0, firstBuffer)
	}
	c.message = c.message[:0]
	for {
		if len(c.message) == cap(c.message) {
			c.message = slices.Grow(c.message, len(c.message))
		}
		n, err := r.Read(c.message[len(c.message):cap(c.message)])
		c.message = c.message[:len(c.message)+n]
		if errors.Is(err, io.EOF) {
			return kind, c.message, nil
		}
		if err != nil {
			return 0, nil, err
		}
	}
}

// takeRecords hands over the records of a message, those of one channel together.
func (c *Conn) takeRecords(data []byte, h Handler) error {
	var channel uint32
	for len(data) > 0 {
		record, rest, err := wire.NextRecord(data)
		if err != nil {
			return fmt.Errorf("reading from the relay: %w", err)
		}
		if record.Channel != channel || len(c.payloads) == maxTogether {
			c.handOver(channel, h)
			channel = record.Channel
		}
		c.payloads = append(c.payloads, record.Payload)
		data = rest
	}
	c.handOver(channel, h)
	return nil
}

func (c *Conn) handOver(channel uint32, h Handler) {
	if len(c.payloads) > 0 {
		h.Records(channel, c.payloads)
		c.payloads = c.payloads[:0]
	}
}

func (c *Conn) takeControl(data []byte, h Handler) error {
	frame, err := wire.DecodeControl(data, wire.MaxControl)
	if errors.Is(err, wire.ErrUnknownType) {
		c.log.Debug("skipped a frame of a newer relay", "error", err)
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading from the relay: %w", err)
	}
	if bye, ok := frame.(*wire.Goodbye); ok {
		return &GoodbyeError{Goodbye: *bye}
	}
	h.Control(frame)
	return nil
}

// writeLoop ends with the queue.
func (c *Conn) writeLoop() error {
	var late atomic.Bool
	watchdog := time.AfterFunc(time.Hour, func() {
		late.Store(true)
		_ = c.ws.CloseNow() // the write fails now
	})
	defer watchdog.Stop()
	for {
		watchdog.Stop()
		segment, err := c.queue.take()
		if err != nil {
			return err
		}
		watchdog.Reset(writeTimeout)
		if err := c.writeMessage(segment); err != nil {
			if late.Load() {
				err = fmt.Errorf("it took nothing for %s", writeTimeout)
			}
			return fmt.Errorf("the connection to the relay was lost: %w", err)
		}
		c.queue.recycle(segment)
	}
}

// writeMessage returns when the network has taken the message.
func (c *Conn) writeMessage(m segment) error {
	kind := websocket.MessageBinary
	if m.text {
		kind = websocket.MessageText
	}
	c.stream.hold()
	err := c.ws.Write(context.Background(), kind, m.data)
	return errors.Join(err, c.stream.release())
}

// pingLoop finds a half-open connection from this side.
func (c *Conn) pingLoop(ctx context.Context) error {
	timer := time.NewTimer(pingInterval())
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-timer.C:
		}
		pingCtx, cancel := context.WithTimeout(ctx, pingTimeout)
		err := c.ws.Ping(pingCtx)
		cancel()
		if err != nil {
			return fmt.Errorf("the relay does not answer any more: %w", err)
		}
		timer.Reset(pingInterval())
	}
}

func pingInterval() time.Duration { return pingEvery + rand.N(pingEvery/3) }

func (c *Conn) writeFrame(ctx context.Context, frame wire.Frame) error {
	data, err := wire.EncodeControl(frame)
	if err != nil {
		return err
	}
	return c.ws.Write(ctx, websocket.MessageText, data)
}
