package nats_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/relay/bus"
	"github.com/scorel/scorel/apps/relay/bus/bustest"
	"github.com/scorel/scorel/apps/relay/bus/nats"
	"github.com/scorel/scorel/apps/relay/relaytest/natstest"
	"github.com/scorel/scorel/packages/leakcheck"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

func join(t *testing.T, urls ...string) []bus.Bus {
	t.Helper()
	var out []bus.Bus
	for _, url := range urls {
		b, err := nats.New(url, nil)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, b)
	}
	return out
}

func TestContractOnOneServer(t *testing.T) {
	s := natstest.Start(t)
	bustest.Run(t, func(t *testing.T, n int) []bus.Bus {
		var urls []string
		for range n {
			urls = append(urls, s.URL())
		}
		return join(t, urls...)
	})
}

func TestContractOnACluster(t *testing.T) {
	servers := natstest.StartCluster(t, 3)
	bustest.Run(t, func(t *testing.T, n int) []bus.Bus {
		var urls []string
		for i := range n {
			urls = append(urls, servers[i].URL())
		}
		return join(t, urls...)
	})
}

func TestNewSaysWhatIsWrong(t *testing.T) {
	for url, want := range map[string]string{
		"":                          "does not begin with nats://",
		"http://host:4222":          "does not begin with nats://",
		"host:4222":                 "does not begin with nats://",
		"nats://":                   "has no host",
		"nats://host/path":          "more than host and port",
		"nats://a, nats://b?x=1":    "more than host and port",
		"nats://me:secret@host/x":   "more than host and port",
		"nats://me:secret@ho st/":   "is not a URL",
		"ftp://me:secret@host:4222": "does not begin with nats://",
	} {
		_, err := nats.New(url, nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", url, err, want)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: the error tells the password: %v", url, err)
		}
	}
	for _, url := range []string{"nats://127.0.0.1:4222", "tls://me:secret@bus.example", "nats://a:1,nats://b:2"} {
		if _, err := nats.New(url, nil); err != nil {
			t.Errorf("%q: %v", url, err)
		}
	}
}

func TestAttachFailsWithoutAServer(t *testing.T) {
	s := natstest.Start(t)
	b := join(t, s.URL())[0]
	s.Stop()
	if _, err := b.Attach(func(bus.Message) {}); err == nil {
		t.Fatal("attached to a server that is not there")
	}
}

// watched is a node whose news of losses go to a channel.
func watched(t *testing.T, url string, logs *bytes.Buffer) (bus.Node, chan struct{}) {
	t.Helper()
	b, err := nats.New(url, slog.New(slog.NewTextHandler(logs, nil)))
	if err != nil {
		t.Fatal(err)
	}
	lost := make(chan struct{}, 100)
	n, err := b.Attach(func(m bus.Message) {
		if m.Lost {
			lost <- struct{}{}
		} else if m.Respond != nil {
			_ = m.Respond(m.Data) // the asker sees what fails
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.Close() })
	return n, lost
}

// patience only limits a test that fails.
const patience = time.Minute

func await(t *testing.T, what string, from <-chan struct{}) {
	t.Helper()
	select {
	case <-from:
	case <-time.After(patience):
		t.Fatalf("%s: not reported within %s", what, patience)
	}
}

func TestAnOutageFailsAtOnceAndRecovers(t *testing.T) {
	s := natstest.Start(t)
	var logs, otherLogs bytes.Buffer
	n, lost := watched(t, s.URL(), &logs)
	other, otherLost := watched(t, s.URL(), &otherLogs)
	if err := other.Subscribe("s"); err != nil {
		t.Fatal(err)
	}
	s.Stop()
	await(t, "outage", lost)
	await(t, "outage", otherLost)
	if err := n.Publish("s", []byte("x")); err == nil {
		t.Error("publishing into an outage succeeded")
	}
	if _, err := n.Request(t.Context(), "s", nil); err == nil || errors.Is(err, bus.ErrNoResponders) {
		t.Errorf("a request into an outage: %v", err)
	}
	if err := n.Check(t.Context()); err == nil {
		t.Error("Check is content with an outage")
	}
	if err := n.Subscribe("later"); err != nil { // takes effect after the heal
		t.Error(err)
	}
	s.Restart()
	await(t, "heal", lost)
	await(t, "heal", otherLost)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	askUntil(ctx, t, n, "s")
	askUntil(ctx, t, other, "later") // a subscription from the outage
}

// askUntil asks until someone answers: nodes come back one after another.
func askUntil(ctx context.Context, t *testing.T, n bus.Node, subject string) {
	t.Helper()
	for {
		got, err := n.Request(ctx, subject, []byte("again"))
		switch {
		case err == nil && string(got) == "again":
			return
		case err == nil || ctx.Err() != nil:
			t.Fatalf("asking on %s after the heal: %q, %v", subject, got, err)
		}
		<-time.After(10 * time.Millisecond)
	}
}

// A server that vanishes without a word, as behind a route that drops packets.
func TestBlackHoleIsFoundInSeconds(t *testing.T) {
	s := natstest.Start(t)
	p := natstest.NewProxy(t, s)
	var logs bytes.Buffer
	n, lost := watched(t, p.URL(), &logs)
	p.Swallow()
	await(t, "black hole", lost)
	if err := n.Publish("s", nil); err == nil {
		t.Error("publishing into a black hole succeeded")
	}
	p.Heal()
	await(t, "heal", lost)
	if err := n.Check(t.Context()); err != nil {
		t.Error(err)
	}
}
