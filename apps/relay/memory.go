package relay

import (
	"fmt"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/scorel/scorel/apps/relay/internal/bufpool"
)

const (
	// connCost is what a quiet connection takes, buffers left out: its goroutine's
	// stack, its state, and what the runtime keeps for its socket.
	connCost = 16 << 10
	// minMemory is the least that a relay can work with.
	minMemory = 4 << 20
	// thin is what any peer may hold who takes what it is sent: a large record, or a
	// batch of small ones.
	thin = 160 << 10

	// Shares of the limit, in percent. Who holds much is refused first, so that slow
	// readers alone never shut newcomers out; then new connections, then channels.
	fatShare     = 70
	connShare    = 80
	channelShare = 85
)

// memory is the account of what queues, read buffers and connections hold together.
// It refuses before it is spent:
//
//   - A queue or buffer of more than thin may grow while that, and all of the same
//     kind, leaves 30 % free. It may never hold more than what is left.
//   - Above 80 % no connection is adopted, above 85 % no channel is opened.
//   - The rest is for those who hold little: they are served to the end.
//
// With many slow readers each gets less: the limit over their number. A refused
// record closes its channel with slow_consumer, and what the queue holds is freed by
// its writer, or by WriteTimeout.
type memory struct {
	limit atomic.Int64 // changed by a reload
	pool  *bufpool.Pool
	conns atomic.Int64
}

func (m *memory) used() int64 { return m.pool.Lent() + m.conns.Load()*connCost }

func (m *memory) share(percent int64) int64 { return m.limit.Load() / 100 * percent }

func (m *memory) roomForConn() bool { return m.used() < m.share(connShare) }

func (m *memory) roomForChannel() bool { return m.used() < m.share(channelShare) }

// grants tells whether one who holds so many bytes may have more. Of several who ask
// at the same moment all may be granted: the account can be over by as many buffers
// as there are processors.
func (m *memory) grants(held, more int) bool {
	if m == nil {
		return true
	}
	most := m.limit.Load()
	if held+more > thin {
		most = m.share(fatShare)
	}
	return int64(held+more) <= most-m.used()
}

// checkLimit tells why the limit cannot be one of so many bytes at this time, or nil:
// under less than what is held every channel would close.
func (m *memory) checkLimit(bytes int64) error {
	if used := m.used(); bytes < m.limit.Load() && used > bytes/100*connShare {
		return fmt.Errorf("a memory of %d bytes is too small for the %d that are in use: choose more, or start the relay anew with it", bytes, used)
	}
	return nil
}

// watchMemory shows the account.
func (m *metrics) watchMemory(account *memory) {
	show := func(name, help string, value func() int64) {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "scorel_relay_" + name, Help: help},
			func() float64 { return float64(value()) }))
	}
	show("memory_bytes", "What queues, read buffers and connections hold.", account.used)
	show("memory_limit_bytes", "What they may hold.", account.limit.Load)
}
