package limits

import (
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/scorel/scorel/packages/protocol/ident"
)

// Each limit holds for one address, one identity, or everybody, and for no one else.
func TestLimitsHoldForWhomTheyAreMeant(t *testing.T) {
	const tight, wide = 3, 1000
	rate := func(burst int) Rate { return Rate{Burst: burst, Every: time.Second} }
	here, there, loopback := netip.MustParseAddr("203.0.113.7"), netip.MustParseAddr("203.0.113.8"), netip.MustParseAddr("127.0.0.1")
	one, other := ident.NewID(ident.KindClient, ident.Public{}), ident.NewID(ident.KindDevice, ident.Public{})
	base := Limits{
		LoginFailures: rate(wide), Dials: rate(wide), AllDials: rate(wide), Pairs: rate(wide), AllPairs: rate(wide),
		IdentityOpens: rate(wide), AddressOpens: rate(wide), AllOpens: rate(wide),
	}.WithDefaults()
	dial := func(g *Guards, addr netip.Addr, _ ident.ID) bool { return g.MayDial(addr) == 0 }
	pair := func(g *Guards, addr netip.Addr, id ident.ID) bool { return g.MayPair(id, addr) }
	open := func(g *Guards, addr netip.Addr, id ident.ID) bool { return g.MayOpen(id, addr) }
	type attempt struct {
		addr netip.Addr
		id   ident.ID
	}
	for name, tc := range map[string]struct {
		try     func(*Guards, netip.Addr, ident.ID) bool
		limit   func(*Limits)
		counted attempt // besides here and one: shares their limit
		free    attempt // does not; the zero attempt has no client
	}{
		"logins per address":           {dial, func(l *Limits) { l.Dials = rate(tight) }, attempt{here, other}, attempt{there, one}},
		"logins of this machine":       {dial, func(l *Limits) { l.Dials = rate(tight) }, attempt{here, other}, attempt{loopback, one}},
		"logins of everybody":          {dial, func(l *Limits) { l.AllDials = rate(tight) }, attempt{there, other}, attempt{}},
		"pairs per address":            {pair, func(l *Limits) { l.Pairs = rate(tight) }, attempt{here, other}, attempt{there, other}},
		"pairs of everybody":           {pair, func(l *Limits) { l.AllPairs = rate(tight) }, attempt{there, other}, attempt{}},
		"channels per identity":        {open, func(l *Limits) { l.IdentityOpens = rate(tight) }, attempt{there, one}, attempt{here, other}},
		"channels per address":         {open, func(l *Limits) { l.AddressOpens = rate(tight) }, attempt{here, other}, attempt{there, one}},
		"channels of everybody":        {open, func(l *Limits) { l.AllOpens = rate(tight) }, attempt{there, other}, attempt{}},
		"channels: this machine's too": {open, func(l *Limits) { l.AllOpens = rate(tight) }, attempt{loopback, other}, attempt{}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				limits := base
				tc.limit(&limits)
				g := NewGuards(limits)
				for i := range tight {
					if !tc.try(&g, here, one) {
						t.Fatalf("attempt %d is refused", i)
					}
				}
				for _, a := range []attempt{{here, one}, tc.counted} {
					if tc.try(&g, a.addr, a.id) {
						t.Errorf("%v is not limited", a)
					}
				}
				if tc.free != (attempt{}) && !tc.try(&g, tc.free.addr, tc.free.id) {
					t.Errorf("%v is limited", tc.free)
				}
				<-time.After(time.Second) // virtual
				if !tc.try(&g, here, one) {
					t.Error("the limit does not grow back")
				}
			})
		})
	}
}
