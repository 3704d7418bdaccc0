package conn

import (
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/scorel/scorel/apps/relay/internal/channel"
	"github.com/scorel/scorel/apps/relay/internal/limits"
	"github.com/scorel/scorel/apps/relay/internal/queue"
	"github.com/scorel/scorel/apps/relay/internal/ws/wstest"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// Many peers that read nothing are flooded. What the relay holds for them stays under
// the limit, one that reads does not notice, and in the end all is given back.
func TestMemoryIsBoundedUnderSlowReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const (
			slow, rounds = 64, 40
			memory       = 24 << 20
			size         = 60_000
		)
		env := newTestEnv(t, limits.Limits{Memory: memory})
		host, hostFar := pipeConn(t, env)
		go io.Copy(io.Discard, hostFar)
		innocent, innocentFar := pipeConn(t, env)
		got := make(chan int)
		go func() { got <- wstest.CountRecords(innocentFar) }()
		conns := []*Conn{host, innocent}
		for range slow {
			c, _ := pipeConn(t, env)
			conns = append(conns, c)
		}
		env.Memory.AddConns(len(conns))
		for _, c := range conns[1:] {
			if err := channel.Open(c.EntrySide(0), host.HostSide(), "open"); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait() // the innocent has its channel_opened
		most := flood(env, host, slow, rounds, size)
		if most > memory || most < memory/2 {
			t.Errorf("the relay held up to %d bytes, want near %d and never more", most, memory)
		}
		if n := len(host.Channels()); n != 1 || innocent.End(1) == nil {
			t.Errorf("%d channels are left, want that of the innocent", n)
		}
		<-time.After(env.Limits().WriteTimeout + time.Second) // virtual: the slow ones are given up
		synctest.Wait()
		for _, c := range conns {
			if slow := c != host && c != innocent; slow != c.Ended() {
				t.Errorf("ended: %v, slow: %v", c.Ended(), slow)
			}
		}
		stopAll(env)
		if want := rounds * (size + wire.RecordHeaderLen); <-got != want {
			t.Errorf("the innocent did not get its %d bytes", want)
		}
		if used := env.Memory.Used(); used != 0 {
			t.Errorf("%d bytes were never given back", used)
		}
	})
}

// flood sends records to channels 2 to slow+1 and then one to channel 1, for some rounds. It
// returns the most memory that was in use, in bytes.
func flood(env *Env, from *Conn, slow uint32, rounds, size int) (most int64) {
	payload := make([]byte, size)
	send := func(num uint32) {
		pending := queue.Pending{Reader: &from.Out}
		from.route(queue.Group{Channel: num, Data: wire.AppendRecord(nil, num, payload), Records: 1}, &pending)
		pending.Flush()
		most = max(most, env.Memory.Used())
	}
	for range rounds {
		for num := uint32(2); num < slow+2; num++ {
			send(num)
		}
		send(1)
		synctest.Wait()
	}
	return most
}

func TestMessagesThatNeverEndHoldNoBuffer(t *testing.T) {
	for name, frames := range map[string]struct {
		start []byte // of a message
		drip  []byte // again and again
	}{
		"a record, byte by byte": {append(wstest.MaskedHeader(0x82, 65_543), append([]byte{0, 0, 0, 1, 0, 0, 0xff, 0xff}, make([]byte, 1000)...)...), []byte{0}},
		"text in fragments, with pongs": {
			append(wstest.MaskedHeader(0x01, 2000), make([]byte, 2000)...),
			append(append(wstest.MaskedHeader(0x00, 1), ' '), 0x8a, 0x80, 0, 0, 0, 0),
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				env := newTestEnv(t, limits.Limits{})
				c, far := pipeConn(t, env)
				go io.Copy(io.Discard, far)
				var dripping sync.WaitGroup
				dripping.Go(func() {
					_, err := far.Write(frames.start)
					for err == nil {
						<-time.After(time.Second) // virtual
						_, err = far.Write(frames.drip)
					}
				})
				c.alive.Store(true)
				c.startPings()
				start := time.Now()
				c.readLoop()
				if took, most := time.Since(start), (heldTicks+2)*env.Limits().PingInterval*12/10; took > most {
					t.Errorf("ended after %s, want within %s", took, most)
				}
				stopAll(env)
				dripping.Wait()
				if lent := env.Pool.Lent(); lent != 0 {
					t.Errorf("%d bytes were never given back", lent)
				}
			})
		})
	}
}

func TestWhoSendsTooMuchIsPaced(t *testing.T) {
	const rate = 2 << 20
	for name, tc := range map[string]struct {
		bytes limits.ByteRates
		conns int           // of one identity, which send at the same time
		want  time.Duration // for 8 MiB each
	}{
		"no limit":       {limits.ByteRates{}, 1, 0},
		"per connection": {limits.ByteRates{Connection: rate}, 2, 2 * time.Second},
		"per identity":   {limits.ByteRates{Identity: rate}, 2, 6 * time.Second},
		"per address":    {limits.ByteRates{Address: rate}, 2, 6 * time.Second},
		"everybody":      {limits.ByteRates{All: rate}, 2, 6 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				env := newTestEnv(t, limits.Limits{Bytes: tc.bytes})
				start, done := time.Now(), make(chan struct{})
				for range tc.conns {
					c, far := pipeConn(t, env)
					defer far.Close()
					go func() {
						for range (8 << 20) / 1000 {
							c.uncounted += 1000
							c.keepPace()
						}
						done <- struct{}{}
					}()
				}
				for range tc.conns {
					<-done
				}
				defer stopAll(env)
				if took := time.Since(start); (took - tc.want).Abs() > 500*time.Millisecond {
					t.Errorf("took %s, want %s", took, tc.want)
				}
			})
		})
	}
}

// TestEachByteThatArrivesIsCounted: a peer that cuts its messages into many frames sends
// little and costs as much.
func TestEachByteThatArrivesIsCounted(t *testing.T) {
	env := newTestEnv(t, limits.Limits{})
	c, far := pipeConn(t, env)
	stream := append(wstest.MaskedHeader(0x02, 9), 0, 0, 0, 1, 0, 0, 0, 1, 'x')
	for range 20 {
		stream = append(stream, wstest.MaskedHeader(0x00, 0)...)
	}
	stream = append(stream, wstest.MaskedHeader(0x80, 0)...)
	stream = append(append(stream, wstest.MaskedHeader(0x81, 2)...), "{}"...)
	go func() {
		defer far.Close()
		if _, err := far.Write(stream); err != nil {
			t.Error(err)
		}
	}()
	go io.Copy(io.Discard, far)
	c.readLoop()
	if c.uncounted != len(stream) {
		t.Errorf("%d bytes were counted, %d arrived", c.uncounted, len(stream))
	}
	stopAll(env)
}

func TestPaceEndsWithTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		env := newTestEnv(t, limits.Limits{Bytes: limits.ByteRates{Connection: limits.MinByteRate}})
		c, _ := pipeConn(t, env)
		time.AfterFunc(time.Second, func() { c.Cut(wire.ReasonRevoked) })
		start := time.Now()
		c.uncounted = 1 << 30
		c.keepPace()
		defer stopAll(env)
		if took := time.Since(start); took > time.Second+pauseMost {
			t.Errorf("continued for %s after the end", took-time.Second)
		}
	})
}
