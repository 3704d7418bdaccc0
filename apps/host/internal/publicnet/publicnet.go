// Package publicnet tells public addresses of the internet from those of this machine and of local
// networks, for connections to servers that a client of the host names.
package publicnet

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"time"
)

// ErrPrivate is why the host does not connect to an address.
var ErrPrivate = errors.New("it is an address of this machine or of a local network")

// reserved are networks that are not public and that netip has no method for: those that
// carry addresses of others, and those for tests, benchmarks and later use.
func reserved() []netip.Prefix {
	var list []netip.Prefix
	for _, s := range []string{
		"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
		"::/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16", "fec0::/10",
	} {
		list = append(list, netip.MustParsePrefix(s))
	}
	return list
}

// Is reports whether an address belongs to the public internet.
func Is(addr netip.Addr) bool {
	addr = addr.Unmap().WithZone("")
	if !addr.IsGlobalUnicast() || addr.IsPrivate() || addr.IsLoopback() || addr.IsLinkLocalUnicast() {
		return false
	}
	for _, prefix := range reserved() {
		if prefix.Contains(addr) {
			return false
		}
	}
	return true
}

// CheckHost returns ErrPrivate for the host of a URL that is certainly not public. What another
// name resolves to is checked when it is dialed.
func CheckHost(host string) error {
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	addr, err := netip.ParseAddr(name)
	if err == nil && !Is(addr) || err != nil && isLocalName(name) {
		return ErrPrivate
	}
	return nil
}

// isLocalName reports whether a name without its last dot is that of a machine of the local network:
// it has no domain, or one that is not in the public domain name system (RFC 6761, 6762 and 8375, and
// those that ICANN and routers use).
func isLocalName(name string) bool {
	return !strings.Contains(name, ".") || slices.ContainsFunc([]string{".localhost", ".local", ".lan", ".internal", ".home.arpa"}, func(domain string) bool {
		return strings.HasSuffix(name, domain)
	})
}

// Control is net.Dialer.Control that refuses connections to addresses that are not public. It sees
// the address that a name resolved to, so that no answer of a name server leads around it.
func Control(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil || !Is(at.Addr()) {
		return ErrPrivate
	}
	return nil
}

// Transport returns a transport that connects to public addresses only, and directly: a proxy could
// connect to others.
func Transport() *http.Transport {
	dialer := &net.Dialer{Timeout: 10 * time.Second, Control: Control}
	return &http.Transport{DialContext: dialer.DialContext, ForceAttemptHTTP2: true, TLSHandshakeTimeout: 10 * time.Second, IdleConnTimeout: 30 * time.Second}
}
