package limits

import (
	"net/http"
	"net/netip"

	"github.com/scorel/scorel/packages/protocol/ident"
)

// Guards are the rate limits that outlive a connection. It is safe for concurrent use.
type Guards struct {
	loginFailures *limiter[netip.Addr]
	dialAddrs     *limiter[netip.Addr]
	dials         *limiter[everyone]
	logins        *limiter[ident.ID]
	pairAddrs     *limiter[netip.Addr]
	pairIDs       *limiter[ident.ID]
	pairs         *limiter[everyone]
	claimAddrs    *limiter[netip.Addr]
	claimIDs      *limiter[ident.ID]
	claims        *limiter[everyone]
	openAddrs     *limiter[netip.Addr]
	openIDs       *limiter[ident.ID]
	opens         *limiter[everyone]
}

// everyone is the key of a limit that all peers share.
type everyone struct{}

// NewGuards returns guards of which nothing is used up.
func NewGuards(l Limits) Guards {
	return Guards{
		loginFailures: newLimiter[netip.Addr](l.LoginFailures),
		dialAddrs:     newLimiter[netip.Addr](l.Dials),
		dials:         newLimiter[everyone](l.AllDials),
		logins:        newLimiter[ident.ID](l.Logins),
		pairAddrs:     newLimiter[netip.Addr](l.Pairs),
		pairIDs:       newLimiter[ident.ID](l.Pairs),
		pairs:         newLimiter[everyone](l.AllPairs),
		claimAddrs:    newLimiter[netip.Addr](l.Pairs),
		claimIDs:      newLimiter[ident.ID](l.Pairs),
		claims:        newLimiter[everyone](l.AllPairs),
		openAddrs:     newLimiter[netip.Addr](l.AddressOpens),
		openIDs:       newLimiter[ident.ID](l.IdentityOpens),
		opens:         newLimiter[everyone](l.AllOpens),
	}
}

// MayDial counts a new connection against the limits of its address and of the relay. It
// returns the HTTP status to reject it with, or 0.
func (g *Guards) MayDial(addr netip.Addr) int {
	switch {
	case !g.loginFailures.left(addr), !addr.IsLoopback() && !g.dialAddrs.take(addr):
		return http.StatusTooManyRequests
	case !g.dials.take(everyone{}):
		return http.StatusServiceUnavailable
	}
	return 0
}

// LoginFailed counts a failed login against its address.
func (g *Guards) LoginFailed(addr netip.Addr) { g.loginFailures.take(addr) }

// MayLogin counts a login against its identity.
func (g *Guards) MayLogin(id ident.ID) bool { return g.logins.take(id) }

// MayOpen counts a channel against the limits of its identity, its address and the relay.
func (g *Guards) MayOpen(id ident.ID, addr netip.Addr) bool {
	return g.openIDs.take(id) && (addr.IsLoopback() || g.openAddrs.take(addr)) && g.opens.take(everyone{})
}

// MayPair counts an attempt to pair against the limits of its address, its identity and
// the relay.
func (g *Guards) MayPair(id ident.ID, addr netip.Addr) bool {
	return g.pairAddrs.take(addr) && g.pairIDs.take(id) && g.pairs.take(everyone{})
}

// MayClaim is MayPair for claims of signed bindings. They are counted apart, so that
// neither can keep people from the other.
func (g *Guards) MayClaim(id ident.ID, addr netip.Addr) bool {
	return g.claimAddrs.take(addr) && g.claimIDs.take(id) && g.claims.take(everyone{})
}

// Set changes the rates. Spent tokens stay spent.
func (g *Guards) Set(l Limits) {
	g.loginFailures.setRate(l.LoginFailures)
	g.dialAddrs.setRate(l.Dials)
	g.dials.setRate(l.AllDials)
	g.logins.setRate(l.Logins)
	g.pairAddrs.setRate(l.Pairs)
	g.pairIDs.setRate(l.Pairs)
	g.pairs.setRate(l.AllPairs)
	g.claimAddrs.setRate(l.Pairs)
	g.claimIDs.setRate(l.Pairs)
	g.claims.setRate(l.AllPairs)
	g.openAddrs.setRate(l.AddressOpens)
	g.openIDs.setRate(l.IdentityOpens)
	g.opens.setRate(l.AllOpens)
}
