package gcpace

import (
	"runtime"
	"runtime/debug"
	"testing"
	"testing/synctest"
	"time"
)

func TestPercentFor(t *testing.T) {
	for live, want := range map[uint64]int{
		0: 3200, 1 << 20: 3200, 4 << 20: 800, 16 << 20: 200, 32 << 20: 100, 40 << 20: 100, 8 << 30: 100,
	} {
		if got := percentFor(live); got != want {
			t.Errorf("%d live bytes: %d %%, want %d", live, got, want)
		}
	}
}

// percent reads the pace without changing it.
func percent() int {
	was := debug.SetGCPercent(100)
	debug.SetGCPercent(was)
	return was
}

func TestStartFollowsTheHeapAndRestores(t *testing.T) {
	t.Setenv("GOGC", "")
	t.Setenv("GOMEMLIMIT", "")
	runtime.GC() // what other tests held is no more
	before := percent()
	synctest.Test(t, func(t *testing.T) {
		stop := Start(t.Context())
		synctest.Wait()
		small := percent()
		if small <= usualPercent {
			t.Errorf("a small heap is collected at %d %%", small)
		}
		held := make([]byte, 64<<20)
		runtime.GC()
		time.Sleep(2 * period) // the bubble's clock
		if got := percent(); got != usualPercent {
			t.Errorf("with 64 MiB in use it is collected at %d %%", got)
		}
		runtime.KeepAlive(held)
		stop()
	})
	if got := percent(); got != before {
		t.Errorf("the pace is %d %% afterwards, %d before", got, before)
	}
}

func TestAChosenPaceIsLeftAlone(t *testing.T) {
	t.Setenv("GOGC", "off")
	before := percent()
	stop := Start(t.Context())
	defer stop()
	if got := percent(); got != before {
		t.Errorf("the pace is %d %%, was %d", got, before)
	}
}
