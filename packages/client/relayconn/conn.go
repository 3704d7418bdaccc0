package relayconn

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

// Handler handles incoming frames and records. Its methods are called from one
// goroutine, the one in Run, and must not block.
type Handler interface {
	// Control handles a frame: a pointer to one of wire's frame types.
	Control(frame wire.Frame)
	// Records handles the payloads of one or more consecutive records of one
	// channel. They are valid until Records returns.
	Records(channel uint32, payloads [][]byte)
}

// GoodbyeError is returned if the relay ended the connection, with its reason.
type GoodbyeError struct{ wire.Goodbye }

func (e *GoodbyeError) Error() string {
	if e.Reason == wire.ReasonReplaced {
		return "another connection with this identity replaced this one"
	}
	return "the relay ended the connection: " + string(e.Reason)
}

const (
	readBuffer   = 4 << 10          // initial size in bytes of the reader's buffer
	maxTogether  = 256              // records passed to the handler at once
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
	pings   *time.Timer // fires when nothing has shown for a while that the relay is there

	// Owned by the reader.
	buffer   []byte   // bytes of the current message that were read and not yet handed over
	payloads [][]byte // of consecutive records in it
}

func newConn(ws *websocket.Conn, below *stream, pings *time.Timer, log *slog.Logger) *Conn {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Conn{ws: ws, stream: below, log: log, queue: newQueue(), pings: pings}
}

// Welcome returns the relay's welcome frame.
func (c *Conn) Welcome() *wire.Welcome { return c.welcome }

// Send queues a control frame. It fails if the connection has ended.
func (c *Conn) Send(ctx context.Context, frame wire.Frame) error {
	data, err := wire.EncodeControl(frame)
	if err != nil {
		return err
	}
	return c.queue.putText(ctx, data)
}

// CloseChannel queues the end of a channel. It does not wait, and there is room for it even if the
// queue is full: the other end would send into a channel of which it does not know that it ended. A
// connection without this room ends, and all its channels with it.
func (c *Conn) CloseChannel(channel uint32, reason wire.Reason) error {
	data, err := wire.EncodeControl(wire.CloseChannel{Channel: channel, Reason: reason})
	if err != nil {
		return err
	}
	if err = c.queue.putNow(data); errors.Is(err, errFull) {
		c.queue.close()
	}
	return err
}

// SendRecords queues records of one channel in order, all or none of them. It waits
// while the queue is full.
func (c *Conn) SendRecords(ctx context.Context, channel uint32, payloads ...[]byte) error {
	return c.queue.putRecords(ctx, channel, payloads)
}

// AppendRecord queues one record whose payload of n bytes write appends to a
// buffer, as append does. write runs at most once, when there is room and just
// before the record is queued; calls of write are serialized in the order in which
// the records are sent. It must not call the Conn. If it fails, its error is
// returned and nothing is queued.
func (c *Conn) AppendRecord(ctx context.Context, channel uint32, n int, write func([]byte) ([]byte, error)) error {
	return c.queue.appendRecord(ctx, channel, n, write)
}

// Run reads until the connection or ctx ends, and returns the reason: a
// *GoodbyeError if the relay sent one. The connection is closed when Run returns.
func (c *Conn) Run(ctx context.Context, h Handler) error {
	ctx, cancel := context.WithCancelCause(ctx)
	var helpers sync.WaitGroup
	helpers.Go(func() { cancel(c.writeLoop()) })
	helpers.Go(func() { cancel(c.pingLoop(ctx)) })
	helpers.Go(func() { // one goroutine watches ctx, which is cheaper than doing so in each read and write
		<-ctx.Done()
		_ = c.ws.CloseNow() // makes reads and writes fail
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

// Close closes the connection: queued messages are sent first, for at most a
// second. It must only be called if Run has returned or was never called.
func (c *Conn) Close() {
	c.queue.close()
	_ = c.ws.CloseNow()
}

func (c *Conn) readLoop(h Handler) error {
	for {
		kind, r, err := c.ws.Reader(context.Background()) // Run closes the connection when its context ends
		if err != nil {
			return lost(err)
		}
		if kind == websocket.MessageBinary {
			err = c.readRecords(r, h)
		} else {
			err = c.readControl(r, h)
		}
		if err != nil {
			return err
		}
	}
}

func lost(err error) error { return fmt.Errorf("the connection to the relay was lost: %w", err) }

// readRecords passes on the records of a message while it arrives. It needs a
// buffer for the largest record, not for the largest message.
func (c *Conn) readRecords(r io.Reader, h Handler) error {
	c.buffer = c.buffer[:0]
	for {
		ended, err := c.fill(r)
		if err != nil {
			return err
		}
		rest, err := c.takeRecords(c.buffer, h)
		if err != nil {
			return err
		}
		if ended && len(rest) > 0 {
			return fmt.Errorf("reading from the relay: %w", wire.ErrCutRecord)
		}
		if ended {
			return nil
		}
		c.buffer = append(c.buffer[:0], rest...)
	}
}

// readControl reads a whole message and handles the frame in it.
func (c *Conn) readControl(r io.Reader, h Handler) error {
	c.buffer = c.buffer[:0]
	for {
		ended, err := c.fill(r)
		if err != nil {
			return err
		}
		if ended {
			return c.takeControl(c.buffer, h)
		}
	}
}

// fill reads once from a message into the free part of the buffer, which it doubles
// if there is none, and reports whether the message has ended.
func (c *Conn) fill(r io.Reader) (ended bool, err error) {
	if len(c.buffer) == cap(c.buffer) {
		c.buffer = slices.Grow(c.buffer, max(readBuffer, len(c.buffer)))
	}
	n, err := r.Read(c.buffer[len(c.buffer):cap(c.buffer)])
	c.buffer = c.buffer[:len(c.buffer)+n]
	if err != nil && !errors.Is(err, io.EOF) {
		return false, lost(err)
	}
	return err != nil, nil
}

// takeRecords passes on the complete records in data, grouped by channel, and
// returns the beginning of an incomplete record.
func (c *Conn) takeRecords(data []byte, h Handler) (rest []byte, err error) {
	var channel uint32
	for len(data) > 0 {
		record, rest, err := wire.NextRecord(data)
		if errors.Is(err, wire.ErrCutRecord) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("reading from the relay: %w", err)
		}
		if record.Channel != channel || len(c.payloads) == maxTogether {
			c.handOver(channel, h)
			channel = record.Channel
		}
		c.payloads = append(c.payloads, record.Payload)
		data = rest
	}
	c.handOver(channel, h)
	return data, nil
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

// writeLoop writes queued messages until the queue is closed.
func (c *Conn) writeLoop() error {
	var late atomic.Bool
	watchdog := time.AfterFunc(time.Hour, func() {
		late.Store(true)
		_ = c.ws.CloseNow() // makes the write fail
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
				err = fmt.Errorf("no data could be sent for %s", writeTimeout)
			}
			return fmt.Errorf("the connection to the relay was lost: %w", err)
		}
		c.queue.recycle(segment)
	}
}

// writeMessage returns when the message has been written to the network.
func (c *Conn) writeMessage(m segment) error {
	if m.text {
		return c.stream.writeMessage(opText, m.data)
	}
	return c.stream.writeMessage(opBinary, m.data)
}

// pingLoop detects a half-open connection from this side. A ping of the relay, which sends one every 16
// to 24 s, takes the place of one from here: an idle machine wakes up half as often.
func (c *Conn) pingLoop(ctx context.Context) error {
	c.pings.Reset(pingInterval())
	defer c.pings.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-c.pings.C:
		}
		pingCtx, cancel := context.WithTimeout(ctx, pingTimeout)
		err := c.ws.Ping(pingCtx)
		cancel()
		if err != nil {
			return fmt.Errorf("the relay no longer answers: %w", err)
		}
		c.pings.Reset(pingInterval())
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
