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

	"github.com/scorel/scorel/packages/client/link"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// maxAddrs is how many addresses of a name are tried.
const maxAddrs = 8

// url reads the address and finds the first machine on the way: the relay's or,
// where the environment names one, the proxy.
func (p *probe) url(context.Context) outcome {
	target, authority, err := link.ParseURL(p.opts.RelayURL)
	if err != nil {
		return failed(URLBad, err, "%s", err)
	}
	p.target, p.authority, p.hop = target, authority, hostPort(target)
	proxy, err := p.opts.Proxy(&http.Request{URL: p.address("")})
	if err != nil {
		// The error quotes the variable, which may hold a password.
		return failed(ProxyBad, errors.New("HTTPS_PROXY is no address"), "the proxy that the environment names is no address")
	}
	if proxy != nil {
		p.proxy, p.hop = proxy, hostPort(proxy)
	}
	if target.Scheme == "ws" && !isLoopback(target.Hostname()) {
		return warn(URLPlain, "%s is not encrypted on the way", authority)
	}
	return ok("%s", p.address(""))
}

// address is an address of the relay's server over HTTP. path begins with a slash.
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

func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

// whose names the first machine on the way.
func (p *probe) whose() string {
	if p.proxy != nil {
		return "the proxy " + p.hop
	}
	return p.hop
}

func (p *probe) dns(ctx context.Context) outcome {
	host, port, err := net.SplitHostPort(p.hop)
	if err != nil {
		return failed(URLBad, err, "%s is no address", p.hop)
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

// dialled is how one address took a connection.
type dialled struct {
	addr string
	conn net.Conn
	err  error
}

// tcp connects to every address at once: one that does not answer is slow for
// whoever tries it first.
func (p *probe) tcp(ctx context.Context) outcome {
	results := make(chan dialled, len(p.addrs))
	for _, addr := range p.addrs {
		go func() {
			var dialer net.Dialer
			conn, err := dialer.DialContext(ctx, "tcp", addr)
			results <- dialled{addr, conn, err}
		}()
	}
	var bad []dialled
	for range p.addrs {
		switch r := <-results; {
		case r.err != nil:
			bad = append(bad, r)
		case p.conn == nil:
			p.conn = r.conn
		default:
			_ = r.conn.Close() // it only showed that there is a way
		}
	}
	if p.conn == nil {
		return p.noConnection(bad)
	}
	for _, r := range bad {
		if finding(r.err) != TCPNoRoute { // an address family that this network has not is no fault
			return warn(TCPPartly, "connected to %s, but not to %s: %s", p.conn.RemoteAddr(), r.addr, reason(r.err))
		}
	}
	return ok("connected to %s", p.conn.RemoteAddr())
}

func (p *probe) noConnection(bad []dialled) outcome {
	worst := bad[0]
	for _, r := range bad {
		if finding(r.err) != TCPNoRoute {
			worst = r
		}
	}
	what := map[Finding]string{
		TCPRefused: "nobody listens at %s",
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

// unreachable keeps a cause and says that nobody answered.
func unreachable(cause error) error {
	return fmt.Errorf("%w (%w)", link.ErrUnreachable, cause)
}

// reason is what went wrong without what was being done, which the step says.
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
