package paths

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/leakcheck"
	"github.com/scorel/scorel/packages/protocol/api"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

func TestTheBestPathThatWorksWins(t *testing.T) {
	all := []Known{bound(slow, 90*time.Millisecond), bound(fast, 20*time.Millisecond), bound(near, time.Millisecond), bound(local, time.Millisecond)}
	for _, tt := range []struct {
		name string
		up   map[Path]time.Duration
		down map[Path]error
		want Path
		at   time.Duration // when it is connected
	}{
		{"all work", map[Path]time.Duration{local: 1e6, near: 1e6, fast: 20e6, slow: 90e6}, nil, local, time.Millisecond},
		{"refused here", map[Path]time.Duration{near: 1e6, fast: 20e6}, map[Path]error{local: errOff}, near, time.Millisecond},
		{"the network is silent", map[Path]time.Duration{fast: 20e6}, map[Path]error{local: errOff}, fast, networkHeadStart + 20*time.Millisecond},
		{"one relay is silent", map[Path]time.Duration{slow: 90e6}, map[Path]error{local: errOff, near: errOff}, slow, relayHeadStart + 90*time.Millisecond},
		{"a slow better one loses", map[Path]time.Duration{near: time.Minute, fast: 20e6}, map[Path]error{local: errOff}, fast, networkHeadStart + 20*time.Millisecond},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newNetwork(all...)
				n.up, n.err = tt.up, tt.down
				if n.err == nil {
					n.err = map[Path]error{}
				}
				d, start := n.device(nil), time.Now()
				l := mustDial(t, d.Dial)
				if l.Path() != tt.want || time.Since(start) != tt.at {
					t.Errorf("got %s after %s, want %s after %s", l.Path(), time.Since(start), tt.want, tt.at)
				}
				if used, ok := d.Used(); !ok || used != tt.want {
					t.Errorf("in use is %s", used)
				}
				if live := n.live(); len(live) != 1 {
					t.Errorf("these are open: %v", live)
				}
				_ = l.Close()
			})
		})
	}
}

// TestNoPath: the error names every path. A refusal on one of them decides nothing while
// another may come back.
func TestNoPath(t *testing.T) {
	refused := errors.New("revoked")
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(bound(near, 0), bound(fast, 0))
		n.err[near], n.err[fast] = refused, errOff
		d := n.device(func(cfg *Config) { cfg.Lost = func(err error) bool { return !errors.Is(err, refused) } })
		_, err := d.Dial(t.Context())
		if errors.Is(err, refused) || !errors.Is(err, errOff) || !strings.Contains(err.Error(), "local network: revoked; fast.example: nothing answers") {
			t.Errorf("got %v", err)
		}
		n.err[fast] = refused
		if _, err := d.Dial(t.Context()); !errors.Is(err, refused) {
			t.Errorf("all refuse, but the error is %v", err)
		}
		n.err[near], n.err[fast] = nil, nil // silence
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Hour, errors.New("enough"))
		defer cancel()
		if _, err := d.Dial(ctx); err == nil || err.Error() != "enough" {
			t.Errorf("the end of the context gave %v", err)
		}
	})
}

// TestALostPathIsFollowedByAnother: the next call takes another path without waiting for the
// lost one, and the error is one that lets its reader dial again at once.
func TestALostPathIsFollowedByAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(bound(fast, 20*time.Millisecond), bound(slow, 90*time.Millisecond))
		n.set(fast, 20*time.Millisecond)
		n.set(slow, 90*time.Millisecond)
		d := n.device(nil)
		l := mustDial(t, d.Keep)
		time.Sleep(2 * steady)
		n.cut(fast, nil)
		_, err := l.Receive(t.Context())
		if !errors.Is(err, client.ErrPathLost) || errors.Is(err, errOff) {
			t.Fatalf("the path ended with %v", err)
		}
		_ = l.Close()
		start := time.Now()
		next := mustDial(t, d.Keep)
		if next.Path() != slow || time.Since(start) != 90*time.Millisecond {
			t.Errorf("got %s after %s", next.Path(), time.Since(start))
		}
		_ = next.Close()
	})
}

// TestAPathThatFallsAtOnceGivesNoHurry: two paths that let clients in and drop them would keep
// a client busy.
func TestAPathThatFallsAtOnceGivesNoHurry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(bound(fast, 0), bound(slow, 0))
		n.set(fast, time.Millisecond)
		l := mustDial(t, n.device(nil).Dial)
		n.cut(fast, nil)
		if _, err := l.Receive(t.Context()); err == nil || errors.Is(err, client.ErrPathLost) {
			t.Errorf("got %v", err)
		}
		_ = l.Close()
	})
}

// TestTheOnlyPathTellsWhyItEnded: without another path, the reason decides what follows.
func TestTheOnlyPathTellsWhyItEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(bound(fast, 0))
		n.set(fast, time.Millisecond)
		l := mustDial(t, n.device(nil).Keep)
		n.cut(fast, nil)
		if _, err := l.Receive(t.Context()); !errors.Is(err, errOff) {
			t.Errorf("got %v", err)
		}
		_ = l.Close()
	})
}

// moved waits for the end of a link.
func moved(t *testing.T, l *Link) {
	t.Helper()
	if _, err := l.Receive(t.Context()); !errors.Is(err, client.ErrMoved) {
		t.Fatalf("the link ended with %v", err)
	}
	if err := l.Send(t.Context(), nil); !errors.Is(err, client.ErrMoved) {
		t.Errorf("a link that moved sends: %v", err)
	}
	_ = l.Close()
}

func TestABetterPathIsTakenWhenItReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(bound(near, time.Millisecond), bound(fast, 20*time.Millisecond))
		n.set(fast, 20*time.Millisecond)
		n.err[near] = errOff
		d := n.device(nil)
		l := mustDial(t, d.Keep)
		time.AfterFunc(10*time.Minute, func() { n.set(near, time.Millisecond) })
		start := time.Now()
		moved(t, l)
		if took := time.Since(start); took < 10*time.Minute || took > 10*time.Minute+watchMost+time.Second {
			t.Errorf("it moved after %s", took)
		}
		next := mustDial(t, d.Keep)
		if next.Path() != near {
			t.Errorf("it moved to %s", next.Path())
		}
		_ = next.Close()
		if live := n.live(); len(live) > 0 {
			t.Errorf("these are still open: %v", live)
		}
	})
}

// TestNothingUnderWayIsCut: a link stays while a request waits for its answer, and while
// messages arrive.
func TestNothingUnderWayIsCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(bound(near, time.Millisecond), bound(fast, 20*time.Millisecond))
		n.set(fast, 20*time.Millisecond)
		n.err[near] = errOff
		d := n.device(nil)
		l := mustDial(t, d.Keep)
		n.set(near, time.Millisecond)
		channel := l.inner.Transport.(*pipe)
		c := client.New(l, nil)
		answered := make(chan error, 1)
		go func() {
			_, err := c.Raw(t.Context(), "get_host", api.Empty{})
			answered <- err
		}()
		time.Sleep(time.Hour) // a long request
		if c.Err() != nil {
			t.Fatalf("the path ended while a request waited: %v", c.Err())
		}
		channel.messages <- []byte(`{"type":"response","requestId":"1","result":{}}`)
		if err := <-answered; err != nil {
			t.Fatal(err)
		}
		for range 1000 { // a stream
			time.Sleep(quietFor / 2)
			channel.messages <- []byte(`{"type":"event","event":{"type":"nothing_known"}}`)
		}
		if c.Err() != nil {
			t.Fatalf("the path ended while a message streamed: %v", c.Err())
		}
		<-c.Done()
		if !errors.Is(c.Err(), client.ErrMoved) || !errors.Is(c.Err(), client.ErrLost) {
			t.Errorf("got %v", c.Err())
		}
		_ = c.Close()
		if err := d.Close(); err != nil { // nobody takes the better path
			t.Error(err)
		}
		if live := n.live(); len(live) > 0 {
			t.Errorf("these are still open: %v", live)
		}
	})
}

// TestAFasterRelayIsTaken only if it is clearly faster.
func TestAFasterRelayIsTaken(t *testing.T) {
	for _, tt := range []struct {
		trip  time.Duration
		moves bool
	}{{30 * time.Millisecond, true}, {85 * time.Millisecond, false}} {
		t.Run(fmt.Sprint(tt.trip), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newNetwork(bound(slow, 90*time.Millisecond), bound(fast, tt.trip))
				n.set(slow, 90*time.Millisecond)
				n.err[fast] = errOff
				d := n.device(nil)
				l := mustDial(t, d.Keep)
				n.set(fast, tt.trip)
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				_, err := l.Receive(ctx)
				if got := errors.Is(err, client.ErrMoved); got != tt.moves {
					t.Errorf("moved: %v (%v)", got, err)
				}
				_ = l.Close()
				_ = d.Close()
			})
		})
	}
}

// TestLearnedPathsAreUsed: a path that the device reports is measured at once, and taken.
func TestLearnedPathsAreUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(bound(fast, 20*time.Millisecond))
		n.set(fast, 20*time.Millisecond)
		n.set(near, time.Millisecond)
		var used []Path
		d := n.device(func(cfg *Config) {
			cfg.Used = func(p Path, _ time.Duration) { used = append(used, p) }
			cfg.Learn = func(ctx context.Context, learning Learning) error {
				n.mu.Lock()
				n.known = append(n.known, Known{Path: near})
				n.mu.Unlock()
				learning.Measure(ctx, []Path{near})
				<-ctx.Done()
				return ctx.Err()
			}
		})
		start := time.Now()
		moved(t, mustDial(t, d.Keep))
		if took := time.Since(start); took > watchFirst {
			t.Errorf("it moved after %s", took)
		}
		l := mustDial(t, d.Keep)
		if l.Path() != near || !slices.Contains(used, near) {
			t.Errorf("in use is %s; measured: %v", l.Path(), used)
		}
		_ = l.Close()
	})
}

// TestFoundPaths: the network is asked only if no known path works.
func TestFoundPaths(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, asked := newNetwork(bound(fast, 0)), 0
		n.set(fast, time.Millisecond)
		n.set(near, time.Millisecond)
		d := n.device(func(cfg *Config) {
			cfg.Find = func(context.Context) []Path { asked++; return []Path{fast, near, near} }
		})
		_ = mustDial(t, d.Dial).Close()
		if asked != 0 {
			t.Error("it was asked though a path works")
		}
		n.cut(fast, errOff)
		l := mustDial(t, d.Dial)
		if l.Path() != near || asked != 1 {
			t.Errorf("got %s", l.Path())
		}
		_ = l.Close()
	})
}

func TestKeysOfPaths(t *testing.T) {
	same := [][2]string{
		{"https://relay.example", "wss://relay.example:443/"}, {"http://127.0.0.1:7410", "http://localhost:7410"}, {"http://[::1]:80", "ws://localhost"},
	}
	for _, pair := range same {
		if a, b := (Path{Relay, pair[0]}).Key(), (Path{Relay, pair[1]}).Key(); a != b {
			t.Errorf("%s and %s differ: %s, %s", pair[0], pair[1], a, b)
		}
	}
	for _, pair := range [][2]string{{"https://a.example", "https://a.example/x"}, {"http://a.example", "https://a.example"}, {"", "http://localhost"}} {
		if a, b := (Path{Machine, pair[0]}).Key(), (Path{Machine, pair[1]}).Key(); a == b {
			t.Errorf("%q and %q are the same: %s", pair[0], pair[1], a)
		}
	}
}
