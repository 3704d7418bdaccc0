// Package gateway receives the events of a chat platform over a WebSocket in the way that
// Discord defined and QQ took over: Hello, Identify or Resume, Heartbeat, and numbered
// dispatches that a resumed session sends again from a number on.
//
// The libraries for Discord have such a client, but they count an event as received before
// anyone has handled it, and a new process cannot resume the session of an earlier one.
// Here the position of a session is handed out with each event, so that it can be stored
// together with what the event says.
package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
)

// Bounds of a connection.
const (
	maxFrame     = 8 << 20
	dialTimeout  = 30 * time.Second
	helloTimeout = 30 * time.Second
	writeTimeout = 10 * time.Second
	// Heartbeats are never sent more often, or more rarely, whatever the platform asks.
	minBeat, maxBeat = 500 * time.Millisecond, 5 * time.Minute
)

// The operations of a frame.
const (
	opDispatch       = 0
	opHeartbeat      = 1
	opIdentify       = 2
	opResume         = 6
	opReconnect      = 7
	opInvalidSession = 9
	opHello          = 10
	opHeartbeatAck   = 11
)

// ErrSessionLost means that the platform does not continue a session. The next Run has to
// begin a new one.
var ErrSessionLost = errors.New("the platform does not continue the session")

// Session is a position in the events of a connection. Its zero value begins a new session.
type Session struct {
	ID  string `json:"i,omitempty"`
	URL string `json:"u,omitempty"` // where to resume; "" is the address of new sessions
	Seq int64  `json:"n,omitempty"` // of the last event
}

// Event is a dispatch.
type Event struct {
	Type string
	Data json.RawMessage
}

// Options say how to connect.
type Options struct {
	URL     string // of new sessions, with the query that the platform wants
	Query   string // added to the address of a session that is resumed, such as "?v=10"
	Token   string // as the platform wants it in Identify; it appears in no error
	Intents int    // which events arrive
	// Check returns an error for an address that the platform may not name.
	Check func(address string) error
	// Transport connects to it; nil is the usual one.
	Transport http.RoundTripper
}

// Handle gets each event, and the position after it.
type Handle func(context.Context, Event, Session) error

type frame struct {
	Op   int             `json:"op"`
	Data json.RawMessage `json:"d"`
	Seq  int64           `json:"s"`
	Type string          `json:"t"`
}

// Run connects, continues a session or begins one, and gives each event to handle until the
// connection or handle fails or ctx ends. websocket.CloseStatus tells why the platform closed
// the connection. The position counts as received once handle has returned.
func Run(ctx context.Context, o Options, s Session, handle Handle) error {
	address := o.URL
	if s.ID != "" && s.URL != "" {
		address = s.URL + o.Query
	}
	if err := o.Check(address); err != nil {
		return fmt.Errorf("gateway: %w", err)
	}
	dialing, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	socket, _, err := websocket.Dial(dialing, address, &websocket.DialOptions{HTTPClient: &http.Client{
		Transport:     o.Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}})
	if err != nil {
		return fmt.Errorf("gateway: connecting: %w", err)
	}
	defer func() { _ = socket.CloseNow() }()
	socket.SetReadLimit(maxFrame)
	c := &connection{socket: socket, options: o, session: s}
	c.seq.Store(s.Seq)
	return c.run(ctx, handle)
}

type connection struct {
	socket  *websocket.Conn
	options Options
	session Session // of the reading goroutine

	seq   atomic.Int64 // of the last event that was handled
	acked atomic.Bool  // since the last heartbeat
}

func (c *connection) run(ctx context.Context, handle Handle) error {
	every, err := c.hello(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	var beats sync.WaitGroup
	beats.Go(func() { c.beat(ctx, every, cancel) })
	defer beats.Wait()
	defer cancel(nil)
	if err := c.begin(ctx); err != nil {
		return err
	}
	for {
		f, err := c.read(ctx)
		if err == nil {
			err = c.take(ctx, f, handle)
		}
		if cause := context.Cause(ctx); err != nil && cause != nil {
			return fmt.Errorf("gateway: %w", cause)
		}
		if err != nil {
			return err
		}
	}
}

// hello waits for the first frame, which says how often a heartbeat is due.
func (c *connection) hello(ctx context.Context) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, helloTimeout)
	defer cancel()
	f, err := c.read(ctx)
	if err != nil {
		return 0, err
	}
	var hello struct {
		Interval int64 `json:"heartbeat_interval"`
	}
	if f.Op != opHello || json.Unmarshal(f.Data, &hello) != nil || hello.Interval <= 0 {
		return 0, errors.New("gateway: the platform did not begin with how often a heartbeat is due")
	}
	return min(max(time.Duration(hello.Interval)*time.Millisecond, minBeat), maxBeat), nil
}

func (c *connection) begin(ctx context.Context) error {
	if c.session.ID != "" {
		return c.write(ctx, opResume, map[string]any{"token": c.options.Token, "session_id": c.session.ID, "seq": c.session.Seq})
	}
	return c.write(ctx, opIdentify, map[string]any{
		"token": c.options.Token, "intents": c.options.Intents, "shard": []int{0, 1},
		"properties": map[string]string{"os": "linux", "browser": "scorel", "device": "scorel"},
	})
}

func (c *connection) take(ctx context.Context, f frame, handle Handle) error {
	switch f.Op {
	case opDispatch:
		return c.dispatch(ctx, f, handle)
	case opHeartbeat:
		return c.heartbeat(ctx)
	case opHeartbeatAck:
		c.acked.Store(true)
	case opReconnect:
		return errors.New("gateway: the platform asks to connect again")
	case opInvalidSession:
		var again bool
		if json.Unmarshal(f.Data, &again) == nil && again {
			return errors.New("gateway: the platform asks to resume again")
		}
		return fmt.Errorf("gateway: %w", ErrSessionLost)
	}
	return nil
}

func (c *connection) dispatch(ctx context.Context, f frame, handle Handle) error {
	if f.Type == "READY" {
		var ready struct {
			ID  string `json:"session_id"`
			URL string `json:"resume_gateway_url"`
		}
		if err := json.Unmarshal(f.Data, &ready); err != nil || ready.ID == "" {
			return errors.New("gateway: the platform began a session without an id")
		}
		c.session.ID, c.session.URL = ready.ID, ready.URL
	}
	if f.Seq > 0 {
		c.session.Seq = f.Seq
	}
	if err := handle(ctx, Event{f.Type, f.Data}, c.session); err != nil {
		return err
	}
	c.seq.Store(c.session.Seq)
	return nil
}

// beat sends a heartbeat now and then until ctx ends. It ends the connection if the platform
// does not answer one before the next is due.
func (c *connection) beat(ctx context.Context, every time.Duration, end context.CancelCauseFunc) {
	// The first one comes at a random moment, so that not all clients of a platform that was
	// restarted send theirs at once.
	timer := time.NewTimer(time.Duration(rand.Int64N(int64(every))))
	defer timer.Stop()
	c.acked.Store(true)
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		if !c.acked.Swap(false) {
			end(errors.New("the platform does not answer: the connection is dead"))
			return
		}
		if err := c.heartbeat(ctx); err != nil {
			end(err)
			return
		}
		timer.Reset(every)
	}
}

func (c *connection) heartbeat(ctx context.Context) error {
	if seq := c.seq.Load(); seq > 0 {
		return c.write(ctx, opHeartbeat, seq)
	}
	return c.write(ctx, opHeartbeat, nil)
}

func (c *connection) write(ctx context.Context, op int, data any) error {
	text, err := json.Marshal(map[string]any{"op": op, "d": data})
	if err != nil {
		return fmt.Errorf("gateway: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	if err := c.socket.Write(ctx, websocket.MessageText, text); err != nil {
		return fmt.Errorf("gateway: writing: %w", err)
	}
	return nil
}

func (c *connection) read(ctx context.Context) (f frame, err error) {
	kind, text, err := c.socket.Read(ctx)
	if err != nil {
		return f, fmt.Errorf("gateway: reading: %w", err)
	}
	if err := json.Unmarshal(text, &f); err != nil || kind != websocket.MessageText {
		return f, errors.New("gateway: the platform sent something that is no frame")
	}
	return f, nil
}
