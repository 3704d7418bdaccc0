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
	// Limits hold from the next request, frame or write on; sizes of queues for each
	// queue when it is empty next.
	Limits Limits
	Nodes  int // see Config
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

// Check tells what is wrong with settings that can be seen without a relay.
func (s Settings) Check() error {
	_, err := s.live()
	return err
}

// limits are those of now.
func (r *Relay) limits() *Limits { return &r.live.Load().limits }

// Reload makes the relay go by new settings from now on. Peers that are connected
// stay, over a limit that has shrunk too. Settings that are no good change nothing;
// among them is less memory than what is in use needs.
func (r *Relay) Reload(s Settings) error {
	r.reloading.Lock()
	defer r.reloading.Unlock()
	now, err := s.live()
	if err == nil {
		err = now.limits.checkGuessing(nodesOr(s.Nodes, r.cfg.Bus))
	}
	if err == nil {
		err = r.memory.checkLimit(now.limits.Memory)
	}
	if err == nil && s.Admission != nil {
		err = r.SetAdmission(*s.Admission)
	}
	if err != nil {
		return fmt.Errorf("reloading: %w", err)
	}
	r.live.Store(now)
	r.guards.set(now.limits)
	r.memory.limit.Store(now.limits.Memory)
	queues, trunkQueues := now.limits.ofQueues(), now.limits.ofTrunkQueues()
	r.queues.limits.Store(&queues)
	r.trunkQueues.limits.Store(&trunkQueues)
	r.pace.Store(r.pace.Load().with(now.limits.Bytes))
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
