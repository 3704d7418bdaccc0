package bustest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/relay/bus"
)

func publish(t *testing.T, b []bus.Bus) {
	one, _ := attach(t, b[0])
	got := make(chan bus.Message, 4)
	for i, other := range b[1:] {
		n := attachTo(t, other, func(m bus.Message) { got <- m })
		must(t, n.Subscribe("a.b-c_1"))
		must(t, n.Subscribe("a.b-c_1")) // subscribing again is no error and adds no second copy
		own := fmt.Sprintf("own.%d", i)
		must(t, n.Subscribe(own))
		settle(t, one, own) // earlier subscriptions are known as well
	}
	must(t, one.Publish("a.b-c_1", []byte("hello")))
	must(t, one.Publish("no.subscriber", []byte("x")))
	for range 2 {
		if m := next(t, got); m.Subject != "a.b-c_1" || string(m.Data) != "hello" || m.Lost {
			t.Fatalf("got %+v", m)
		}
	}
	must(t, one.Check(t.Context()))
	if len(got) != 0 {
		t.Fatalf("%d more messages arrived", len(got))
	}
}

func notToOneself(t *testing.T, b []bus.Bus) {
	one, oneGot := attach(t, b[0])
	two, twoGot := attach(t, b[1])
	must(t, one.Subscribe(own(t)))
	must(t, two.Subscribe(own(t)))
	settle(t, one, own(t))
	settle(t, two, own(t))
	must(t, one.Publish(own(t), []byte("from one")))
	next(t, twoGot)
	must(t, two.Publish(own(t), []byte("from two")))
	if m := next(t, oneGot); string(m.Data) != "from two" {
		t.Fatalf("a node received its own message: %q", m.Data)
	}
}

func order(t *testing.T, b []bus.Bus) {
	one, _ := attach(t, b[0])
	two, got := attach(t, b[1])
	must(t, two.Subscribe(own(t)))
	settle(t, one, own(t))
	const n = 2000
	for i := range n {
		must(t, one.Publish(own(t), fmt.Append(nil, i)))
	}
	for i := range n {
		if m := next(t, got); string(m.Data) != fmt.Sprint(i) {
			t.Fatalf("message %d is %q", i, m.Data)
		}
	}
}

func unsubscribe(t *testing.T, b []bus.Bus) {
	one, _ := attach(t, b[0])
	two, got := attach(t, b[1])
	must(t, two.Subscribe("gone"))
	must(t, two.Subscribe("kept"))
	settle(t, one, "gone")
	settle(t, one, "kept")
	must(t, two.Unsubscribe("gone"))
	must(t, two.Unsubscribe("never.was"))
	must(t, one.Publish("gone", []byte("x")))
	must(t, one.Publish("kept", []byte("y")))
	if m := next(t, got); m.Subject != "kept" {
		t.Fatalf("received %s", m.Subject)
	}
}

func request(t *testing.T, b []bus.Bus) {
	one, _ := attach(t, b[0])
	two := attachTo(t, b[1], func(m bus.Message) { echo(m); echo(m) }) // the second answer is dropped
	must(t, two.Subscribe(own(t)))
	settle(t, one, own(t))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for i := range 100 {
		got, err := one.Request(ctx, own(t), fmt.Append(nil, i))
		if err != nil || string(got) != fmt.Sprint("echo ", i) {
			t.Fatalf("request %d: %q, %v", i, got, err)
		}
	}
}

func noResponders(t *testing.T, b []bus.Bus) {
	one, _ := attach(t, b[0])
	// A subject of its own: a server may still count listeners of earlier tests
	// that have just left.
	const subject = "no.responder"
	must(t, one.Subscribe(subject)) // its own subscription does not count
	start := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if _, err := one.Request(ctx, subject, nil); !errors.Is(err, bus.ErrNoResponders) {
		t.Fatalf("got %v", err)
	}
	if time.Since(start) > time.Second {
		t.Fatalf("took %s to find no responders", time.Since(start))
	}
}

func unanswered(t *testing.T, b []bus.Bus) {
	one, _ := attach(t, b[0])
	two, got := attach(t, b[1])
	must(t, two.Subscribe(own(t)))
	settle(t, one, own(t))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := one.Request(ctx, own(t), nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("got %v", err)
	}
	_ = next(t, got).Respond([]byte("too late")) // may fail, must not hang
}

func tooLarge(t *testing.T, b []bus.Bus) {
	one, _ := attach(t, b[0])
	two, got := attach(t, b[1])
	must(t, two.Subscribe(own(t)))
	settle(t, one, own(t))
	if err := one.Publish(own(t), make([]byte, bus.MaxData+1)); err == nil {
		t.Error("a message over the limit was accepted")
	}
	whole := bytes.Repeat([]byte{7}, bus.MaxData)
	must(t, one.Publish(own(t), whole))
	if m := next(t, got); !bytes.Equal(m.Data, whole) {
		t.Fatalf("got %d bytes", len(m.Data))
	}
}

func closed(t *testing.T, b []bus.Bus) {
	one, _ := attach(t, b[0])
	two, _ := attach(t, b[1])
	must(t, two.Subscribe(own(t)))
	settle(t, one, own(t))
	must(t, two.Close())
	must(t, two.Close())
	for what, err := range map[string]error{
		"Subscribe": two.Subscribe(own(t)), "Unsubscribe": two.Unsubscribe(own(t)),
		"Publish": two.Publish(own(t), nil), "Check": two.Check(t.Context()),
	} {
		if !errors.Is(err, bus.ErrClosed) {
			t.Errorf("%s on a closed node: %v", what, err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if _, err := two.Request(ctx, own(t), nil); !errors.Is(err, bus.ErrClosed) {
		t.Errorf("Request on a closed node: %v", err)
	}
	settleGone(t, one, own(t))
}

// lossIsReported floods a node whose handler is blocked.
func lossIsReported(t *testing.T, b []bus.Bus) {
	one, _ := attach(t, b[0])
	release, lost := make(chan struct{}), make(chan struct{}, 1)
	handled := 0
	two := attachTo(t, b[1], func(m bus.Message) {
		<-release
		if m.Lost {
			select {
			case lost <- struct{}{}:
			default:
			}
		} else if m.Respond == nil {
			handled++ // one goroutine at a time
		}
	})
	must(t, two.Subscribe(own(t)))
	settle(t, one, own(t))
	const n = 20_000
	for range n {
		must(t, one.Publish(own(t), make([]byte, 1024)))
	}
	close(release)
	select {
	case <-lost:
	case <-time.After(patience):
		must(t, two.Close())
		if handled != n {
			t.Fatalf("%d of %d messages arrived without a report of the loss", handled, n)
		}
	}
}

// dataIsCopied uses one buffer for all messages.
func dataIsCopied(t *testing.T, b []bus.Bus) {
	one, _ := attach(t, b[0])
	two, got := attach(t, b[1])
	must(t, two.Subscribe(own(t)))
	settle(t, one, own(t))
	buf := make([]byte, 1000)
	for i := range byte(100) {
		for j := range buf {
			buf[j] = i
		}
		must(t, one.Publish(own(t), buf))
	}
	for i := range byte(100) {
		if m := next(t, got); !bytes.Equal(m.Data, bytes.Repeat([]byte{i}, len(buf))) {
			t.Fatalf("message %d holds another's data", i)
		}
	}
}

// interestEnds requests a subject that moves from one node to another: the bus
// serves as the directory.
func interestEnds(t *testing.T, b []bus.Bus) {
	one, _ := attach(t, b[0])
	two, _ := attach(t, b[1])
	three, _ := attach(t, b[2])
	must(t, two.Subscribe("moves"))
	settle(t, one, "moves")
	must(t, two.Unsubscribe("moves"))
	settleGone(t, one, "moves")
	must(t, three.Subscribe("moves"))
	settle(t, one, "moves")
	must(t, three.Close())
	settleGone(t, one, "moves")
}
