// Package gcpace keeps the garbage collector of a small and busy process from
// running more often than is worth it. It changes what belongs to the whole process,
// so only a command uses it.
package gcpace

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// slack is how much may be allocated between two collections at least, in bytes.
	// What other relay nodes send comes in messages that the bus's client
	// allocates: a busy node with its few MiB of live heap would collect dozens of
	// times a second, which cost a tenth of its CPU time.
	slack = 32 << 20
	// usualPercent is Go's own: as much as is live.
	usualPercent = 100
	// period is how often the pace is set anew.
	period = 5 * time.Second
)

// percentFor is what debug.SetGCPercent gets for so many live bytes: Go's own
// pace once that alone leaves the slack, so that a large heap costs no more memory
// than it would anyway.
func percentFor(live uint64) int {
	const floor = 1 << 20 // an empty heap has no percentage
	return max(usualPercent, int(slack*100/max(live, floor)))
}

// Start keeps the garbage collector of this process from running more often
// than once for each 32 MiB that are allocated, until the function that it returns
// is called, which restores the pace and waits. A pace that was chosen with GOGC or
// GOMEMLIMIT is left alone.
func Start(ctx context.Context) (stop func()) {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		pace(ctx)
	}()
	return func() {
		cancel()
		<-ended
	}
}

func pace(ctx context.Context) {
	set := percentFor(liveHeap())
	defer debug.SetGCPercent(debug.SetGCPercent(set))
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if wanted := percentFor(liveHeap()); wanted != set { // each call stops the world for a moment
			debug.SetGCPercent(wanted)
			set = wanted
		}
	}
}

// liveHeap is what the last collection found in use, in bytes.
func liveHeap() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return sample[0].Value.Uint64()
}
