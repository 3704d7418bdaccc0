package mcpauth

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

	"golang.org/x/oauth2"

	"github.com/scorel/scorel/packages/loopback"
	"github.com/scorel/scorel/packages/protocol/visible"
)

const (
	maxRedirects = 3
	maxURL       = 8 << 10 // bytes
	maxHeader    = 64 << 10
)

// client returns a client for requests about a server: directly, without cookies, to the
// server's own address and to those that Options.Refuse does not refuse. Documents may redirect
// to https addresses; requests that carry secrets are not redirected. idle closes its
// connections.
func (a *Auth) client(server string, document bool) (client *http.Client, idle func()) {
	own := address(server)
	dialer := &net.Dialer{Timeout: a.options.Timeout}
	transport := &http.Transport{
		TLSHandshakeTimeout: a.options.Timeout, MaxResponseHeaderBytes: maxHeader, ForceAttemptHTTP2: true,
		DialContext: func(ctx context.Context, network, to string) (net.Conn, error) {
			guarded := *dialer
			if own == "" || to != own {
				// It sees the address that a name resolved to, so that no name leads around it.
				guarded.Control = func(_, at string, _ syscall.RawConn) error { return a.options.Refuse(at) }
			}
			return guarded.DialContext(ctx, network, to)
		},
	}
	client = &http.Client{Transport: transport, Timeout: a.options.Timeout, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if !document {
			return http.ErrUseLastResponse
		}
		if len(via) > maxRedirects {
			return fmt.Errorf("it redirects more than %d times", maxRedirects)
		}
		return checkURL(r.URL.String())
	}}
	return client, transport.CloseIdleConnections
}

// address returns the host and port that a client connects to for a URL, or "".
func address(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" {
		return ""
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"https": "443", "http": "80"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// checkURL returns why the host requests nothing from a URL, and sends no one there: it is not
// https, except on this machine, or it has parts that do not belong there.
func checkURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case len(text) > maxURL:
		return errors.New("an address is longer than 8 KiB")
	case err != nil || u.Hostname() == "" || u.Opaque != "":
		return errors.New("an address is not one that begins with https://")
	case u.User != nil:
		return errors.New("an address has a user name or a password")
	case u.Scheme == "https" || u.Scheme == "http" && loopback.Is(u.Host):
		return nil
	}
	return fmt.Errorf("the address of %s is not encrypted: it must begin with https://", u.Host)
}

// origin returns scheme, host and port of a URL in one form, or "".
func origin(text string) string {
	u, err := url.Parse(text)
	if err != nil || address(text) == "" {
		return ""
	}
	return strings.ToLower(u.Scheme + "://" + address(text))
}

// reason returns an error without the URL of the request, which may have secrets.
func reason(err error) error {
	var refused *oauth2.RetrieveError
	if errors.As(err, &refused) {
		if refused.ErrorCode == "" {
			return fmt.Errorf("it answered with HTTP status %d", refused.Response.StatusCode)
		}
		return fmt.Errorf("it answered %s", clean(refused.ErrorCode+": "+refused.ErrorDescription, 200))
	}
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return errors.New("it did not answer in time")
	}
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return errors.New("it did not answer in time")
	}
	return err
}

// clean returns the text of a server for people: one line, without control characters.
func clean(text string, limit int) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	return strings.TrimSuffix(strings.TrimSpace(visible.Shorten(text, limit)), ":")
}

// deadline is when a flow that begins now ends.
func deadline() time.Time { return time.Now().Add(Lifetime) }
