// Package gatewaytest is a gateway for the fakes of platforms: it numbers events, keeps them
// for sessions that are resumed, and closes connections of clients that break the rules.
package gatewaytest

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"
)

// Options configure a gateway.
type Options struct {
	Token        string // that clients have to send
	Unauthorized int    // the code that closes a connection with another token
	Interval     int    // milliseconds between heartbeats; 0 is 45 seconds
	Ready        map[string]any
	// Step is called when a client identified itself ("identified"), and when it was sent an event
	// ("sent"); nil is nothing.
	Step func(what string)
}

// Gateway is a gateway with one session at a time.
type Gateway struct {
	URL     string
	Beat    chan struct{} // gets a value after a heartbeat, unless one is waiting there
	options Options

	mu       sync.Mutex
	session  string // "" if there is none
	sessions int
	events   []event
	sockets  map[*websocket.Conn]chan struct{} // the channel is signaled by a new event
	beats    int
	resumes  int
}

type event struct {
	Op   int             `json:"op"`
	Seq  int             `json:"s"`
	Type string          `json:"t"`
	Data json.RawMessage `json:"d"`
}

// New starts a gateway that ends with the test.
func New(t *testing.T, o Options) *Gateway {
	if o.Step == nil {
		o.Step = func(string) {}
	}
	g := &Gateway{Beat: make(chan struct{}, 1), options: o, sockets: map[*websocket.Conn]chan struct{}{}}
	server := httptest.NewServer(http.HandlerFunc(g.serve))
	g.URL = "ws" + strings.TrimPrefix(server.URL, "http")
	t.Cleanup(func() { g.Break(); server.Close() })
	return g
}

// Send gives an event to the client, now or when it resumes.
func (g *Gateway) Send(kind string, data any) {
	text, err := json.Marshal(data)
	if err != nil {
		panic(err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.events = append(g.events, event{0, len(g.events) + 1, kind, text})
	g.wake()
}

// Again sends the last event again, under a new number.
func (g *Gateway) Again() {
	g.mu.Lock()
	last := g.events[len(g.events)-1]
	g.mu.Unlock()
	g.Send(last.Type, last.Data)
}

func (g *Gateway) wake() {
	for _, fresh := range g.sockets {
		select {
		case fresh <- struct{}{}:
		default:
		}
	}
}

// Break ends all connections.
func (g *Gateway) Break() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for socket := range g.sockets {
		_ = socket.CloseNow()
	}
}

// Forget ends the session and all connections: what was not delivered is lost.
func (g *Gateway) Forget() {
	g.mu.Lock()
	g.session, g.events = "", nil
	g.mu.Unlock()
	g.Break()
}

// Begun reports whether a client began a session: events before that reach nobody.
func (g *Gateway) Begun() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.session != ""
}

// Counts returns how many heartbeats and resumes there were.
func (g *Gateway) Counts() (beats, resumes int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.beats, g.resumes
}

func (g *Gateway) serve(w http.ResponseWriter, r *http.Request) {
	socket, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer func() { _ = socket.CloseNow() }()
	fresh := make(chan struct{}, 1)
	g.mu.Lock()
	g.sockets[socket] = fresh
	g.mu.Unlock()
	defer func() {
		g.mu.Lock()
		delete(g.sockets, socket)
		g.mu.Unlock()
	}()
	ctx, cancel := context.WithCancel(r.Context())
	var writing sync.WaitGroup
	defer writing.Wait()
	defer cancel()
	interval := g.options.Interval
	if interval == 0 {
		interval = 45_000
	}
	write(ctx, socket, map[string]any{"op": 10, "d": map[string]any{"heartbeat_interval": interval}})
	for {
		_, text, err := socket.Read(ctx)
		if err != nil {
			return
		}
		var f struct {
			Op   int             `json:"op"`
			Data json.RawMessage `json:"d"`
		}
		if json.Unmarshal(text, &f) != nil {
			_ = socket.Close(4002, "decode error")
			return
		}
		switch f.Op {
		case 1:
			g.mu.Lock()
			g.beats++
			g.mu.Unlock()
			select {
			case g.Beat <- struct{}{}:
			default:
			}
			write(ctx, socket, map[string]any{"op": 11})
		case 2, 6:
			g.options.Step("identified")
			from, ok := g.begin(ctx, socket, f.Op, f.Data)
			if ok {
				writing.Go(func() { g.deliver(ctx, socket, fresh, from) })
			}
		default:
			_ = socket.Close(4001, "unknown opcode")
			return
		}
	}
}

func write(ctx context.Context, socket *websocket.Conn, frame any) {
	text, err := json.Marshal(frame)
	if err != nil {
		panic(err)
	}
	_ = socket.Write(ctx, websocket.MessageText, text) // a broken connection ends the reader
}

// begin answers Identify and Resume, and returns the number of the last event that the client
// has.
func (g *Gateway) begin(ctx context.Context, socket *websocket.Conn, op int, data json.RawMessage) (int, bool) {
	var said struct {
		Token   string
		Session string `json:"session_id"`
		Seq     int
		Intents int
	}
	if json.Unmarshal(data, &said) != nil || said.Token != g.options.Token {
		_ = socket.Close(websocket.StatusCode(g.options.Unauthorized), "authentication failed")
		return 0, false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if op == 2 {
		g.sessions++
		g.session = "session" + strconv.Itoa(g.sessions)
		ready := map[string]any{"session_id": g.session, "resume_gateway_url": g.URL}
		for k, v := range g.options.Ready {
			ready[k] = v
		}
		text, err := json.Marshal(ready)
		if err != nil {
			panic(err)
		}
		g.events = []event{{0, 1, "READY", text}}
		return 0, true
	}
	if said.Session != g.session || said.Seq > len(g.events) {
		write(ctx, socket, map[string]any{"op": 9, "d": false})
		return 0, false
	}
	g.resumes++
	g.events = append(g.events, event{0, len(g.events) + 1, "RESUMED", json.RawMessage("{}")})
	return said.Seq, true
}

func (g *Gateway) deliver(ctx context.Context, socket *websocket.Conn, fresh chan struct{}, from int) {
	for {
		g.mu.Lock()
		var waiting []event
		if from < len(g.events) {
			waiting = g.events[from:]
		}
		g.mu.Unlock()
		for _, e := range waiting {
			write(ctx, socket, e)
			g.options.Step("sent")
		}
		from += len(waiting)
		select {
		case <-fresh:
		case <-ctx.Done():
			return
		}
	}
}
