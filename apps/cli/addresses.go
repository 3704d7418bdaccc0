package cli

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/scorel/scorel/packages/mdns"
)

// reached is where other machines reach the listeners of a host. Listeners on all addresses
// follow the addresses of this machine: it joins other networks while the host runs.
type reached struct {
	listens []netip.AddrPort // listeners for other machines
	fixed   []string         // URLs that --public-url names
	// addresses returns those of this machine; nil means net.InterfaceAddrs.
	addresses func() ([]net.Addr, error)
	ticks     <-chan time.Time // when to look; nil means every lookAgain
	now       atomic.Pointer[[]string]
	reload    chan os.Signal // has the relay read its names again
}

// URLs returns the URLs of now.
func (r *reached) URLs() []string {
	if urls := r.now.Load(); urls != nil {
		return *urls
	}
	return r.fixed
}

// add adds a listener of the local network, which must have an address there now.
func (r *reached) add(addr net.Addr) error {
	at, err := netip.ParseAddrPort(addr.String())
	if err != nil {
		return fmt.Errorf("reading the address of a listener: %w", err)
	}
	at = netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
	places, err := r.placesOf(at)
	if err != nil {
		return err
	}
	if len(places) == 0 {
		return usagef("--listen %s: this machine has no address in a local network; name an address of it, or use a relay", addr)
	}
	r.listens = append(r.listens, at)
	_, err = r.look()
	return err
}

// places returns where the listeners are reached now.
func (r *reached) places() ([]netip.AddrPort, error) {
	var all []netip.AddrPort
	for _, at := range r.listens {
		places, err := r.placesOf(at)
		if err != nil {
			return nil, err
		}
		all = append(all, places...)
	}
	return all, nil
}

// placesOf returns where a listener is reached now: at its address, or at every one in a local
// network if it listens on all addresses.
func (r *reached) placesOf(at netip.AddrPort) ([]netip.AddrPort, error) {
	if !at.Addr().IsUnspecified() {
		return []netip.AddrPort{at}, nil
	}
	list := r.addresses
	if list == nil {
		list = net.InterfaceAddrs
	}
	known, err := list()
	if err != nil {
		return nil, fmt.Errorf("listing the addresses of this machine: %w", err)
	}
	var places []netip.AddrPort
	for _, one := range known {
		prefix, err := netip.ParsePrefix(one.String())
		if ip := prefix.Addr().Unmap(); err == nil && mdns.Local(ip) && (ip.Is4() || at.Addr().Is6()) {
			places = append(places, netip.AddrPortFrom(ip, at.Port()))
		}
	}
	return places, nil
}

// look updates the URLs and reports whether they changed.
func (r *reached) look() (changed bool, err error) {
	places, err := r.places()
	if err != nil {
		return false, err
	}
	urls := make([]string, 0, len(places)+len(r.fixed))
	for _, place := range places {
		urls = append(urls, "http://"+place.String())
	}
	urls = append(urls, r.fixed...)
	changed = !slices.Equal(urls, r.URLs())
	r.now.Store(&urls)
	return changed, nil
}

// lookAgain is how soon a change of the addresses is noticed.
const lookAgain = 10 * time.Second

// follow notices changes of the addresses until ctx ends: first the relay gets the new names,
// then the clients. One goroutine calls it.
func (r *reached) follow(ctx context.Context, changed func(), logger *slog.Logger) {
	ticks := r.ticks
	if ticks == nil {
		ticker := time.NewTicker(lookAgain)
		defer ticker.Stop()
		ticks = ticker.C
	}
	for {
		select {
		case <-ticks:
		case <-ctx.Done():
			return
		}
		differs, err := r.look()
		if err != nil {
			logger.Warn("following the addresses of this machine", "error", err)
			continue
		}
		if !differs {
			continue
		}
		logger.Info("the addresses of this machine changed", "urls", r.URLs())
		select {
		case r.reload <- syscall.SIGHUP:
		case <-ctx.Done():
			return
		}
		changed()
	}
}
