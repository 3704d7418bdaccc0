// Package conntest logs peers in to a conn.Handler over in-memory pipes, for tests of the
// parts behind it.
package conntest

import (
	"crypto/rand"
	"encoding/binary"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/relay/internal/authority"
	"github.com/scorel/scorel/apps/relay/internal/bufpool"
	"github.com/scorel/scorel/apps/relay/internal/conn"
	"github.com/scorel/scorel/apps/relay/internal/limits"
	"github.com/scorel/scorel/apps/relay/internal/memory"
	"github.com/scorel/scorel/apps/relay/internal/metrics"
	"github.com/scorel/scorel/apps/relay/internal/queue"
	"github.com/scorel/scorel/apps/relay/internal/ws"
	"github.com/scorel/scorel/apps/relay/internal/ws/wstest"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// patience is how long a peer waits for a frame that must come.
const patience = 10 * time.Second

// NewEnv returns what connections share. The caller sets the Handler.
func NewEnv(l limits.Limits) *conn.Env {
	l = l.WithDefaults()
	guards := limits.NewGuards(l)
	pool := new(bufpool.Pool)
	account := memory.New(pool, l.Memory)
	env := &conn.Env{
		Log: slog.New(slog.DiscardHandler), Metrics: metrics.New(nil), Pool: pool, Memory: account, Guards: &guards,
		Queues: queue.NewBounds(queue.Limits{Channel: l.ChannelQueue, Data: l.Queue, Total: l.Queue + l.ControlRoom, Timeout: l.WriteTimeout}, account),
		Limits: func() *limits.Limits { return &l },
	}
	env.Pace.Store(new(limits.Pace).With(l.Bytes))
	return env
}

// Peer is the far end of a connection.
type Peer struct {
	ID   ident.ID
	Self wire.Peer

	t      testing.TB
	socket net.Conn
	frames chan wire.Frame // closed when the connection has ended
	ended  sync.WaitGroup  // the relay's goroutine, and that which reads for the peer
}

// Dial logs a new peer in. What the relay answers is still to be read. The connection ends
// with the test, or with Close.
func Dial(t testing.TB, env *conn.Env, kind ident.Kind) *Peer {
	t.Helper()
	keys, err := ident.Generate(kind, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return DialAs(t, env, keys)
}

// DialAs is Dial for a peer with known keys.
func DialAs(t testing.TB, env *conn.Env, keys *ident.Private) *Peer {
	t.Helper()
	near, far := net.Pipe()
	p := &Peer{ID: keys.ID(), t: t, socket: far, frames: make(chan wire.Frame, 100)}
	p.Self = wire.Peer{ID: p.ID, Public: keys.Public(), Label: "peer"}
	c := conn.New(env, &ws.Upgraded{Conn: near}, netip.Addr{}, authority.Dialed{Host: "localhost", Local: true})
	p.ended.Go(c.Run)
	p.ended.Go(p.readLoop)
	t.Cleanup(p.Close)
	greeting := Next[wire.RelayHello](p)
	hello := wire.Hello{Authority: "localhost", Label: "peer"}
	hello.Sign(keys, greeting.Nonce)
	if p.ID.Kind() == ident.KindDevice {
		p.Send(&wire.HostHello{Hello: hello})
	} else {
		p.Send(&wire.EntryHello{Hello: hello})
	}
	return p
}

// Close hangs up and returns when nothing of the connection is left.
func (p *Peer) Close() {
	_ = p.socket.Close() // the relay sees the end
	p.ended.Wait()
}

// Send sends one control frame.
func (p *Peer) Send(f wire.Frame) {
	p.t.Helper()
	data, err := wire.EncodeControl(f)
	if err != nil {
		p.t.Fatal(err)
	}
	if _, err := p.socket.Write(append(wstest.MaskedHeader(0x80|byte(ws.OpText), len(data)), data...)); err != nil {
		p.t.Fatal(err)
	}
}

// readLoop decodes control frames until the connection ends. It skips everything else.
func (p *Peer) readLoop() {
	defer close(p.frames)
	for {
		op, data, err := p.read()
		if err != nil {
			return
		}
		if op != ws.OpText {
			continue
		}
		f, err := wire.DecodeControl(data, wire.MaxControl)
		if err != nil {
			p.t.Errorf("%s: the relay sent a bad frame: %v", p.ID, err)
			return
		}
		p.frames <- f
	}
}

func (p *Peer) read() (ws.Op, []byte, error) {
	var head [10]byte
	if _, err := io.ReadFull(p.socket, head[:2]); err != nil {
		return 0, nil, err
	}
	n := int(head[1])
	switch n {
	case 126:
		if _, err := io.ReadFull(p.socket, head[2:4]); err != nil {
			return 0, nil, err
		}
		n = int(binary.BigEndian.Uint16(head[2:]))
	case 127:
		if _, err := io.ReadFull(p.socket, head[2:10]); err != nil {
			return 0, nil, err
		}
		n = int(binary.BigEndian.Uint64(head[2:]))
	}
	data := make([]byte, n)
	_, err := io.ReadFull(p.socket, data)
	return ws.Op(head[0] & 0x0f), data, err
}

// Next returns the next frame, which must be of type F.
func Next[F any](p *Peer) *F {
	p.t.Helper()
	select {
	case f := <-p.frames:
		got, ok := any(f).(*F)
		if !ok {
			p.t.Fatalf("%s: got %T %+v, want %T", p.ID, f, f, got)
		}
		return got
	case <-time.After(patience):
		p.t.Fatalf("%s: no %T arrived", p.ID, (*F)(nil))
		return nil
	}
}

// Refused reads an error frame, which must be of a kind.
func (p *Peer) Refused(kind wire.Kind) {
	p.t.Helper()
	if f := Next[wire.ErrorFrame](p); f.Kind != kind {
		p.t.Fatalf("%s: got error %s (%s), want %s", p.ID, f.Kind, f.Message, kind)
	}
}

// Quiet fails if a frame has come that was not read.
func (p *Peer) Quiet() {
	p.t.Helper()
	select {
	case f, open := <-p.frames:
		if open {
			p.t.Fatalf("%s: got %T %+v, want nothing", p.ID, f, f)
		}
	default:
	}
}
