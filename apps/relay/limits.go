package relay

import (
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/scorel/scorel/packages/protocol/ident"
)

// bucket is a token bucket. The zero bucket is full. Its owner guards it.
type bucket struct {
	spent float64 // tokens taken and not yet grown back
	last  time.Time
}

// take takes one token at now, or reports that there is none.
func (b *bucket) take(rate Rate, now time.Time) bool {
	b.refill(rate, now)
	if b.spent+1 > float64(rate.Burst) {
		return false
	}
	b.spent++
	return true
}

// owe takes n tokens, whether they are there or not, and returns how long it takes
// until the debt is paid off.
func (b *bucket) owe(n float64, rate Rate, now time.Time) time.Duration {
	b.refill(rate, now)
	b.spent += n
	return time.Duration(max(0, b.spent-float64(rate.Burst)) * float64(rate.Every))
}

// left tells whether a token is there, without taking it.
func (b *bucket) left(rate Rate, now time.Time) bool {
	b.refill(rate, now)
	return b.spent+1 <= float64(rate.Burst)
}

func (b *bucket) refill(rate Rate, now time.Time) {
	if elapsed := now.Sub(b.last); elapsed > 0 {
		b.spent = max(0, b.spent-float64(elapsed)/float64(rate.Every))
	}
	b.last = now
}

// maxBuckets bounds what an attacker with many addresses can make us remember.
const maxBuckets = 1 << 16

// limiter holds one bucket per key. When more keys than maxBuckets are in debt
// at once, the rest share one bucket: under such a flood strangers wait, memory
// does not grow, and nobody gets more than the rate.
type limiter[K comparable] struct {
	mu      sync.Mutex
	rate    Rate
	buckets map[K]*bucket
	shared  bucket
	most    int
}

func newLimiter[K comparable](rate Rate) *limiter[K] {
	return &limiter[K]{rate: rate, buckets: make(map[K]*bucket), most: maxBuckets}
}

// take takes one token of key, or reports that there is none.
func (l *limiter[K]) take(key K) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	return l.bucket(key, now).take(l.rate, now)
}

// owe is bucket.owe for key.
func (l *limiter[K]) owe(key K, n float64) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	return l.bucket(key, now).owe(n, l.rate, now)
}

// left tells whether key has a token, without taking it.
func (l *limiter[K]) left(key K) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	b, known := l.buckets[key]
	return !known || b.left(l.rate, now)
}

func (l *limiter[K]) bucket(key K, now time.Time) *bucket {
	if b, ok := l.buckets[key]; ok {
		return b
	}
	if len(l.buckets) >= l.most && !l.sweep(now) {
		return &l.shared
	}
	b := &bucket{last: now}
	l.buckets[key] = b
	return b
}

// sweep forgets the keys whose buckets are full again.
func (l *limiter[K]) sweep(now time.Time) bool {
	for key, b := range l.buckets {
		if b.refill(l.rate, now); b.spent == 0 {
			delete(l.buckets, key)
		}
	}
	return len(l.buckets) < l.most
}

// guards are the limits that outlive a connection.
type guards struct {
	loginFailures *limiter[netip.Addr]
	dialAddrs     *limiter[netip.Addr]
	dials         *limiter[everybody]
	logins        *limiter[ident.ID]
	pairAddrs     *limiter[netip.Addr]
	pairIDs       *limiter[ident.ID]
	pairs         *limiter[everybody]
	openAddrs     *limiter[netip.Addr]
	openIDs       *limiter[ident.ID]
	opens         *limiter[everybody]
}

// everybody is the key of a limit that all share.
type everybody struct{}

func newGuards(l Limits) guards {
	return guards{
		loginFailures: newLimiter[netip.Addr](l.LoginFailures),
		dialAddrs:     newLimiter[netip.Addr](l.Dials),
		dials:         newLimiter[everybody](l.AllDials),
		logins:        newLimiter[ident.ID](l.Logins),
		pairAddrs:     newLimiter[netip.Addr](l.Pairs),
		pairIDs:       newLimiter[ident.ID](l.Pairs),
		pairs:         newLimiter[everybody](l.AllPairs),
		openAddrs:     newLimiter[netip.Addr](l.AddressOpens),
		openIDs:       newLimiter[ident.ID](l.IdentityOpens),
		opens:         newLimiter[everybody](l.AllOpens),
	}
}

// mayDial counts a connection that is begun against its address and everybody. It
// returns the HTTP status to refuse it with, or 0.
func (g *guards) mayDial(addr netip.Addr) int {
	switch {
	case !g.loginFailures.left(addr), !addr.IsLoopback() && !g.dialAddrs.take(addr):
		return http.StatusTooManyRequests
	case !g.dials.take(everybody{}):
		return http.StatusServiceUnavailable
	}
	return 0
}

// mayOpen counts a channel against its identity, its address and everybody.
func (g *guards) mayOpen(id ident.ID, addr netip.Addr) bool {
	return g.openIDs.take(id) && (addr.IsLoopback() || g.openAddrs.take(addr)) && g.opens.take(everybody{})
}

// mayPair counts an attempt to pair against its address, its identity and everybody.
func (g *guards) mayPair(id ident.ID, addr netip.Addr) bool {
	return g.pairAddrs.take(addr) && g.pairIDs.take(id) && g.pairs.take(everybody{})
}

// addressKey is what counts as one address: an IPv6 subscriber has a /64.
func addressKey(addr netip.Addr) netip.Addr {
	if addr.Is6() && !addr.Is4In6() {
		if prefix, err := addr.WithZone("").Prefix(64); err == nil {
			return prefix.Addr()
		}
	}
	return addr.Unmap()
}
