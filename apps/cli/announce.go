package cli

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/packages/client/paths"
	"github.com/scorel/scorel/packages/mdns"
	"github.com/scorel/scorel/packages/protocol/ident"
)

func addAnnounce(cmd *cobra.Command, announce *bool) {
	cmd.Flags().BoolVar(announce, "announce", false, "announce the id of this device on the local network (mDNS), so that paired machines find it there; needs --listen with an IPv4 address of that network")
}

// checkAnnounce reports that a command listens nowhere that could be announced.
func checkAnnounce(announce bool, listens []netip.AddrPort) error {
	possible := func(at netip.AddrPort) bool {
		ip := at.Addr().Unmap()
		return ip.IsUnspecified() || ip.Is4() && mdns.Local(ip)
	}
	if !announce || slices.ContainsFunc(listens, possible) {
		return nil
	}
	return usagef("--announce needs a listener in the local network: add --listen with an IPv4 address of this machine there, as in --listen 192.168.1.5:7430")
}

// startAnnouncing announces the places where this process listens, until the part is stopped.
func startAnnouncing(ctx context.Context, network mdns.Network, device ident.ID, places func() []netip.AddrPort, logger *slog.Logger) (*part, error) {
	announcer, err := mdns.Open(network, device, places, logger)
	if err != nil {
		return nil, fmt.Errorf("%w; start without --announce to use known paths only", err)
	}
	return startPart(context.WithoutCancel(ctx), announcer.Run), nil
}

// announced returns where the listeners are reached over IPv4 now.
func (r *reached) announced() []netip.AddrPort {
	places, err := r.places()
	if err != nil {
		return nil // asked again soon
	}
	return slices.DeleteFunc(places, func(at netip.AddrPort) bool { return !at.Addr().Is4() })
}

// finder looks for a device on the local network; nil if the user does not want it.
func (c connector) finder(device ident.ID) func(context.Context) []paths.Path {
	if c.env.findsNothing() {
		return nil
	}
	return paths.Finder(c.network, device)
}

// findsNothing reports whether the user turned searches of the local network off.
func (env *environment) findsNothing() bool { return env.getenv("SCOREL_MDNS") == "off" }
