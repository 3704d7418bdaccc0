package bufpool

import "testing"

func TestGetReturnsTheSmallestSizeThatFits(t *testing.T) {
	var p Pool
	for _, tc := range []struct{ n, want int }{
		{0, Small}, {Small, Small}, {Small + 1, Medium}, {Medium, Medium}, {Medium + 1, Large}, {Large * 2, Large},
	} {
		b := p.Get(tc.n)
		if len(b) != 0 || cap(b) != tc.want {
			t.Errorf("Get(%d): len %d cap %d, want 0 and %d", tc.n, len(b), cap(b), tc.want)
		}
		p.Put(b)
	}
}

func TestPutRefusesForeignBuffers(t *testing.T) {
	var p Pool
	p.Put(make([]byte, 0, 7))
	if b := p.Get(1); cap(b) != Small {
		t.Fatalf("cap %d after a foreign buffer was put, want %d", cap(b), Small)
	}
}

func TestRoundTripAllocatesNothing(t *testing.T) {
	var p Pool
	p.Put(p.Get(Large))
	if n := testing.AllocsPerRun(100, func() { p.Put(p.Get(Large)) }); n >= 1 {
		t.Fatalf("%v allocations per loan, want 0", n)
	}
}
