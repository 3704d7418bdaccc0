// Package authority decides by which names a relay can be reached: which Host headers it
// serves, which logins were signed for it, which pages may connect, and which address a
// request counts against.
package authority

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"

	"github.com/scorel/scorel/packages/loopback"
)

// Names are the names of one relay. They are static after construction.
type Names struct {
	authorities map[string]bool // host[:port], lower case
	origins     map[string]bool // scheme://host[:port], lower case
}

// New reads public URLs and allowed origins, both as scheme://host[:port].
func New(publicURLs, allowedOrigins []string) (Names, error) {
	n := Names{authorities: make(map[string]bool), origins: make(map[string]bool)}
	for _, raw := range publicURLs {
		scheme, host, err := splitOrigin(raw)
		if err != nil {
			return Names{}, fmt.Errorf("relay: public URL %q: %w", raw, err)
		}
		n.origins[scheme+"://"+host] = true
		n.authorities[host] = true
		if !hasPort(host) { // clients may or may not name the default port
			n.authorities[host+":"+defaultPort(scheme)] = true
		}
	}
	for _, raw := range allowedOrigins {
		scheme, host, err := splitOrigin(raw)
		if err != nil {
			return Names{}, fmt.Errorf("relay: allowed origin %q: %w", raw, err)
		}
		n.origins[scheme+"://"+host] = true
	}
	return n, nil
}

// splitOrigin reads scheme://host[:port], without its scheme's default port.
func splitOrigin(raw string) (scheme, host string, err error) {
	u, err := url.Parse(strings.ToLower(raw))
	switch {
	case err != nil || u.Host == "":
		return "", "", fmt.Errorf("want scheme://host or scheme://host:port")
	case u.Scheme != "http" && u.Scheme != "https":
		return "", "", fmt.Errorf("the scheme must be http or https")
	case strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil:
		return "", "", fmt.Errorf("want only scheme, host and port, no path or user")
	}
	return u.Scheme, strings.TrimSuffix(u.Host, ":"+defaultPort(u.Scheme)), nil
}

func defaultPort(scheme string) string {
	if scheme == "https" {
		return "443"
	}
	return "80"
}

func hasPort(host string) bool {
	_, _, err := net.SplitHostPort(host)
	return err == nil
}

// Served reports whether a request with this Host is meant for the relay. It rejects a
// foreign name that resolves to the relay's address (DNS rebinding).
func (n Names) Served(host string) bool {
	host = strings.ToLower(host)
	return n.authorities[host] || loopback.Is(host)
}

// Proves reports whether a login that was signed for authority is a login at this relay,
// given how the peer connected. Every machine has the loopback names: a login that was
// signed for one on another machine, for a tunnel or for another program there, must not
// count here. From another machine such a login counts only if the relay has no public
// name, because no other relay can be meant then.
func (n Names) Proves(authority string, to Dialed) bool {
	if n.authorities[authority] {
		return true
	}
	meant := to.Local || len(n.authorities) == 0
	return meant && authority == strings.ToLower(to.Host) && loopback.Is(authority)
}

// Dialed is how a peer connected.
type Dialed struct {
	Host  string // of its request
	Local bool   // the client is on this machine
}

// PageMayConnect reports whether a page of this origin may open a WebSocket. Clients that
// are not browsers send no origin.
func (n Names) PageMayConnect(origin, host string) bool {
	if origin == "" {
		return true
	}
	scheme, page, err := splitOrigin(origin)
	if err != nil {
		return false // also "null", the origin of a sandboxed frame or a file
	}
	return n.origins[scheme+"://"+page] || page == strings.ToLower(host) && loopback.Is(page)
}

// ClientAddr is the address of a client: the peer's own or, behind trusted proxies, the
// last one in X-Forwarded-For that is not a trusted proxy.
func ClientAddr(remote string, forwarded []string, trusted []netip.Prefix) netip.Addr {
	ap, err := netip.ParseAddrPort(remote)
	if err != nil {
		return netip.Addr{}
	}
	addr := ap.Addr().Unmap()
	var hops []string
	for _, line := range forwarded {
		hops = append(hops, strings.Split(line, ",")...)
	}
	for i := len(hops) - 1; i >= 0 && TrustedAddr(addr, trusted); i-- {
		text := strings.TrimSpace(hops[i])
		if text == "" {
			continue // an empty element
		}
		hop, ok := parseHop(text)
		if !ok {
			break // no proxy wrote this
		}
		addr = hop
	}
	return addr
}

// parseHop reads an address as proxies write it. Some add the port.
func parseHop(text string) (netip.Addr, bool) {
	if ap, err := netip.ParseAddrPort(text); err == nil {
		return ap.Addr().Unmap().WithZone(""), true
	}
	addr, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(text, "["), "]"))
	return addr.Unmap().WithZone(""), err == nil
}

// TrustedAddr reports whether an address is in one of the trusted prefixes.
func TrustedAddr(addr netip.Addr, trusted []netip.Prefix) bool {
	addr = addr.Unmap().WithZone("")
	for _, prefix := range trusted {
		if prefix.Contains(addr) {
			return true
		}
	}
	return false
}

// Key is the address that rate limits count: an IPv6 subscriber has a whole /64.
func Key(addr netip.Addr) netip.Addr {
	if addr.Is6() && !addr.Is4In6() {
		if prefix, err := addr.WithZone("").Prefix(64); err == nil {
			return prefix.Addr()
		}
	}
	return addr.Unmap()
}
