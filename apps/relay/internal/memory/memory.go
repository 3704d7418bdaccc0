// Package memory accounts for what a relay holds for its peers in queues, read
// buffers and connections, and rejects new work before the limit is reached:
//
//   - A queue or buffer that holds more than a small share may grow while all memory
//     together stays under 70 % of the limit, and never beyond what is left.
//   - Above 80 % no connection is accepted, above 85 % no channel is opened.
//   - The rest is for peers that hold little, which are served to the end.
//
// With many slow readers each of them gets less: the limit divided by their number. A
// rejected record closes its channel with slow_consumer. What the queue holds is freed by
// its writer, or by the write timeout.
package memory

import (
	"fmt"
	"sync/atomic"

	"github.com/scorel/scorel/apps/relay/internal/bufpool"
)

const (
	// connCost is what a quiet connection takes in bytes, buffers left out: the stack of
	// its goroutine, its state, and what the runtime keeps for its socket.
	connCost = 16 << 10
	// small is how much any peer may hold that reads what it is sent: one large record,
	// or a batch of small ones.
	small = 160 << 10

	// Shares of the limit, in percent. The order matters: peers that hold much are
	// rejected first, so that slow readers alone never keep out new peers.
	growShare    = 70
	connShare    = 80
	channelShare = 85
)

// Account is the memory of one relay. It is safe for concurrent use. A nil Account grants
// everything.
type Account struct {
	pool  *bufpool.Pool
	limit atomic.Int64
	conns atomic.Int64
}

// New returns an account of a pool's buffers and of connections, with a limit in bytes.
func New(pool *bufpool.Pool, limit int64) *Account {
	a := &Account{pool: pool}
	a.limit.Store(limit)
	return a
}

// Used is how many bytes are held.
func (a *Account) Used() int64 { return a.pool.Lent() + a.conns.Load()*connCost }

// Limit is how many bytes may be held.
func (a *Account) Limit() int64 { return a.limit.Load() }

// SetLimit changes the limit. Call CheckLimit first.
func (a *Account) SetLimit(bytes int64) { a.limit.Store(bytes) }

// AddConns counts n more connections, or fewer if n is negative.
func (a *Account) AddConns(n int) { a.conns.Add(int64(n)) }

// Share is a share of the limit in bytes.
func (a *Account) Share(percent int64) int64 { return a.limit.Load() / 100 * percent }

// RoomForConn reports whether another connection may be accepted.
func (a *Account) RoomForConn() bool { return a.Used() < a.Share(connShare) }

// RoomForChannel reports whether another channel may be opened.
func (a *Account) RoomForChannel() bool { return a.Used() < a.Share(channelShare) }

// Grants reports whether a holder of so many bytes may have more. Several callers at the
// same moment may all be granted, so the account can exceed its limit by one buffer for
// each processor.
func (a *Account) Grants(held, more int) bool {
	if a == nil {
		return true
	}
	most := a.limit.Load()
	if held+more > small {
		most = a.Share(growShare)
	}
	return int64(held+more) <= most-a.Used()
}

// CheckLimit returns an error if the limit cannot be lowered to so many bytes now, because
// more than that is in use and every channel would close.
func (a *Account) CheckLimit(bytes int64) error {
	if used := a.Used(); bytes < a.limit.Load() && used > bytes/100*connShare {
		return fmt.Errorf("a memory limit of %d bytes is too small for the %d bytes in use: choose a higher limit, or restart the relay with this one", bytes, used)
	}
	return nil
}
