package relay

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
)

// names is what this relay answers to. It is static after construction.
type names struct {
	authorities map[string]bool // host[:port], lower case
	origins     map[string]bool // scheme://host[:port], lower case
}

func newNames(publicURLs, allowedOrigins []string) (names, error) {
	n := names{authorities: make(map[string]bool), origins: make(map[string]bool)}
	for _, raw := range publicURLs {
		scheme, host, err := splitOrigin(raw)
		if err != nil {
			return names{}, fmt.Errorf("relay: public URL %q: %w", raw, err)
		}
		n.origins[scheme+"://"+host] = true
		n.authorities[host] = true
		if !hasPort(host) { // a dialler may or may not name the default port
			n.authorities[host+":"+defaultPort(scheme)] = true
		}
	}
	for _, raw := range allowedOrigins {
		scheme, host, err := splitOrigin(raw)
		if err != nil {
			return names{}, fmt.Errorf("relay: allowed origin %q: %w", raw, err)
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

// served tells whether a request that names this Host is meant for the relay. It
// keeps a foreign name that resolves to our address (DNS rebinding) out.
func (n names) served(host string) bool {
	host = strings.ToLower(host)
	return n.authorities[host] || IsLoopback(host)
}

// proves tells whether a login that was signed for authority is a login here, given
// how the connection was asked for. A loopback name is that
// of every machine: what was signed for it on another one, for a tunnel or for
// whoever listens there, must not count here. So one that comes from elsewhere counts
// only where the relay has no public name, and nobody else could be meant.
func (n names) proves(authority string, to dialled) bool {
	if n.authorities[authority] {
		return true
	}
	meant := to.near || len(n.authorities) == 0
	return meant && authority == strings.ToLower(to.host) && IsLoopback(authority)
}

// dialled is how a connection was asked for.
type dialled struct {
	host string // the request's Host
	near bool   // the client is on this machine
}

// pageMayConnect tells whether a page of this origin may open a WebSocket. No
// origin means that it is no browser.
func (n names) pageMayConnect(origin, host string) bool {
	if origin == "" {
		return true
	}
	scheme, page, err := splitOrigin(origin)
	if err != nil {
		return false // also "null", the origin of a sandboxed frame or a file
	}
	return n.origins[scheme+"://"+page] || page == strings.ToLower(host) && IsLoopback(page)
}

// IsLoopback tells whether host[:port] names this machine and nothing else.
func IsLoopback(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.Trim(host, "[]")
	}
	if name == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(name)
	return err == nil && addr.IsLoopback()
}

// clientAddr is the address that rate limits count: the peer's own or, behind
// trusted proxies, the last one in X-Forwarded-For that is not a proxy of ours.
func clientAddr(remote string, forwarded []string, trusted []netip.Prefix) netip.Addr {
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
			continue // an empty element of a list is none
		}
		hop, ok := parseHop(text)
		if !ok {
			break // what a proxy cannot have written ends the chain
		}
		addr = hop
	}
	return addr
}

// parseHop reads an address as proxies write it: some add the port.
func parseHop(text string) (netip.Addr, bool) {
	if ap, err := netip.ParseAddrPort(text); err == nil {
		return ap.Addr().Unmap().WithZone(""), true
	}
	addr, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(text, "["), "]"))
	return addr.Unmap().WithZone(""), err == nil
}

// TrustedAddr tells whether an address is one of those that are trusted.
func TrustedAddr(addr netip.Addr, trusted []netip.Prefix) bool {
	addr = addr.Unmap().WithZone("")
	for _, prefix := range trusted {
		if prefix.Contains(addr) {
			return true
		}
	}
	return false
}
