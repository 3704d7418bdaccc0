// Package bustest tests the contract of bus.Bus.
package bustest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/relay/bus"
)

const patience = 10 * time.Second

// Run tests a bus against its contract. join returns n connected buses: nodes
// attached to any of them receive each other's messages.
func Run(t *testing.T, join func(t *testing.T, n int) []bus.Bus) {
	for name, test := range map[string]func(*testing.T, []bus.Bus){
		"Publish":      publish,
		"NotToOneself": notToOneself,
		"Order":        order,
		"Unsubscribe":  unsubscribe,
		"Request":      request,
		"NoResponders": noResponders,
		"Unanswered":   unanswered,
		"TooLarge":     tooLarge,
		"Closed":       closed,
		"LossIsTold":   lossIsReported,
		"DataIsCopied": dataIsCopied,
		"InterestEnds": interestEnds,
	} {
		t.Run(name, func(t *testing.T) { test(t, join(t, 3)) })
	}
}

// attach adds a node whose messages go to the returned channel.
func attach(t *testing.T, b bus.Bus) (bus.Node, chan bus.Message) {
	t.Helper()
	got := make(chan bus.Message, 20_000)
	return attachTo(t, b, func(m bus.Message) { got <- m }), got
}

func attachTo(t *testing.T, b bus.Bus, handle func(bus.Message)) bus.Node {
	t.Helper()
	n, err := b.Attach(func(m bus.Message) {
		if m.Respond != nil && string(m.Data) == ready {
			_ = m.Respond(nil) // the requester sees failures
			return
		}
		handle(m)
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return n
}

// own returns a subject of this test alone: a server may still be delivering the
// messages with which the previous test flooded it.
func own(t *testing.T) string {
	return strings.ReplaceAll(t.Name(), "/", ".")
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func next(t *testing.T, from <-chan bus.Message) bus.Message {
	t.Helper()
	select {
	case m := <-from:
		return m
	case <-time.After(patience):
		t.Fatal("no message arrived")
		return bus.Message{}
	}
}

// ready is a request that settle sends and every node of attachTo answers.
const ready = "ready?"

// settle waits until a finds a subscriber of the subject: interest takes a moment
// to propagate.
func settle(t *testing.T, a bus.Node, subject string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		_, err := a.Request(ctx, subject, []byte(ready))
		if !errors.Is(err, bus.ErrNoResponders) {
			must(t, err)
			return
		}
	}
}

// settleGone waits until a finds no subscriber.
func settleGone(t *testing.T, a bus.Node, subject string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for ctx.Err() == nil {
		once, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
		_, err := a.Request(once, subject, []byte(ready))
		cancel()
		if errors.Is(err, bus.ErrNoResponders) {
			return
		}
	}
	t.Fatalf("%s still has a subscriber", subject)
}

func echo(m bus.Message) {
	if m.Respond != nil {
		_ = m.Respond(append([]byte("echo "), m.Data...)) // the requester sees failures
	}
}
