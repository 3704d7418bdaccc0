package client

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

func TestInboxKeepsOrderAndItsBound(t *testing.T) {
	b, ctx := newInbox(3000), t.Context()
	large := bytes.Repeat([]byte("x"), 2000)
	if !b.put([]byte("one"), large) || b.put(large) || !b.put([]byte("two")) {
		t.Fatal("the bound is not 3000 bytes")
	}
	for _, want := range []string{"one", string(large), "two"} {
		got, err := b.take(ctx)
		if err != nil || string(got) != want {
			t.Fatalf("%q, %v, want %q", got, err, want)
		}
		if want == "one" && b.put(make([]byte, 998)) { // what was taken over and not taken counts
			t.Error("took more than 3000 bytes")
		}
	}
	if !b.put(large) {
		t.Error("what was taken counts still")
	}
}

func TestInboxRecordsAreCopies(t *testing.T) {
	b, record := newInbox(100), []byte("abc")
	b.put(record, record)
	record[0] = 'x'
	first, err1 := b.take(t.Context())
	_ = append(first, "over the end"...)
	second, err2 := b.take(t.Context())
	if err := errors.Join(err1, err2); err != nil || string(first) != "abc" || string(second) != "abc" {
		t.Errorf("%q, %q, %v", first, second, err)
	}
}

func TestInboxWakesItsReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, ended := newInbox(1<<20), errors.New("ended")
		got := make(chan error, 1)
		go func() {
			for n := byte(0); ; n++ {
				record, err := b.take(t.Context())
				if err != nil || record[0] != n {
					got <- err
					return
				}
			}
		}()
		for n := range byte(200) {
			b.put([]byte{n})
			if n%7 == 0 {
				synctest.Wait() // it waits again
			}
		}
		b.close(ended)
		if err := <-got; !errors.Is(err, ended) {
			t.Errorf("%v", err)
		}
		if !b.put([]byte{0}) || !b.ended() || b.close(nil) {
			t.Error("a closed inbox is not closed")
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := newInbox(1).take(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	})
}
