package acp

import (
	"context"
	"encoding/json"

	"github.com/scorel/scorel/packages/protocol/exactjson"
)

// Request is a request of the other side. It is answered once, by Reply or Go.
type Request struct {
	Method string
	Params json.RawMessage
	// ID is its id as it was written, for requests that name another one.
	ID json.RawMessage

	conn   *Conn
	key    string
	ctx    context.Context
	cancel context.CancelFunc
}

// serve begins a request of the other side.
func (c *Conn) serve(m message) {
	key, err := idKey(m.ID)
	if err != nil {
		c.reply(null, nil, Errorf(CodeInvalidRequest, "the id of a request must be a string or a number of at most %d bytes", MaxID))
		return
	}
	r := &Request{Method: m.Method, Params: m.Params, ID: m.ID, conn: c, key: key}
	r.ctx, r.cancel = context.WithCancel(c.ctx)
	c.mu.Lock()
	_, twice := c.open[key]
	full := len(c.open) >= MaxOpenRequests
	if !twice && !full {
		c.open[key] = r
	}
	c.mu.Unlock()
	switch {
	case twice:
		r.cancel()
		c.reply(m.ID, nil, Errorf(CodeInvalidRequest, "a request with this id is open already"))
	case full:
		r.cancel()
		c.reply(m.ID, nil, Errorf(CodeInternal, "more than %d requests are open: wait for a response", MaxOpenRequests))
	default:
		c.handler.Request(r)
	}
}

// Context ends when the other side cancels the request, when it is answered, and with the
// connection.
func (r *Request) Context() context.Context { return r.ctx }

// Decode decodes the parameters. The error is one for the other side.
func (r *Request) Decode(params any) error {
	if len(r.Params) == 0 {
		r.Params = json.RawMessage("{}")
	}
	if err := exactjson.Unmarshal(r.Params, params); err != nil {
		return Errorf(CodeInvalidParams, "the parameters of %s cannot be read: %v", r.Method, err)
	}
	return nil
}

// Reply answers the request with a result, or with an error if err is not nil: an *Error as it
// is, any other as one of CodeInternal. It does not wait: the connection ends if the other side
// leaves too many responses unread.
func (r *Request) Reply(result any, err error) {
	if r.close() {
		r.conn.reply(r.ID, result, err)
	}
}

// close ends the request; false if it was answered before.
func (r *Request) close() bool {
	c := r.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	open := c.open[r.key] == r
	if open {
		delete(c.open, r.key)
	}
	r.cancel()
	return open
}

// Go answers the request with what work returns, in a goroutine that Close waits for. The
// context is that of the request.
func (r *Request) Go(work func(ctx context.Context) (any, error)) {
	r.conn.workers.Go(func() {
		result, err := work(r.ctx)
		if line := response(r.ID, result, err); r.close() {
			_ = r.conn.out.write(r.conn.ctx, line) // fails only with the connection
		}
	})
}

// NotFound answers a request for a method that does not exist here.
func (r *Request) NotFound() {
	r.Reply(nil, Errorf(CodeUnknownMethod, "%.200q is not a method of this program", r.Method))
}

// reply sends a response without waiting: the goroutine that reads must not wait for a peer
// that may itself wait for it to read.
func (c *Conn) reply(id json.RawMessage, result any, err error) {
	if !c.out.force(response(id, result, err)) {
		c.fail(ErrNotReading)
	}
}

// response returns the line of a response.
func response(id json.RawMessage, result any, err error) []byte {
	m := message{ID: id}
	if err == nil {
		m.Result, err = raw(result)
	}
	if err == nil {
		var line []byte
		if line, err = m.encode(); err == nil {
			return line
		}
	}
	m.Result, m.Error = nil, errorOf(err)
	line, err := m.encode()
	if err != nil { // its data is no JSON
		m.Error = Errorf(m.Error.Code, "the error cannot be encoded")
		line, _ = m.encode() // strings and a valid id are always encodable
	}
	return line
}
