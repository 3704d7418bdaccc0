package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/scorel/scorel/packages/protocol/exactjson"
)

// Handler handles what the other side sends. Its methods are called by one goroutine, in the
// order of arrival; while one runs, nothing more is read. Neither may wait for the other side.
type Handler interface {
	// Request answers a request: it calls Reply or Go of it, once.
	Request(r *Request)
	// Notify handles a notification. One that is not known is ignored.
	Notify(method string, params json.RawMessage)
}

// Options of a connection; the zero value is ready to use.
type Options struct {
	// Garbage is called with each line that is no message, by the goroutine of the Handler.
	// The line is valid until it returns. nil drops them.
	Garbage func(line []byte)
	// MaxLine is how long one message of the other side may be; 0 is the constant MaxLine.
	MaxLine int
}

// ErrGarbage is why a connection ended whose other side sent more than MaxGarbage lines that
// are no messages.
var ErrGarbage = fmt.Errorf("acp: more than %d lines were no messages", MaxGarbage)

// ErrNotReading is why a connection ended whose other side did not read MaxUnread bytes.
var ErrNotReading = errors.New("acp: the other side does not read its responses")

// ErrClosed is the error of a call on a connection that was closed by this side.
var ErrClosed = errors.New("acp: the connection is closed")

// Conn is one connection. All methods may be called by several goroutines.
type Conn struct {
	handler Handler
	options Options
	lines   *lineReader
	out     *writer
	closers []io.Closer

	ctx     context.Context // ends with the connection; its cause is why
	cancel  context.CancelCauseFunc
	workers sync.WaitGroup // of Request.Go
	done    chan struct{}  // closed when no goroutine of the connection runs

	mu     sync.Mutex
	lastID int64
	calls  map[int64]chan message
	open   map[string]*Request // of the other side, by idKey
}

// New starts a connection that reads from r and writes to w. Close closes both. A connection
// also ends by itself with r, and when w fails.
func New(r io.Reader, w io.WriteCloser, handler Handler, options Options) *Conn {
	if options.MaxLine <= 0 {
		options.MaxLine = MaxLine
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	c := &Conn{
		handler: handler, options: options, lines: newLineReader(r), closers: []io.Closer{w}, ctx: ctx, cancel: cancel,
		done: make(chan struct{}), calls: map[int64]chan message{}, open: map[string]*Request{},
	}
	if closer, ok := r.(io.Closer); ok {
		c.closers = append(c.closers, closer)
	}
	c.out = newWriter(w, func(err error) { c.fail(fmt.Errorf("acp: writing: %w", err)) })
	reading := make(chan struct{})
	go func() {
		defer close(reading)
		c.fail(c.read())
	}()
	go func() {
		defer close(c.done)
		<-reading
		c.workers.Wait()
		c.out.wait()
	}()
	return c
}

// Done is closed when the connection has ended and no handler of it runs.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Ended is closed as soon as the connection cannot be used any more.
func (c *Conn) Ended() <-chan struct{} { return c.ctx.Done() }

// Err returns why the connection ended: io.EOF when the other side closed it; nil before.
func (c *Conn) Err() error { return context.Cause(c.ctx) }

// Flush waits until everything that was sent is written, for a Close after which nothing is
// missing.
func (c *Conn) Flush(ctx context.Context) error { return c.out.flush(ctx) }

// Close ends the connection: it closes both directions, ends the contexts of all handlers and
// waits for them and for the reader, which a reader that does not react to Close delays.
func (c *Conn) Close() error {
	c.fail(ErrClosed)
	<-c.done
	return nil
}

// fail ends the connection; the first reason counts. What waits to be written after the other
// side closed its direction is dropped: it is not read.
func (c *Conn) fail(err error) {
	c.mu.Lock()
	first := c.ctx.Err() == nil
	if first {
		c.cancel(err)
	}
	c.mu.Unlock()
	if !first {
		return
	}
	c.out.stop()
	for _, closer := range c.closers {
		_ = closer.Close() // why it ended is known already
	}
}

func (c *Conn) read() error {
	garbage := 0
	for {
		line, err := c.lines.next(c.options.MaxLine)
		if err != nil {
			if errors.Is(err, io.EOF) {
				return io.EOF
			}
			return fmt.Errorf("acp: reading: %w", err)
		}
		m, err := parse(line)
		if err == nil {
			c.handle(m)
			continue
		}
		if c.options.Garbage != nil {
			c.options.Garbage(line)
		}
		if garbage++; garbage > MaxGarbage {
			return ErrGarbage
		}
	}
}

func (c *Conn) handle(m message) {
	switch {
	case m.Method == "":
		c.respond(m)
	case m.ID != nil:
		c.serve(m)
	case m.Method == MethodCancelRequest:
		c.cancelled(m.Params)
	default:
		c.handler.Notify(m.Method, m.Params)
	}
}

// respond hands a response to its call. One that no call waits for is ignored.
func (c *Conn) respond(m message) {
	id, ok := ownID(m.ID)
	if !ok {
		return
	}
	c.mu.Lock()
	call := c.calls[id]
	delete(c.calls, id)
	c.mu.Unlock()
	if call != nil {
		call <- m // has room for it
	}
}

// cancelled ends the context of a request that the other side needs no more.
func (c *Conn) cancelled(params json.RawMessage) {
	var p struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	if exactjson.Unmarshal(params, &p) != nil {
		return
	}
	key, err := idKey(p.RequestID)
	if err != nil {
		return
	}
	c.mu.Lock()
	r := c.open[key]
	c.mu.Unlock()
	if r != nil {
		r.cancel()
	}
}

// Call sends a request and waits for its response, which it decodes into result unless that is
// nil. An error of the other side is an *Error. If ctx ends before, the other side is notified
// and the error is that of ctx.
func (c *Conn) Call(ctx context.Context, method string, params, result any) error {
	id, answered, err := c.begin()
	if err != nil {
		return err
	}
	defer c.forget(id)
	encodedID, err := raw(id)
	if err != nil {
		return err
	}
	if err := c.send(ctx, message{ID: encodedID, Method: method}, params); err != nil {
		return err
	}
	select {
	case m := <-answered:
		return decodeResponse(method, m, result)
	case <-ctx.Done():
		c.notifyCancelled(id)
		return ctx.Err()
	case <-c.ctx.Done():
		select {
		case m := <-answered: // it came right before the end
			return decodeResponse(method, m, result)
		default:
			return fmt.Errorf("acp: %s: %w", method, c.Err())
		}
	}
}

func (c *Conn) begin() (int64, chan message, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx.Err() != nil {
		return 0, nil, context.Cause(c.ctx)
	}
	c.lastID++
	answered := make(chan message, 1)
	c.calls[c.lastID] = answered
	return c.lastID, answered, nil
}

func (c *Conn) forget(id int64) {
	c.mu.Lock()
	delete(c.calls, id)
	c.mu.Unlock()
}

// notifyCancelled says that a response is not needed. It does not wait for room: an agent that
// reads nothing does not react to it either.
func (c *Conn) notifyCancelled(id int64) {
	params, err := raw(map[string]int64{"requestId": id})
	if err != nil {
		return
	}
	if line, err := (message{Method: MethodCancelRequest, Params: params}).encode(); err == nil {
		c.out.offer(line)
	}
}

func decodeResponse(method string, m message, result any) error {
	if m.Error != nil {
		return m.Error
	}
	if result == nil || len(m.Result) == 0 || string(m.Result) == string(null) {
		return nil
	}
	if err := exactjson.Unmarshal(m.Result, result); err != nil {
		return fmt.Errorf("acp: the response to %s cannot be read: %w", method, err)
	}
	return nil
}

// Notify sends a notification. It waits for room in the queue until ctx ends.
func (c *Conn) Notify(ctx context.Context, method string, params any) error {
	return c.send(ctx, message{Method: method}, params)
}

func (c *Conn) send(ctx context.Context, m message, params any) (err error) {
	if params != nil {
		if m.Params, err = raw(params); err != nil {
			return fmt.Errorf("acp: encoding %s: %w", m.Method, err)
		}
	}
	line, err := m.encode()
	if err != nil {
		return err
	}
	if err := c.out.write(ctx, line); err != nil {
		if cause := c.Err(); cause != nil {
			return cause
		}
		return err
	}
	return nil
}
