// Package loopback recognizes hosts that are this machine and no other, by their name alone.
package loopback

import (
	"net"
	"net/netip"
	"strings"
)

// Is reports whether a host names this machine and nothing else: localhost or a loopback
// address, with or without a port, brackets and a zone. It resolves no names: another name may
// be one of this machine today, and lead elsewhere tomorrow.
func Is(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil { // it has no port
		name = strings.Trim(host, "[]")
	}
	addr, err := netip.ParseAddr(name)
	return strings.EqualFold(name, "localhost") || err == nil && addr.Unmap().IsLoopback()
}
