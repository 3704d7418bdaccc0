package push

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/scorel/scorel/apps/host/internal/publicnet"
)

const (
	maxAnswer   = 4 << 10 // of a server's answer, in bytes
	sendTimeout = 20 * time.Second
)

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
	return Clients{Public: build(publicnet.Control), Private: build(nil)}
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
	if err := publicnet.CheckHost(u.Hostname()); err != nil {
		return nil, err
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
	if errors.Is(err, publicnet.ErrPrivate) {
		return Result{Err: fmt.Errorf("the server is not public: %w", publicnet.ErrPrivate)}
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
