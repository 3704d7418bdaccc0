package push

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"
)

const (
	maxAnswer   = 4 << 10 // of a server's answer, in bytes
	sendTimeout = 20 * time.Second
)

// errPrivate is why the host does not connect to an address.
var errPrivate = errors.New("it is an address of this machine or of a local network")

// reserved are networks that are not public and that netip has no method for: those that
// carry addresses of others, and those for tests, benchmarks and later use.
func reserved() []netip.Prefix {
	var list []netip.Prefix
	for _, s := range []string{
		"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
		"::/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/32", "2001:db8::/32", "2002::/16", "fec0::/10",
	} {
		list = append(list, netip.MustParsePrefix(s))
	}
	return list
}

// public reports whether an address belongs to the public internet.
func public(addr netip.Addr) bool {
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

// guard refuses connections to addresses that are not public. It sees the address that a name
// resolved to, so that no answer of a name server leads around it.
func guard(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil || !public(at.Addr()) {
		return errPrivate
	}
	return nil
}

// Clients are the two ways to reach servers.
type Clients struct {
	Public  *http.Client // public addresses only
	Private *http.Client // for addresses that this machine's user gave
}

// NewClients makes clients without cookies, redirects, proxies and connections that stay.
func NewClients() Clients {
	build := func(control func(string, string, syscall.RawConn) error) *http.Client {
		dialer := &net.Dialer{Timeout: 10 * time.Second, Control: control}
		return &http.Client{Timeout: sendTimeout, Transport: &http.Transport{
			DialContext: dialer.DialContext, DisableKeepAlives: true, ForceAttemptHTTP2: true, TLSHandshakeTimeout: 10 * time.Second,
			ResponseHeaderTimeout: 15 * time.Second, MaxResponseHeaderBytes: 64 << 10,
		}}
	}
	return Clients{Public: build(guard), Private: build(nil)}
}

// of returns the client for an address, which follows no redirect.
func (c Clients) of(a Address) *http.Client {
	client := *c.Public
	if a.Private {
		client = *c.Private
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &client
}

// checkURL returns why the host sends nothing to a URL, for people.
func checkURL(a Address) (*url.URL, error) {
	u, err := url.Parse(a.URL)
	switch {
	case err != nil || u.Hostname() == "" || u.Opaque != "":
		return nil, errors.New("it is not a URL: use one that begins with https://")
	case u.User != nil || u.Fragment != "":
		return nil, errors.New("it has a user name or a fragment: leave these out")
	case a.Private && (u.Scheme == "http" || u.Scheme == "https"):
		return u, nil
	case u.Scheme != "https":
		return nil, errors.New("it does not begin with https://")
	}
	name := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	addr, err := netip.ParseAddr(name)
	if err == nil && !public(addr) || name == "localhost" || strings.HasSuffix(name, ".localhost") || err != nil && !strings.Contains(name, ".") {
		return nil, errPrivate
	}
	return u, nil
}

// post sends a body and reads how the server answered. name is the server, for people.
func (c Clients) post(ctx context.Context, a Address, body []byte, header http.Header) Result {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, a.URL, strings.NewReader(string(body)))
	if err != nil {
		return Result{Err: errors.New("the address is not a URL")}
	}
	request.Header = header
	answer, err := c.of(a).Do(request)
	if err != nil {
		return failed(err)
	}
	defer func() { _ = answer.Body.Close() }()
	return judge(answer, time.Now())
}

// failed explains why a server was not reached. The text has no part of the address, which is
// a secret.
func failed(err error) Result {
	if errors.Is(err, errPrivate) {
		return Result{Err: fmt.Errorf("the server is not public: %w", errPrivate)}
	}
	var dnsErr *net.DNSError
	if errors.As(err, &dnsErr) { // which names the name server of this machine's network
		return Result{Err: errors.New("the server cannot be reached: its name was not found"), Retry: true}
	}
	var urlErr *url.Error
	if errors.As(err, &urlErr) {
		err = urlErr.Err
	}
	return Result{Err: fmt.Errorf("the server cannot be reached: %w", err), Retry: true}
}
