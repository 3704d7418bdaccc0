package relay_test

import (
	"context"
	"fmt"
	"net"
	"runtime"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/scorel/scorel/apps/relay"
	"github.com/scorel/scorel/apps/relay/relaytest"
	"github.com/scorel/scorel/apps/relay/relaytest/natstest"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// BenchmarkRoute sends records from an entry to a host over loopback sockets,
// 32 to a message. Time and allocations are those of the relay and of both peers,
// whose client library allocates per message.
func BenchmarkRoute(b *testing.B) {
	for _, size := range []int{64, 256, 1024, 16 << 10} {
		b.Run(fmt.Sprintf("%dB", size), func(b *testing.B) { benchRoute(b, size) })
	}
}

// BenchmarkRouteAcrossNodes does the same over two relays and a NATS server.
func BenchmarkRouteAcrossNodes(b *testing.B) {
	for _, size := range []int{256, 16 << 10} {
		b.Run(fmt.Sprintf("%dB", size), func(b *testing.B) {
			bus := natstest.Start(b)
			nodes := startNodes(b, nil, nil, bus.URL(), bus.URL())
			host, entry := apart(b, nodes[1], nodes[0])
			benchRecords(b, size, host, entry)
		})
	}
}

func benchRoute(b *testing.B, size int) {
	host, entry := relaytest.Start(b, nil).PairedPeers(b)
	benchRecords(b, size, host, entry)
}

func benchRecords(b *testing.B, size int, host, entry *relaytest.Peer) {
	window := max(32, (256<<10)/size/32*32) // records under way, so that no queue fills
	onEntry, onHost := relaytest.Open(b, entry, host)
	perMessage := min(32, wire.MaxMessage/4/(size+wire.RecordHeaderLen))
	var batch []byte
	for range perMessage {
		batch = wire.AppendRecord(batch, onEntry, make([]byte, size))
	}
	acks := make(chan int, 2*window)
	done := make(chan error, 1)
	go func() { done <- drain(host.WS, onHost, b.N/perMessage*perMessage+perMessage, acks) }()
	b.SetBytes(int64(size))
	b.ReportAllocs()
	b.ResetTimer()
	under := 0
	for sent := 0; sent <= b.N/perMessage*perMessage; sent += perMessage {
		for under > window {
			under -= <-acks
		}
		if err := entry.WS.Write(context.Background(), websocket.MessageBinary, batch); err != nil {
			b.Fatal(err)
		}
		under += perMessage
		for drained := true; drained; {
			select {
			case n := <-acks:
				under -= n
			default:
				drained = false
			}
		}
	}
	if err := <-done; err != nil {
		b.Fatal(err)
	}
}

// drain reads want records and reports how many each message held.
func drain(ws *websocket.Conn, channel uint32, want int, acks chan<- int) error {
	buf := make([]byte, wire.MaxMessage)
	for got := 0; got < want; {
		_, r, err := ws.Reader(context.Background())
		if err != nil {
			return err
		}
		n := 0
		for {
			m, err := r.Read(buf[n:])
			n += m
			if err != nil {
				break // the end of the message
			}
		}
		count := 0
		for rest := buf[:n]; len(rest) > 0; count++ {
			rec, next, err := wire.NextRecord(rest)
			if err != nil || rec.Channel != channel {
				return fmt.Errorf("record on channel %d: %v", rec.Channel, err)
			}
			rest = next
		}
		got += count
		acks <- count
	}
	return nil
}

// BenchmarkIdleConnection reports the memory of idle, logged-in connections. The
// clients live in the same process, but are bare sockets without buffers or
// goroutines; apps/bench measures a relay in a process of its own.
func BenchmarkIdleConnection(b *testing.B) {
	const n = 2000
	s := relaytest.Start(b, func(cfg *relay.Config) { cfg.Limits.PingInterval = time.Hour })
	keys := make([]*ident.Private, 0, n)
	for range n {
		keys = append(keys, relaytest.NewKeys(b, ident.KindDevice))
	}
	conns := make([]net.Conn, 0, n)
	bareLogin(b, s, relaytest.NewKeys(b, ident.KindDevice)).Close() // warms up
	b.ResetTimer()
	for b.Loop() {
		before := inUse()
		for _, k := range keys {
			conns = append(conns, bareLogin(b, s, k))
		}
		b.ReportMetric(float64(inUse()-before)/n/1024, "KiB/conn")
		for _, c := range conns {
			_ = c.Close() // the relay notices
		}
		conns = conns[:0]
	}
}

// bareLogin logs in over a socket and leaves nothing behind it but the socket.
func bareLogin(b *testing.B, s *relaytest.Server, keys *ident.Private) net.Conn {
	b.Helper()
	raw, err := relaytest.DialRaw(new(net.Dialer), s.Authority(), keys, "idle")
	if err != nil {
		b.Fatal(err)
	}
	return raw.Net
}

// inUse is heap and stacks after a collection, in bytes.
func inUse() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}
