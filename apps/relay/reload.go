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
}

// live is what the relay goes by now. It is replaced as a whole, never changed.
type live struct {
	names   names
	proxies []netip.Prefix
}

func (s Settings) live() (*live, error) {
	known, err := newNames(s.PublicURLs, s.AllowedOrigins)
	if err != nil {
		return nil, err
	}
	return &live{names: known, proxies: s.TrustedProxies}, nil
}

// Reload makes the relay go by new settings from the next request on. Peers that are
// connected stay. Settings that are no good change nothing.
func (r *Relay) Reload(s Settings) error {
	now, err := s.live()
	if err != nil {
		return fmt.Errorf("reloading: %w", err)
	}
	r.live.Store(now)
	return nil
}
