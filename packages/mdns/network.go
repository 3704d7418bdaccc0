// Package mdns announces a device on the local network and finds announced devices, with
// multicast DNS (RFC 6762) and DNS-SD (RFC 6763) over IPv4.
//
// Nothing in an answer is trusted. Anybody on the local network can answer, so a found address
// is only one to try: the seal to the pinned keys decides whether the device is there. An
// answer can name no address but the one that it came from, that address must be of a local
// network that this machine is in, and the number of answers is limited. No text of an answer
// is passed on.
package mdns

import (
	"fmt"
	"net"
	"net/netip"
	"runtime"

	"golang.org/x/net/ipv4"
)

// service is the type under which devices are announced.
const service = "_scorel._tcp.local."

// port is the port of multicast DNS.
const port = 5353

// Network is where to ask and answer. The zero value is the local networks of this machine.
type Network struct {
	Group      netip.AddrPort                // nil is that of multicast DNS
	Interfaces func() ([]Interface, error)   // nil lists those of this machine
	Local      func(address netip.Addr) bool // reports whether an address may be tried; nil is Local
}

// Interface is a network that this machine is in.
type Interface struct {
	Index    int
	Networks []netip.Prefix // with this machine's address in each
}

func (n Network) withDefaults() Network {
	if !n.Group.IsValid() {
		n.Group = netip.AddrPortFrom(netip.AddrFrom4([4]byte{224, 0, 0, 251}), port)
	}
	if n.Interfaces == nil {
		n.Interfaces = interfaces
	}
	if n.Local == nil {
		n.Local = Local
	}
	return n
}

// shared is the range for carriers' and overlay networks.
var shared = netip.MustParsePrefix("100.64.0.0/10")

// Local reports whether only machines of a local network reach an address. Addresses that
// need a zone are left out: a URL has no place for it.
func Local(ip netip.Addr) bool {
	return ip.IsPrivate() || shared.Contains(ip) || ip.Is4() && ip.IsLinkLocalUnicast()
}

// interfaces returns the networks of this machine that know multicast.
func interfaces() ([]Interface, error) {
	all, err := net.Interfaces()
	if err != nil {
		return nil, fmt.Errorf("listing the networks of this machine: %w", err)
	}
	var list []Interface
	for _, one := range all {
		if one.Flags&net.FlagUp == 0 || one.Flags&net.FlagMulticast == 0 {
			continue
		}
		addresses, err := one.Addrs()
		if err != nil {
			continue // it is gone
		}
		found := Interface{Index: one.Index}
		for _, address := range addresses {
			prefix, err := netip.ParsePrefix(address.String())
			if err == nil && prefix.Addr().Is4() && Local(prefix.Addr()) {
				found.Networks = append(found.Networks, prefix)
			}
		}
		if len(found.Networks) > 0 {
			list = append(list, found)
		}
	}
	return list, nil
}

// of returns the interface whose network an address is in, or nil.
func of(list []Interface, ip netip.Addr) *Interface {
	for i, one := range list {
		for _, prefix := range one.Networks {
			if prefix.Contains(ip) {
				return &list[i]
			}
		}
	}
	return nil
}

// hops is the time to live of all messages, as RFC 6762 has it.
const hops = 255

// configure prepares a socket to send multicasts, also to programs of this machine.
func configure(conn *ipv4.PacketConn) error {
	if err := conn.SetMulticastTTL(hops); err != nil {
		return fmt.Errorf("preparing multicast: %w", err)
	}
	if err := conn.SetMulticastLoopback(true); err != nil {
		return fmt.Errorf("preparing multicast: %w", err)
	}
	return nil
}

// sourceOf has a datagram sent from an address of this machine. Windows chooses it itself.
func sourceOf(ip netip.Addr) *ipv4.ControlMessage {
	if runtime.GOOS == "windows" {
		return nil
	}
	return &ipv4.ControlMessage{Src: ip.AsSlice()}
}

// sender returns where a datagram came from; the zero value if that is no IPv4 address.
func sender(addr net.Addr) netip.AddrPort {
	udp, ok := addr.(*net.UDPAddr)
	if !ok {
		return netip.AddrPort{}
	}
	from := udp.AddrPort()
	return netip.AddrPortFrom(from.Addr().Unmap(), from.Port())
}
