//go:build unix

package faults_test

import (
	"fmt"
	"net"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/relay"
	"github.com/scorel/scorel/apps/relay/relaytest"
	"github.com/scorel/scorel/apps/relay/relaytest/natstest"
	"github.com/scorel/scorel/apps/relay/relaytest/nodetest"
	"github.com/scorel/scorel/apps/relay/store/storeurl"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
	"github.com/scorel/scorel/packages/testdb"
)

// BenchmarkRecordCost tells what a record costs the relay's processes in CPU, as
// the kernel counts it: what docs/operations.md plans with. Eight entries send
// records of 256 bytes to eight hosts, so many to a message, with two hundred under
// way each.
func BenchmarkRecordCost(b *testing.B) {
	for _, nodes := range []int{1, 2} {
		for _, batch := range []int{1, 32} {
			b.Run(fmt.Sprintf("nodes=%d/batch=%d", nodes, batch), func(b *testing.B) { recordCost(b, nodes, batch) })
		}
	}
}

func recordCost(b *testing.B, count, batch int) {
	const pairs = 8
	dsn, bus := testdb.Postgres(b), natstest.Start(b)
	var nodes []*nodetest.Node
	for range count {
		nodes = append(nodes, nodetest.Start(b, nodetest.Config{Store: dsn, Bus: bus.URL()}))
	}
	st, err := storeurl.Open(b.Context(), dsn)
	if err != nil {
		b.Fatal(err)
	}
	defer st.Close()
	var lines []*line
	for i := range pairs {
		p := &pair{host: host{index: i}, entry: entry{index: i}}
		p.host.keys, p.entry.keys = relaytest.NewKeys(b, ident.KindDevice), relaytest.NewKeys(b, ident.KindClient)
		p.bind(b, st)
		lines = append(lines, openLine(b, p, nodes[0], nodes[count-1]))
	}
	cpu := func() (sum time.Duration) {
		for _, n := range nodes {
			sum += n.Usage(b).CPU
		}
		return sum
	}
	before := cpu()
	b.ResetTimer()
	var running sync.WaitGroup
	for _, l := range lines {
		running.Go(func() {
			if err := l.carry(b.N/pairs+1, batch); err != nil {
				b.Error(err)
			}
		})
	}
	running.Wait()
	b.StopTimer()
	b.ReportMetric(float64(cpu()-before)/float64(time.Microsecond)/float64(b.N), "relay-us/record")
}

// line is a channel in one direction.
type line struct {
	from, to *relaytest.Raw
	num      uint32
}

func openLine(b *testing.B, p *pair, hostAt, entryAt *nodetest.Node) *line {
	b.Helper()
	h, err := relaytest.DialRaw(new(net.Dialer), hostAt.Addr(), p.host.keys, "cost")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(h.Close)
	e, err := relaytest.DialRaw(new(net.Dialer), entryAt.Addr(), p.entry.keys, "cost")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(e.Close)
	if err := e.Send(&wire.OpenChannel{RequestID: "cost", DeviceID: h.ID}); err != nil {
		b.Fatal(err)
	}
	num, err := awaitOpened(e)
	if err == nil {
		_, err = awaitOpened(h)
	}
	if err != nil {
		b.Fatal(err)
	}
	return &line{from: e, to: h, num: num}
}

// carry sends n records, or a few more to fill the last message, and waits for all.
func (l *line) carry(n, batch int) error {
	const underWay = 200
	var message []byte
	for range batch {
		message = wire.AppendRecord(message, l.num, make([]byte, 256))
	}
	messages := (n + batch - 1) / batch
	room := make(chan struct{}, underWay) // one for each record that may be under way
	failed := make(chan error, 1)
	go func() {
		for got := 0; got < messages*batch; {
			_, records, err := l.to.Next()
			if err != nil {
				failed <- err
				return
			}
			got += len(records)
			for range records {
				<-room
			}
		}
		failed <- nil
	}()
	for range messages {
		for range batch {
			select {
			case room <- struct{}{}:
			case err := <-failed:
				return err
			}
		}
		if err := l.from.SendRecords(message); err != nil {
			return err
		}
	}
	return <-failed
}

// BenchmarkIdleCost tells what an idle, logged-in connection costs a node in
// resident memory, and what its login cost: alone, and on a bus, which also keeps a
// subscription for it. The bus runs in this process, where the other ends of the
// connections are: what both hold together is its figure at the most.
func BenchmarkIdleCost(b *testing.B) {
	limits := relay.Limits{PingInterval: time.Hour}
	b.Run("alone", func(b *testing.B) {
		idleCost(b, nodetest.Start(b, nodetest.Config{Limits: limits}))
	})
	b.Run("bus", func(b *testing.B) {
		bus := natstest.Start(b)
		idleCost(b, nodetest.Start(b, nodetest.Config{Store: testdb.Postgres(b), Bus: bus.URL(), Limits: limits}))
	})
}

func idleCost(b *testing.B, node *nodetest.Node) {
	const n = 8000
	conns := make([]net.Conn, 0, n)
	for b.Loop() {
		before, heap := node.Usage(b), inUse()
		for i := range n {
			dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 3, byte(i%250+1))}}
			raw, err := relaytest.DialRaw(&dialer, node.Addr(), relaytest.NewKeys(b, ident.KindDevice), "idle")
			if err != nil {
				b.Fatal(err)
			}
			conns = append(conns, raw.Net)
		}
		after := node.Usage(b)
		b.ReportMetric(float64(after.RSS-before.RSS)/1024/n, "KiB/conn")
		b.ReportMetric(float64(after.CPU-before.CPU)/float64(time.Microsecond)/n, "relay-us/login")
		b.ReportMetric(float64(inUse()-heap)/1024/n, "test-KiB/conn")
		for _, c := range conns {
			_ = c.Close() // the relay notices
		}
		conns = conns[:0]
	}
}

// inUse is this process's heap and stacks after a collection, in bytes.
func inUse() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}
