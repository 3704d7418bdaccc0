package cli

import (
	"errors"
	"net"
	"net/netip"
	"strings"
	"syscall"

	"github.com/scorel/scorel/apps/relay/serve"
	"github.com/scorel/scorel/packages/client/relayconn"
)

// listen opens a listening socket. Its errors refer to --listen.
func listen(addr string) (net.Listener, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, usagef("--listen %q is not an address: give host:port, as in 127.0.0.1:7410", addr)
	}
	if _, err := net.LookupPort("tcp", port); err != nil {
		return nil, usagef("--listen %s: %q is not a port: give a number from 0 to 65535, as in 127.0.0.1:7410", addr, port)
	}
	listener, err := net.Listen("tcp", addr)
	switch {
	case err == nil:
		return listener, nil
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, sayf(err, "%s is in use by another program: end that, or choose another port, as in --listen %s", addr, net.JoinHostPort(host, "0"))
	case errors.Is(err, syscall.EACCES):
		return nil, sayf(err, "listening on port %s is not allowed for this user: choose a port above 1023 with --listen", port)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return nil, sayf(err, "%s is not an address of this machine: choose one of its own with --listen, or 0.0.0.0 for all", host)
	}
	return nil, sayf(err, "nothing can listen on %s (%v): choose another address with --listen", addr, relayconn.Brief(err))
}

// baseURL returns the address of a listener for a browser on this machine.
func baseURL(addr net.Addr) string {
	tcp, err := netip.ParseAddrPort(addr.String())
	if err != nil {
		return "http://" + addr.String()
	}
	ip := tcp.Addr().Unmap()
	if ip.IsUnspecified() {
		ip = netip.MustParseAddr("127.0.0.1")
	}
	return "http://" + netip.AddrPortFrom(ip, tcp.Port()).String()
}

// isLoopback reports whether only this machine can reach a listener.
func isLoopback(addr net.Addr) bool {
	tcp, err := netip.ParseAddrPort(addr.String())
	return err == nil && tcp.Addr().Unmap().IsLoopback()
}

// checkURLs rejects anything but http and https addresses before anything starts.
func checkURLs(flag string, urls []string) error {
	for _, u := range urls {
		if !strings.HasPrefix(u, "https://") && !strings.HasPrefix(u, "http://") {
			return usagef("--%s %q is not an address: give it as in https://relay.example", flag, u)
		}
	}
	return nil
}

// parseProxies parses addresses and networks of proxies.
func parseProxies(texts []string) ([]netip.Prefix, error) {
	var proxies []netip.Prefix
	for _, text := range texts {
		prefix, err := serve.ParseProxy(text)
		if err != nil {
			return nil, usagef("--trusted-proxy %v", err)
		}
		proxies = append(proxies, prefix)
	}
	return proxies, nil
}
