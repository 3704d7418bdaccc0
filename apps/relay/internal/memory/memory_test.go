package memory

import (
	"testing"

	"github.com/scorel/scorel/apps/relay/internal/bufpool"
)

func TestSharesAreReservedInOrder(t *testing.T) {
	pool := new(bufpool.Pool)
	a := New(pool, 64<<20)
	for _, tc := range []struct {
		percent                    int64
		conn, channel, small, grow bool
	}{
		{0, true, true, true, true},
		{70, true, true, true, false},
		{80, false, true, true, false},
		{85, false, false, true, false},
		{100, false, false, false, false},
	} {
		var held [][]byte
		for a.Used() < a.Share(tc.percent) {
			held = append(held, pool.Get(bufpool.Large))
		}
		if conn, channel := a.RoomForConn(), a.RoomForChannel(); conn != tc.conn || channel != tc.channel {
			t.Errorf("at %d %%: room for a connection %v, a channel %v; want %v, %v", tc.percent, conn, channel, tc.conn, tc.channel)
		}
		if small, grow := a.Grants(0, bufpool.Small), a.Grants(1<<20, bufpool.Small); small != tc.small || grow != tc.grow {
			t.Errorf("at %d %%: a small holder gets more %v, a large one %v; want %v, %v", tc.percent, small, grow, tc.small, tc.grow)
		}
		for _, b := range held {
			pool.Put(b)
		}
	}
	a.AddConns(3)
	if a.Used() != 3*connCost {
		t.Errorf("three connections take %d bytes", a.Used())
	}
	if a.AddConns(-3); a.Used() != 0 {
		t.Errorf("%d bytes were never given back", a.Used())
	}
	if unlimited := (*Account)(nil); !unlimited.Grants(1<<40, 1) {
		t.Error("no account grants nothing")
	}
}

func TestLimitMayNotShrinkBelowWhatIsInUse(t *testing.T) {
	pool := new(bufpool.Pool)
	a := New(pool, 64<<20)
	for a.Used() < a.Share(50) {
		defer pool.Put(pool.Get(bufpool.Large))
	}
	if err := a.CheckLimit(32 << 20); err == nil {
		t.Error("a limit of what is in use passes")
	}
	for _, bytes := range []int64{48 << 20, 256 << 20} {
		if err := a.CheckLimit(bytes); err != nil {
			t.Error(err)
		}
	}
}
