package relay

import (
	"fmt"
	"net/netip"
)

// Settings is what of a Config can change while the relay runs.
type Settings struct {
	PublicURLs     []string       // see Config
	AllowedOrigins []string       // see Config
	TrustedProxies []netip.Prefix // see Config
	// Limits: what a connection was told at its login, and the sizes of queues, stay
	// as they were.
	Limits Limits
	// Admission is as for SetAdmission; nil leaves it as it is.
	Admission *Admission
}

// live is what the relay goes by now. It is replaced as a whole, never changed.
type live struct {
	names   names
	proxies []netip.Prefix
	limits  Limits
}

func (s Settings) live() (*live, error) {
	known, err := newNames(s.PublicURLs, s.AllowedOrigins)
	if err != nil {
		return nil, err
	}
	limits := s.Limits.withDefaults()
	if err := limits.check(); err != nil {
		return nil, err
	}
	return &live{names: known, proxies: s.TrustedProxies, limits: limits}, nil
}

// limits are those of now.
func (r *Relay) limits() *Limits { return &r.live.Load().limits }

// Reload makes the relay go by new settings from the next request on. Peers that are
// connected stay, over a limit that has shrunk too. Settings that are no good change
// nothing.
func (r *Relay) Reload(s Settings) error {
	now, err := s.live()
	if err == nil {
		err = now.limits.checkGuessing(r.cfg.Nodes)
	}
	if err == nil && s.Admission != nil {
		err = r.SetAdmission(*s.Admission)
	}
	if err != nil {
		return fmt.Errorf("reloading: %w", err)
	}
	before := r.live.Swap(now)
	r.guards.set(now.limits)
	if was, is := before.limits, now.limits; was.ChannelQueue != is.ChannelQueue || was.Queue != is.Queue ||
		was.ControlRoom != is.ControlRoom || was.WriteTimeout != is.WriteTimeout || was.Memory != is.Memory || was.Bytes != is.Bytes {
		r.log.Warn("new sizes of queues, of memory, of bytes a second and a new write timeout count from the next start on")
	}
	return nil
}

// set changes the rates. What somebody has spent stays spent.
func (g *guards) set(l Limits) {
	g.loginFailures.setRate(l.LoginFailures)
	g.dialAddrs.setRate(l.Dials)
	g.dials.setRate(l.AllDials)
	g.logins.setRate(l.Logins)
	g.pairAddrs.setRate(l.Pairs)
	g.pairIDs.setRate(l.Pairs)
	g.pairs.setRate(l.AllPairs)
	g.openAddrs.setRate(l.AddressOpens)
	g.openIDs.setRate(l.IdentityOpens)
	g.opens.setRate(l.AllOpens)
}

func (l *limiter[K]) setRate(rate Rate) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rate = rate
}
