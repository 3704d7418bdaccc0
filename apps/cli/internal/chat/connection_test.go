package chat

import (
	"context"
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/session"
)

// TestReconnect: the screen says that the host is away, and goes on when it is back.
func TestReconnect(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first, seen := make(chan client.Transport, 1), make(chan struct{})
	w.open(80, 24, func(cfg *Config) { cfg.Host.Dial = once(w.dial, first, seen) })
	w.prompt("stream 120")
	w.await("word9 ")
	_ = (<-first).Close()
	w.await("Disconnected")
	close(seen)
	w.until("the connection", func(string) bool { return w.model.conn.connected })
	w.until("the whole answer", func(string) bool { return !w.model.session.running() })
	answer := ""
	for _, entry := range w.model.session.Path {
		if message, ok := entry.AsMessage(); ok && message.Message.Role == session.RoleAssistant {
			answer += message.Message.Content.Plain()
		}
	}
	if words := strings.Fields(answer); len(words) != 120 || words[119] != "word120" {
		t.Errorf("the answer has %d words", len(words))
	}
}

// TestThePathIsShown: the last row names the path in use, without what could change the screen.
func TestThePathIsShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := "local network"
	w.open(80, 24, func(cfg *Config) { cfg.Host.Path = func() string { return path } })
	w.await("local network · F1 help")
	path = "relay.example\x1b[2J"
	w.await(`relay.example\x1b[2J · F1 help`)
}

// once hands over the first transport, so that a test can cut it, and makes no other until again
// is closed.
func once(dial func(context.Context) (client.Transport, error), first chan<- client.Transport, again <-chan struct{}) func(context.Context) (client.Transport, error) {
	handed := false // the feed dials from one goroutine
	return func(ctx context.Context) (client.Transport, error) {
		if handed {
			select {
			case <-again:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		transport, err := dial(ctx)
		if err == nil && !handed {
			handed = true
			first <- transport
		}
		return transport, err
	}
}
