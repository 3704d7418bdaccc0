// Package mdnstest has a local network for tests.
package mdnstest

import (
	"net"
	"net/netip"
	"slices"
	"testing"

	"github.com/scorel/scorel/packages/mdns"
)

// Loopback is a network with real multicast that only this machine is in, and with a port that
// only this test uses.
func Loopback(t testing.TB) mdns.Network {
	t.Helper()
	all, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(all, func(i net.Interface) bool { return i.Flags&net.FlagLoopback != 0 })
	if at < 0 {
		t.Fatal("this machine has no loopback network")
	}
	free, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer free.Close()
	port := free.LocalAddr().(*net.UDPAddr).AddrPort().Port()
	return mdns.Network{
		Group: netip.AddrPortFrom(netip.MustParseAddr("224.0.0.251"), port),
		Interfaces: func() ([]mdns.Interface, error) {
			return []mdns.Interface{{Index: all[at].Index, Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/8")}}}, nil
		},
		Local: netip.Addr.IsLoopback,
	}
}
