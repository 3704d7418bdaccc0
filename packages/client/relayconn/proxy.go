package relayconn

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/scorel/scorel/packages/protocol/wire"
)

// dialTimeout limits the TCP connection to the relay or to the proxy.
const dialTimeout = 10 * time.Second

// newHTTPClient returns the client that dials relays: through the proxy set by
// HTTPS_PROXY, HTTP_PROXY and NO_PROXY unless noProxy is set, and with HTTP/1.1, which the WebSocket
// handshake needs.
func newHTTPClient(noProxy bool) *http.Client {
	proxyOf := http.ProxyFromEnvironment
	if noProxy {
		proxyOf = nil
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Client{Transport: &http.Transport{
		Proxy:                  proxyOf,
		OnProxyConnectResponse: checkTunnel,
		DialContext:            (&net.Dialer{Timeout: dialTimeout}).DialContext,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    wire.LoginTimeout,
		Protocols:              protocols,
		DisableKeepAlives:      true, // a connection that did not become a WebSocket is not reused
	}}
}

// NoRedirects is the CheckRedirect of every client that contacts a relay. A
// redirect would let the relay choose any address in this machine's network for the
// request.
func NoRedirects(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// proxyError is a failure at a proxy. It names the proxy without the password that
// its URL may contain.
type proxyError struct {
	text  string
	cause error
}

func (e *proxyError) Error() string { return e.text }
func (e *proxyError) Unwrap() error { return e.cause }

const exampleProxy = "as in http://user:password@proxy.example:3128"

// checkTunnel returns why a proxy does not connect to the relay.
func checkTunnel(_ context.Context, at *url.URL, req *http.Request, resp *http.Response) error {
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	return (&proxy{url: at, relay: req.Host}).refused(resp)
}

// proxy is the proxy between this program and a relay.
type proxy struct {
	url   *url.URL
	relay string // host:port
}

// proxyFor returns the proxy that client would use for target, or nil.
func proxyFor(client *http.Client, target *url.URL) *proxy {
	transport, _ := client.Transport.(*http.Transport)
	if transport == nil || transport.Proxy == nil {
		return nil
	}
	at, err := transport.Proxy(&http.Request{URL: httpURL(target)})
	if at == nil || err != nil {
		return nil
	}
	return &proxy{url: at, relay: target.Host}
}

// name is the proxy's URL without user and password.
func (p *proxy) name() string { return p.url.Scheme + "://" + p.url.Host }

// words returns a phrase for a sentence that names a relay.
func (p *proxy) words() string {
	if p == nil {
		return ""
	}
	return " (through the proxy " + p.name() + ")"
}

// trouble returns the error of a dial that failed at the proxy; nil means it failed
// at the relay.
func (p *proxy) trouble(response *http.Response, err error) error {
	if p == nil {
		return nil
	}
	var known *proxyError
	var dial *net.OpError
	switch {
	case errors.As(err, &known):
		return known
	case response != nil && response.StatusCode == http.StatusProxyAuthRequired: // for plain HTTP
		return p.refused(response)
	case errors.As(err, &dial) && (dial.Op == "proxyconnect" || dial.Op == "socks connect"):
		return &proxyError{text: fmt.Sprintf("the server at %s does not behave like a proxy: is HTTPS_PROXY correct? (%v)", p.name(), dial.Err), cause: err}
	}
	return nil
}

func (p *proxy) refused(response *http.Response) *proxyError {
	text := fmt.Sprintf("does not let this program reach %s (it answered %q): ask its operator, or list the relay in NO_PROXY", p.relay, response.Status)
	switch {
	case response.StatusCode != http.StatusProxyAuthRequired:
	case p.url.User == nil:
		text = "requires a user and password: put them into HTTPS_PROXY, " + exampleProxy
	default:
		text = "rejected the user and password in HTTPS_PROXY: correct them there, " + exampleProxy
	}
	return &proxyError{text: "the proxy " + p.name() + " " + text}
}

// httpURL returns the form of a WebSocket URL that an HTTP transport expects.
func httpURL(target *url.URL) *url.URL {
	out := *target
	out.Scheme = "https"
	if target.Scheme == "ws" {
		out.Scheme = "http"
	}
	return &out
}
