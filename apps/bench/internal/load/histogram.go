package load

import "math/bits"

// subBuckets per power of two: a bucket is at most 1.6 % wide.
const subBuckets = 64

// Histogram counts durations in nanoseconds.
type Histogram struct {
	counts [42 * subBuckets]uint32 // up to 2^47 ns
	total  uint64
}

// Add counts one duration.
func (h *Histogram) Add(nanos int64) {
	h.counts[bucket(uint64(max(nanos, 0)))]++
	h.total++
}

// Merge adds the counts of another.
func (h *Histogram) Merge(other *Histogram) {
	for i, n := range other.counts {
		h.counts[i] += n
	}
	h.total += other.total
}

// Total is how many were counted.
func (h *Histogram) Total() uint64 { return h.total }

// Quantile returns the duration in nanoseconds that a share q of all does not
// exceed, as the middle of its bucket; 0 when nothing was counted.
func (h *Histogram) Quantile(q float64) int64 {
	want := uint64(q * float64(h.total))
	var seen uint64
	for i, n := range h.counts {
		if seen += uint64(n); n > 0 && seen > want {
			return (lowest(i) + lowest(i+1)) / 2
		}
	}
	return 0
}

func bucket(v uint64) int {
	if v < subBuckets {
		return int(v)
	}
	shift := bits.Len64(v) - 7 // leaves 64 to 127
	return min(shift*subBuckets+int(v>>shift), len(Histogram{}.counts)-1)
}

// lowest is the smallest value of a bucket.
func lowest(i int) int64 {
	if i < 2*subBuckets {
		return int64(i)
	}
	shift := i/subBuckets - 1
	return int64(i%subBuckets+subBuckets) << shift
}
