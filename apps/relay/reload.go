package relay

import (
	"fmt"
	"net/netip"

	"github.com/scorel/scorel/apps/relay/internal/authority"
)

// Settings is the part of a Config that can change while the relay runs.
type Settings struct {
	PublicURLs     []string       // see Config
	AllowedOrigins []string       // see Config
	TrustedProxies []netip.Prefix // see Config
	// Limits apply from the next request, frame or write on; queue sizes apply to
	// each queue the next time it is empty.
	Limits Limits
	Nodes  int // see Config
	// Admission is as for SetAdmission; nil leaves it as it is.
	Admission *Admission
}

// live is the settings in use. It is replaced as a whole, never changed.
type live struct {
	names   authority.Names
	proxies []netip.Prefix
	limits  Limits
}

func (s Settings) live() (*live, error) {
	known, err := authority.New(s.PublicURLs, s.AllowedOrigins)
	if err != nil {
		return nil, err
	}
	limits := s.Limits.WithDefaults()
	if err := limits.Check(); err != nil {
		return nil, err
	}
	return &live{names: known, proxies: s.TrustedProxies, limits: limits}, nil
}

// Check returns an error for settings that are invalid for any relay.
func (s Settings) Check() error {
	_, err := s.live()
	return err
}

// limits returns the current limits.
func (r *Relay) limits() *Limits { return &r.live.Load().limits }

// Reload applies new settings. Connected peers stay, even over a lowered limit.
// Invalid settings change nothing; that includes less memory than is in use.
func (r *Relay) Reload(s Settings) error {
	r.reloading.Lock()
	defer r.reloading.Unlock()
	now, err := s.live()
	if err == nil {
		err = now.limits.CheckGuessing(nodesOr(s.Nodes, r.cfg.Bus))
	}
	if err == nil {
		err = r.memory.CheckLimit(now.limits.Memory)
	}
	if err == nil && s.Admission != nil {
		err = r.SetAdmission(*s.Admission)
	}
	if err != nil {
		return fmt.Errorf("reloading: %w", err)
	}
	r.live.Store(now)
	r.guards.Set(now.limits)
	r.memory.SetLimit(now.limits.Memory)
	r.queues.SetLimits(peerQueues(now.limits))
	r.trunkQueues.SetLimits(trunkQueues(now.limits))
	r.conns.Pace.Store(r.conns.Pace.Load().With(now.limits.Bytes))
	return nil
}
