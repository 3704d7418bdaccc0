package conn

import (
	"io"
	"log/slog"
	"net"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/scorel/scorel/apps/relay/internal/authority"
	"github.com/scorel/scorel/apps/relay/internal/bufpool"
	"github.com/scorel/scorel/apps/relay/internal/limits"
	"github.com/scorel/scorel/apps/relay/internal/memory"
	"github.com/scorel/scorel/apps/relay/internal/metrics"
	"github.com/scorel/scorel/apps/relay/internal/queue"
	"github.com/scorel/scorel/apps/relay/internal/ws"
	"github.com/scorel/scorel/packages/leakcheck"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

// admitAll is a Handler that admits every peer.
type admitAll struct {
	env  *Env
	open []*Conn // those of pipeConn
}

func (h *admitAll) Proves(string, authority.Dialed) bool { return true }
func (h *admitAll) Login(*Conn, string) error            { return nil }
func (h *admitAll) Handle(c *Conn, f wire.Frame) {
	c.Refuse("", wire.Errorf(wire.KindNotAllowed, "no handler for %s", f.FrameType()))
}
func (h *admitAll) Leave(*Conn)  {}
func (h *admitAll) Closed(*Conn) { h.env.Memory.AddConns(-1) }

func newTestEnv(t *testing.T, l limits.Limits) *Env {
	t.Helper()
	l = l.WithDefaults()
	if err := l.Check(); err != nil {
		t.Fatal(err)
	}
	guards := limits.NewGuards(l)
	pool := new(bufpool.Pool)
	account := memory.New(pool, l.Memory)
	env := &Env{
		Log: slog.New(slog.DiscardHandler), Metrics: metrics.New(nil), Pool: pool, Memory: account, Guards: &guards,
		Queues: queue.NewBounds(queue.Limits{Channel: l.ChannelQueue, Data: l.Queue, Total: l.Queue + l.ControlRoom, Timeout: l.WriteTimeout}, account),
		Limits: func() *limits.Limits { return &l },
	}
	env.Pace.Store(new(limits.Pace).With(l.Bytes))
	env.Handler = &admitAll{env: env}
	return env
}

// pipeConn returns a connection on one end of an in-memory pipe, as it is after its login,
// and the other end.
func pipeConn(t *testing.T, env *Env) (*Conn, net.Conn) {
	t.Helper()
	near, far := net.Pipe()
	c := New(env, &ws.Upgraded{Conn: near}, netip.Addr{}, authority.Dialed{})
	c.loggedIn = true
	c.reader.SetLimits(MaxControl, wire.MaxMessage)
	c.id = ident.NewID(ident.KindClient, ident.Public{})
	h := env.Handler.(*admitAll)
	h.open = append(h.open, c)
	return c, far
}

// stopAll ends the connections of pipeConn. In a bubble nothing of them may be left.
func stopAll(env *Env) {
	for _, c := range env.Handler.(*admitAll).open {
		c.Cut(wire.ReasonClosed)
		c.teardown()
	}
}

func TestHalfOpenPeerIsFoundInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		env := newTestEnv(t, limits.Limits{})
		c, far := pipeConn(t, env)
		c.alive.Store(true)
		c.startPings()
		start := time.Now()
		go io.Copy(io.Discard, far) // takes what is sent and never answers
		c.readLoop()
		c.teardown()
		if took := time.Since(start); took > wire.DeadPeerTimeout || took < env.Limits().PingInterval {
			t.Errorf("found after %s, want within %s", took, wire.DeadPeerTimeout)
		}
		if got := *c.reason.Load(); got != wire.ReasonPingTimeout {
			t.Errorf("reason %s", got)
		}
		if n := testutil.ToFloat64(env.Metrics.Ends.WithLabelValues(string(wire.ReasonPingTimeout))); n != 1 {
			t.Errorf("counted %v times", n)
		}
	})
}

func TestPeerThatAnswersPingsStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		env := newTestEnv(t, limits.Limits{})
		c, far := pipeConn(t, env)
		c.startPings()
		served := make(chan struct{})
		go func() {
			defer close(served)
			c.readLoop()
			c.teardown()
		}()
		go func() { // every message that comes is answered with a masked, empty pong
			buf := make([]byte, 4096)
			for {
				if _, err := far.Read(buf); err != nil {
					return
				}
				if _, err := far.Write([]byte{0x80 | byte(ws.OpPong), 0x80, 0, 0, 0, 0}); err != nil {
					return
				}
			}
		}()
		<-time.After(10 * wire.DeadPeerTimeout) // virtual
		if c.Ended() {
			t.Errorf("ended for %s", *c.reason.Load())
		}
		_ = far.Close() // ends it
		<-served
	})
}

func TestStuckPeerIsCutByTheWriteTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		env := newTestEnv(t, limits.Limits{PingInterval: time.Hour})
		c, far := pipeConn(t, env)
		start := time.Now()
		c.Send(&wire.CloseChannel{Channel: 1}) // never taken
		c.readLoop()
		c.teardown()
		if got := *c.reason.Load(); got != wire.ReasonWriteTimeout || time.Since(start) != env.Limits().WriteTimeout {
			t.Errorf("reason %s after %s", got, time.Since(start))
		}
		_ = far.Close() // the pipe's other end
	})
}

func TestPeerThatReadsNoControlFramesIsCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		env := newTestEnv(t, limits.Limits{ControlRoom: 128 << 10, Queue: wire.MaxRecord, ChannelQueue: wire.MaxRecord})
		c, far := pipeConn(t, env)
		n := 0
		for ; !c.Ended(); n++ {
			c.Send(&wire.CloseChannel{Channel: 1})
		}
		if *c.reason.Load() != wire.ReasonSlowConsumer || n < 100 || n > 10_000 {
			t.Errorf("ended for %s after %d frames", *c.reason.Load(), n)
		}
		c.teardown()
		_ = far.Close() // the pipe's other end
	})
}
