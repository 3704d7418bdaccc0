package doctor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"syscall"

	"github.com/scorel/scorel/packages/client/relayconn"
	"github.com/scorel/scorel/packages/loopback"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// maxAddrs bounds how many addresses of a name are tried.
const maxAddrs = 8

// url parses the address and determines the first machine on the way: the relay or, if the
// environment configures one, the proxy.
func (p *probe) url(context.Context) outcome {
	target, authority, err := relayconn.ParseURL(p.opts.RelayURL)
	if err != nil {
		return failed(URLBad, err, "%s", err)
	}
	p.target, p.authority, p.hop = target, authority, hostPort(target)
	proxy, err := p.opts.Proxy(&http.Request{URL: p.address("")})
	if err != nil {
		// The error quotes the variable, which may contain a password.
		return failed(ProxyBad, errors.New("HTTPS_PROXY is not an address"), "HTTPS_PROXY in the environment is not an address")
	}
	if proxy != nil {
		p.proxy, p.hop = proxy, hostPort(proxy)
	}
	if target.Scheme == "ws" && !p.opts.Listener && !loopback.Is(target.Host) {
		return warn(URLPlain, "the connection to %s is not encrypted", authority)
	}
	return ok("%s", p.address(""))
}

// address returns an address of the relay's server over HTTP. path begins with a slash.
func (p *probe) address(path string) *url.URL {
	u := *p.target
	u.Scheme = map[string]string{"ws": "http", "wss": "https"}[u.Scheme]
	u.Path = strings.TrimSuffix(u.Path, wire.ConnectPath) + path
	return &u
}

func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"https": "443", "wss": "443", "socks5": "1080", "socks5h": "1080"}[u.Scheme]
	}
	if port == "" {
		port = "80"
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// whose describes the first machine on the way.
func (p *probe) whose() string {
	if p.proxy != nil {
		return "the proxy " + p.hop
	}
	return p.hop
}

func (p *probe) dns(ctx context.Context) outcome {
	host, port, err := net.SplitHostPort(p.hop)
	if err != nil {
		return failed(URLBad, err, "%s is not an address", p.hop)
	}
	if _, err := netip.ParseAddr(host); err == nil {
		p.addrs = []string{p.hop}
		return skipped("%s is an address, not a name", host)
	}
	found, err := net.DefaultResolver.LookupHost(ctx, host)
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		return failed(DNSUnknown, unreachable(err), "there is no %s", host)
	case err != nil:
		return failed(DNSFailed, unreachable(err), "looking up %s: %s", host, reason(err))
	}
	for _, addr := range found[:min(len(found), maxAddrs)] {
		p.addrs = append(p.addrs, net.JoinHostPort(addr, port))
	}
	return ok("%s is %s", host, strings.Join(found, ", "))
}

// dialed is the result of connecting to one address.
type dialed struct {
	addr string
	conn net.Conn
	err  error
}

// tcp connects to all addresses at once, because one that does not respond delays a
// sequential attempt.
func (p *probe) tcp(ctx context.Context) outcome {
	results := make(chan dialed, len(p.addrs))
	for _, addr := range p.addrs {
		go func() {
			var dialer net.Dialer
			conn, err := dialer.DialContext(ctx, "tcp", addr)
			results <- dialed{addr, conn, err}
		}()
	}
	var bad []dialed
	for range p.addrs {
		switch r := <-results; {
		case r.err != nil:
			bad = append(bad, r)
		case p.conn == nil:
			p.conn = r.conn
		default:
			_ = r.conn.Close() // it only served as a test
		}
	}
	if p.conn == nil {
		return p.noConnection(bad)
	}
	for _, r := range bad {
		if finding(r.err) != TCPNoRoute { // an address family that this network lacks is not an error
			return warn(TCPPartly, "connected to %s, but not to %s: %s", p.conn.RemoteAddr(), r.addr, reason(r.err))
		}
	}
	return ok("connected to %s", p.conn.RemoteAddr())
}

func (p *probe) noConnection(bad []dialed) outcome {
	worst := bad[0]
	for _, r := range bad {
		if finding(r.err) != TCPNoRoute {
			worst = r
		}
	}
	what := map[Finding]string{
		TCPRefused: "nothing listens at %s",
		TCPNoRoute: "there is no route to %s",
		TCPSilent:  "no answer from %s",
	}[finding(worst.err)]
	return failed(finding(worst.err), unreachable(worst.err), what, p.whose())
}

func finding(err error) Finding {
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return TCPRefused
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.EADDRNOTAVAIL):
		return TCPNoRoute
	}
	return TCPSilent
}

// unreachable wraps a cause and marks it as unreachable.
func unreachable(cause error) error {
	return fmt.Errorf("%w (%w)", relayconn.ErrUnreachable, cause)
}

// reason returns the cause without the operation, which the step names.
func reason(err error) string {
	var (
		dns *net.DNSError
		op  *net.OpError
	)
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return "no answer in time"
	case errors.As(err, &dns):
		return dns.Err
	case errors.As(err, &op) && op.Err != nil:
		return op.Err.Error()
	}
	return err.Error()
}
