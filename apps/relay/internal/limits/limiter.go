package limits

import (
	"sync"
	"time"
)

// Bucket is a token bucket. The zero bucket is full. It is not safe for concurrent use.
type Bucket struct {
	spent float64 // tokens that were taken and have not been refilled
	last  time.Time
}

// Take takes one token at now. It reports whether there was one.
func (b *Bucket) Take(rate Rate, now time.Time) bool {
	b.refill(rate, now)
	if b.spent+1 > float64(rate.Burst) {
		return false
	}
	b.spent++
	return true
}

// Owe takes n tokens even if the bucket has fewer, and returns how long it takes to
// refill the deficit.
func (b *Bucket) Owe(n float64, rate Rate, now time.Time) time.Duration {
	b.refill(rate, now)
	b.spent += n
	return time.Duration(max(0, b.spent-float64(rate.Burst)) * float64(rate.Every))
}

// left reports whether there is a token, without taking it.
func (b *Bucket) left(rate Rate, now time.Time) bool {
	b.refill(rate, now)
	return b.spent+1 <= float64(rate.Burst)
}

func (b *Bucket) refill(rate Rate, now time.Time) {
	if elapsed := now.Sub(b.last); elapsed > 0 {
		b.spent = max(0, b.spent-float64(elapsed)/float64(rate.Every))
	}
	b.last = now
}

// maxBuckets bounds the memory that an attacker with many addresses can use.
const maxBuckets = 1 << 16

// limiter holds one bucket per key. When more keys than maxBuckets have spent tokens at
// the same time, the other keys share one bucket: during such a flood new keys wait,
// memory does not grow, and no key exceeds the rate.
type limiter[K comparable] struct {
	mu      sync.Mutex
	rate    Rate
	buckets map[K]*Bucket
	shared  Bucket
	most    int
}

func newLimiter[K comparable](rate Rate) *limiter[K] {
	return &limiter[K]{rate: rate, buckets: make(map[K]*Bucket), most: maxBuckets}
}

// take takes one token of key. It reports whether there was one.
func (l *limiter[K]) take(key K) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	return l.bucket(key, now).Take(l.rate, now)
}

// owe is Bucket.Owe for key.
func (l *limiter[K]) owe(key K, n float64) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	return l.bucket(key, now).Owe(n, l.rate, now)
}

// left reports whether key has a token, without taking it.
func (l *limiter[K]) left(key K) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	b, known := l.buckets[key]
	return !known || b.left(l.rate, now)
}

func (l *limiter[K]) bucket(key K, now time.Time) *Bucket {
	if b, ok := l.buckets[key]; ok {
		return b
	}
	if len(l.buckets) >= l.most && !l.sweep(now) {
		return &l.shared
	}
	b := &Bucket{last: now}
	l.buckets[key] = b
	return b
}

// sweep removes the keys whose buckets are full again.
func (l *limiter[K]) sweep(now time.Time) bool {
	for key, b := range l.buckets {
		if b.refill(l.rate, now); b.spent == 0 {
			delete(l.buckets, key)
		}
	}
	return len(l.buckets) < l.most
}

// setRate changes the rate. Spent tokens stay spent.
func (l *limiter[K]) setRate(rate Rate) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rate = rate
}
