package acp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// peer is the other side of a connection, line by line.
type peer struct {
	t     *testing.T
	conn  net.Conn
	lines *bufio.Reader
}

// handlerFuncs is a Handler.
type handlerFuncs struct {
	request func(*Request)
	notify  func(string, json.RawMessage)
}

func (h handlerFuncs) Request(r *Request) {
	if h.request == nil {
		r.NotFound()
		return
	}
	h.request(r)
}

func (h handlerFuncs) Notify(method string, params json.RawMessage) {
	if h.notify != nil {
		h.notify(method, params)
	}
}

func connected(t *testing.T, handler Handler, options Options) (*Conn, *peer) {
	t.Helper()
	ours, theirs := net.Pipe()
	conn := New(ours, ours, handler, options)
	t.Cleanup(func() {
		_ = theirs.Close()
		_ = conn.Close()
	})
	return conn, &peer{t, theirs, bufio.NewReader(theirs)}
}

func (p *peer) send(line string) {
	p.t.Helper()
	if _, err := io.WriteString(p.conn, line+"\n"); err != nil {
		p.t.Fatal(err)
	}
}

func (p *peer) read() (m message) {
	p.t.Helper()
	line, err := p.lines.ReadBytes('\n')
	if err != nil {
		p.t.Fatal(err)
	}
	if err := json.Unmarshal(line, &m); err != nil || m.JSONRPC != "2.0" {
		p.t.Fatalf("%s: %v", line, err)
	}
	return m
}

// TestResponseAfterNotifications checks the order that a turn depends on: all of its updates are
// handled before its prompt returns.
func TestResponseAfterNotifications(t *testing.T) {
	const updates = 2000
	handled := 0
	conn, p := connected(t, handlerFuncs{notify: func(_ string, params json.RawMessage) {
		if string(params) != fmt.Sprint(handled) {
			t.Errorf("update %s came as number %d", params, handled)
		}
		handled++
	}}, Options{})
	go func() {
		request := p.read()
		for i := range updates {
			p.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/update","params":%d}`, i))
		}
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"stopReason":"end_turn"}}`, request.ID))
	}()
	var response PromptResponse
	if err := conn.Call(t.Context(), MethodPrompt, PromptRequest{SessionID: "s"}, &response); err != nil {
		t.Fatal(err)
	}
	if handled != updates || response.StopReason != StopEndTurn {
		t.Errorf("%d of %d updates were handled before the response %+v", handled, updates, response)
	}
}

func TestErrors(t *testing.T) {
	conn, p := connected(t, handlerFuncs{}, Options{})
	go func() {
		p.send(fmt.Sprintf(`{"id":%s,"error":{"code":-32000,"message":"Authentication required","data":{"details":"run login"}}}`, p.read().ID))
	}()
	err := conn.Call(t.Context(), MethodNewSession, nil, nil)
	if !HasCode(err, CodeAuthRequired) || err.Error() != "Authentication required: run login" {
		t.Errorf("%v", err)
	}
	p.send(`{"jsonrpc":"2.0","id":"x","method":"fs/read_text_file","params":{}}`)
	if m := p.read(); m.Error == nil || m.Error.Code != CodeUnknownMethod || string(m.ID) != `"x"` {
		t.Errorf("%+v", m)
	}
	p.send(`{"jsonrpc":"2.0","id":{"a":1},"method":"x"}`)
	if m := p.read(); m.Error == nil || m.Error.Code != CodeInvalidRequest {
		t.Errorf("%+v", m)
	}
}

func TestCancel(t *testing.T) {
	conn, p := connected(t, handlerFuncs{request: func(r *Request) {
		r.Go(func(ctx context.Context) (any, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
	}}, Options{})
	p.send(`{"jsonrpc":"2.0","id":"é","method":"wait"}`)
	p.send(`{"jsonrpc":"2.0","id":"\u00e9","method":"wait"}`)
	if m := p.read(); m.Error == nil || m.Error.Code != CodeInvalidRequest {
		t.Errorf("a second request with the same id: %+v", m)
	}
	p.send(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"\u00e9"}}`)
	if m := p.read(); m.Error == nil || m.Error.Code != CodeCancelled {
		t.Errorf("%+v", m)
	}
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() { failed <- conn.Call(ctx, "slow", nil, nil) }()
	request := p.read()
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if m := p.read(); m.Method != MethodCancelRequest || string(m.Params) != fmt.Sprintf(`{"requestId":%s}`, request.ID) {
		t.Errorf("%+v", m)
	}
	p.send(fmt.Sprintf(`{"id":%s,"result":1}`, request.ID)) // too late, and ignored
}

// TestLines checks what comes instead of messages, and that a message after it is read.
func TestLines(t *testing.T) {
	var mu sync.Mutex
	var garbage []string
	got := make(chan string, 10)
	_, p := connected(t, handlerFuncs{notify: func(method string, _ json.RawMessage) { got <- method }}, Options{
		Garbage: func(line []byte) {
			mu.Lock()
			defer mu.Unlock()
			garbage = append(garbage, string(line))
		},
	})
	p.send("npm warn something")
	p.send("")
	p.send("  \r")
	p.send(`[{"jsonrpc":"2.0","method":"batch"}]`)
	p.send(`{"jsonrpc":"2.0"}`)
	p.send("{\"method\":\"with\xffodd bytes\"}")
	p.send(`{"jsonrpc":"2.0","method":"after","params":"` + strings.Repeat("x", 3*readBuffer) + `"}` + "\r")
	for _, want := range []string{"with�odd bytes", "after"} {
		if method := <-got; method != want {
			t.Errorf("got %q, want %q", method, want)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if len(garbage) != 3 || garbage[0] != "npm warn something" {
		t.Errorf("garbage: %q", garbage)
	}
}

// TestLimits checks that each limit ends the connection with its reason.
func TestLimits(t *testing.T) {
	t.Run("line", func(t *testing.T) {
		conn, p := connected(t, handlerFuncs{}, Options{MaxLine: 1 << 20})
		go func() { _, _ = io.WriteString(p.conn, strings.Repeat("x", 2<<20)) }()
		<-conn.Done()
		if !errors.Is(conn.Err(), ErrLineTooLong) {
			t.Errorf("%v", conn.Err())
		}
	})
	t.Run("garbage", func(t *testing.T) {
		conn, p := connected(t, handlerFuncs{}, Options{})
		go func() { _, _ = io.WriteString(p.conn, strings.Repeat("x\n", MaxGarbage+1)) }()
		<-conn.Done()
		if !errors.Is(conn.Err(), ErrGarbage) {
			t.Errorf("%v", conn.Err())
		}
	})
	t.Run("unread responses", func(t *testing.T) {
		conn, p := connected(t, handlerFuncs{}, Options{})
		go func() {
			for i := range 1 << 20 {
				if _, err := fmt.Fprintf(p.conn, `{"id":%d,"method":"%s"}`+"\n", i, strings.Repeat("m", 1000)); err != nil {
					return
				}
			}
		}()
		<-conn.Done()
		if !errors.Is(conn.Err(), ErrNotReading) {
			t.Errorf("%v", conn.Err())
		}
	})
	t.Run("open requests", func(t *testing.T) {
		_, p := connected(t, handlerFuncs{request: func(*Request) {}}, Options{}) // answers none
		for i := range MaxOpenRequests + 1 {
			p.send(fmt.Sprintf(`{"id":%d,"method":"ask"}`, i))
		}
		if m := p.read(); m.Error == nil || string(m.ID) != fmt.Sprint(MaxOpenRequests) {
			t.Errorf("%+v", m)
		}
	})
}

// TestWriteWaits checks that a peer that reads nothing makes a caller wait, no longer than its
// context, and that Close does not wait for it.
func TestWriteWaits(t *testing.T) {
	conn, _ := connected(t, handlerFuncs{}, Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	var err error
	for range 100 {
		if err = conn.Notify(ctx, "big", strings.Repeat("x", MaxQueued/4)); err != nil {
			break
		}
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
	if err := conn.Notify(t.Context(), "x", nil); !errors.Is(err, ErrClosed) {
		t.Errorf("%v", err)
	}
	if err := conn.Call(t.Context(), "x", nil, nil); !errors.Is(err, ErrClosed) {
		t.Errorf("%v", err)
	}
}

// TestEnd checks that calls and handlers end when the other side does.
func TestEnd(t *testing.T) {
	ended := make(chan struct{})
	conn, p := connected(t, handlerFuncs{request: func(r *Request) {
		r.Go(func(ctx context.Context) (any, error) {
			<-ctx.Done()
			close(ended)
			return nil, nil
		})
	}}, Options{})
	failed := make(chan error, 1)
	go func() { failed <- conn.Call(t.Context(), "x", nil, nil) }()
	p.read()
	p.send(`{"id":1,"method":"wait"}`)
	_ = p.conn.Close()
	if err := <-failed; !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("%v", err)
	}
	<-ended
	<-conn.Done()
}

// TestFlush checks that a response is not lost when its connection is closed after Flush.
func TestFlush(t *testing.T) {
	conn, p := connected(t, handlerFuncs{}, Options{})
	read := make(chan message, 1)
	go func() { read <- p.read() }()
	if err := conn.Notify(t.Context(), "last", nil); err != nil {
		t.Fatal(err)
	}
	if err := conn.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	if m := <-read; m.Method != "last" {
		t.Errorf("%+v", m)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"a","params":{}}`))
	f.Add([]byte(`{"id":"s","error":{"code":1,"message":"m"}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		m, err := parse(line)
		if err != nil {
			return
		}
		if _, err := m.encode(); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if m.ID != nil {
			_, _ = idKey(m.ID)
		}
	})
}
