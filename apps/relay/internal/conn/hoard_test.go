package conn

import (
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/scorel/scorel/apps/relay/internal/limits"
	"github.com/scorel/scorel/apps/relay/internal/ws/wstest"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// Many peers begin large messages and never end them. What the relay holds for them stays
// under the limit, a peer that behaves is not affected, new peers are refused, and the
// pings free all of it.
func TestMemoryIsBoundedUnderUnfinishedMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const hoarders, limit = 300, 12 << 20
		env := newTestEnv(t, limits.Limits{Memory: limit})
		var peers, readers sync.WaitGroup
		serve := func(send func(far net.Conn)) *Conn {
			c, far := pipeConn(t, env)
			c.alive.Store(true)
			c.startPings()
			readers.Go(func() {
				c.readLoop()
				c.reader.Release() // as teardown does, which stop calls
			})
			peers.Go(func() { _, _ = io.Copy(io.Discard, far) }) // ends with the connection
			peers.Go(func() { send(far) })
			return c
		}
		innocent := serve(sayPong)
		most := int64(0)
		var conns []*Conn
		for range hoarders {
			conns = append(conns, serve(hoard))
			synctest.Wait()
			most = max(most, env.Memory.Used())
		}
		if most > limit || most < limit/2 {
			t.Errorf("the relay held up to %d bytes, want near %d and never more", most, limit)
		}
		if env.Memory.RoomForConn() {
			t.Error("a new peer would be accepted at that time")
		}
		<-time.After((heldTicks + 2) * env.Limits().PingInterval * 12 / 10) // virtual
		synctest.Wait()
		for _, c := range conns {
			if !c.Ended() {
				t.Fatal("a peer that hoards is still there")
			}
		}
		if innocent.Ended() {
			t.Error("one that behaves was ended as well")
		}
		if lent := env.Pool.Lent(); lent != 0 {
			t.Errorf("%d bytes were never given back", lent)
		}
		innocent.Cut(wire.ReasonClosed)
		readers.Wait()
		stopAll(env)
		peers.Wait()
	})
}

// hoard sends most of the largest record at once and the rest byte by byte, so that it
// is alive and never done.
func hoard(far net.Conn) {
	head := append(wstest.MaskedHeader(0x82, wire.MaxRecord), 0, 0, 0, 1, 0, 0, 0xff, 0xff)
	_, _ = far.Write(append(head, make([]byte, wire.MaxRecordPayload-1000)...)) // the relay may refuse it
	repeat(far, []byte{0})
}

// sayPong shows that the peer is alive, until the connection ends.
func sayPong(far net.Conn) { repeat(far, []byte{0x8a, 0x80, 0, 0, 0, 0}) }

func repeat(far net.Conn, data []byte) {
	for {
		<-time.After(time.Second) // virtual
		if _, err := far.Write(data); err != nil {
			return
		}
	}
}

// Text counts in the limits of bytes as records do.
func TestWhoSendsTooMuchTextIsPaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		env := newTestEnv(t, limits.Limits{Bytes: limits.ByteRates{Connection: 1 << 20}})
		c, far := pipeConn(t, env)
		text := `{"type":"of_a_newer_peer","data":"` + strings.Repeat("x", 10_000) + `"}`
		frame := append(wstest.MaskedHeader(0x81, len(text)), text...)
		start := time.Now()
		go func() {
			defer far.Close()
			for range 600 {
				if _, err := far.Write(frame); err != nil {
					t.Error(err)
				}
			}
		}()
		c.readLoop()
		if took := time.Since(start); *c.reason.Load() != wire.ReasonReadError || took < 3*time.Second || took > 5*time.Second {
			t.Errorf("6 MB at 1 MiB/s with 2 at once took %s; ended: %v", took, *c.reason.Load())
		}
		stopAll(env)
	})
}
