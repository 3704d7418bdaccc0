// Package relayconn implements one peer's connection to a relay: it dials, logs in,
// transfers frames in both directions and reconnects after a loss. It does not
// interpret the contents of records.
//
// A Conn has two goroutines while Run runs: the caller of Run reads and calls the
// Handler, and a writer, which Run starts and joins, sends the queue. Waiting
// records are sent together in one message.
package relayconn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/coder/websocket"

	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// Config holds the relay and the identity of a connection. RelayURL, Keys and Label
// are required.
type Config struct {
	RelayURL   string         // http, https, ws or wss; a path is kept as a prefix
	Keys       *ident.Private // a device key logs in as a host, a client key as an entry
	Label      string         // shown to people on the other side
	Invite     string         // a secret; for a relay that requires an invite from new ids
	Logger     *slog.Logger   // nil is silent
	HTTPClient *http.Client   // follows no redirect, whatever its CheckRedirect says; nil honors HTTPS_PROXY, HTTP_PROXY and NO_PROXY
	NoProxy    bool           // dials without a proxy if HTTPClient is nil
}

// ErrUnreachable is returned if no relay answered: wrong address, down, or no
// network.
var ErrUnreachable = errors.New("the relay cannot be reached")

// ParseURL checks a relay URL and returns the WebSocket URL to dial and the
// authority that the login proof names.
func ParseURL(text string) (dial *url.URL, authority string, err error) {
	text = strings.TrimSpace(text)
	if !strings.Contains(text, "://") { // the parser's error for 127.0.0.1:7410 is not helpful
		return nil, "", fmt.Errorf("%q is not a relay URL: it must begin with https:// or http://", text)
	}
	u, err := url.Parse(text)
	if err != nil {
		return nil, "", fmt.Errorf("%q is not a relay URL: give only the address, such as https://relay.example", text)
	}
	defaultPort := "443"
	switch u.Scheme {
	case "https", "wss":
		u.Scheme = "wss"
	case "http", "ws":
		u.Scheme, defaultPort = "ws", "80"
	default:
		return nil, "", fmt.Errorf("%q is not a relay URL: it must begin with https:// or http://", text)
	}
	if u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, "", fmt.Errorf("%q is not a relay URL: give only the address, such as https://relay.example", text)
	}
	authority = strings.TrimSuffix(strings.ToLower(u.Host), ":"+defaultPort)
	u.Path = strings.TrimSuffix(u.Path, "/") + wire.ConnectPath
	return u, authority, nil
}

// Dial connects and logs in. The error wraps ErrUnreachable if no relay answered,
// and is a *wire.Error if the relay refused.
func Dial(ctx context.Context, cfg Config) (*Conn, error) {
	target, authority, err := ParseURL(cfg.RelayURL)
	if err != nil {
		return nil, err
	}
	if len(cfg.Invite) > wire.MaxInvite {
		return nil, wire.Errorf(wire.KindInviteRequired, "the invite is longer than %d characters; copy it as the relay's operator gave it", wire.MaxInvite)
	}
	ctx, cancel := context.WithTimeout(ctx, wire.LoginTimeout+5*time.Second)
	defer cancel()
	httpClient := cmp.Or(cfg.HTTPClient, newHTTPClient(cfg.NoProxy))
	dialing, upgraded := through(httpClient)
	pings := time.NewTimer(pingInterval())
	ws, response, err := websocket.Dial(ctx, target.String(), &websocket.DialOptions{
		Subprotocols: []string{wire.Subprotocol},
		HTTPClient:   dialing,
		OnPingReceived: func(context.Context, []byte) bool {
			pings.Reset(pingInterval())
			return true
		},
	})
	if err != nil {
		return nil, dialError(cfg.RelayURL, proxyFor(httpClient, target), response, err)
	}
	c := newConn(ws, upgraded.stream, pings, cfg.Logger)
	if err := c.login(ctx, cfg, authority); err != nil {
		_ = ws.CloseNow()
		return nil, err
	}
	return c, nil
}

// BusyError is returned if a relay, or a proxy in front of it, accepts no
// connections for a while.
type BusyError struct {
	RetryAfter time.Duration // 0 if not given
	text       string
}

func (e *BusyError) Error() string { return e.text }

// Is makes the error match ErrUnreachable.
func (e *BusyError) Is(target error) bool { return target == ErrUnreachable }

// dialError returns the error for a failed dial, through a proxy or without one.
func dialError(relayURL string, via *proxy, response *http.Response, err error) error {
	if trouble := via.trouble(response, err); trouble != nil {
		return fmt.Errorf("%w: %w", ErrUnreachable, trouble)
	}
	switch {
	case response != nil && response.StatusCode >= 300 && response.StatusCode < 400:
		return fmt.Errorf("%w: %s%s answered with a redirect to %.200q. Redirects of a relay are not followed: give the address of the relay itself",
			ErrUnreachable, relayURL, via.words(), response.Header.Get("Location"))
	case response == nil, response.StatusCode == http.StatusSwitchingProtocols:
		return fmt.Errorf("%w at %s%s: is it running, and is the URL right? (%w)", ErrUnreachable, relayURL, via.words(), Brief(err))
	case response.StatusCode == http.StatusServiceUnavailable, response.StatusCode == http.StatusTooManyRequests:
		seconds, _ := strconv.Atoi(response.Header.Get("Retry-After")) // 0 if not given
		return &BusyError{
			RetryAfter: min(max(0, time.Duration(seconds)*time.Second), retryMost),
			text:       fmt.Sprintf("the relay at %s%s is not accepting connections now (%s); try again later", relayURL, via.words(), response.Status),
		}
	}
	return fmt.Errorf("%w: %s%s answered %s and not as a relay; check the URL", ErrUnreachable, relayURL, via.words(), response.Status)
}

// login runs the four steps of the login in the doc comment of package wire.
func (c *Conn) login(ctx context.Context, cfg Config, authority string) error {
	c.ws.SetReadLimit(wire.MaxControl)
	frame, err := c.readLogin(ctx)
	if err != nil {
		return err
	}
	hello, ok := frame.(*wire.RelayHello)
	if !ok {
		return unexpected(frame)
	}
	if hello.Limits.MaxRecordPayload < wire.MaxRecordPayload || hello.Limits.MaxMessage < wire.MaxRecord {
		return wire.Errorf(wire.KindLimit, "the relay accepts only records that are smaller than this program's: their versions are not compatible")
	}
	c.queue.maxMessage = min(hello.Limits.MaxMessage, maxSpare)
	own := wire.Hello{Authority: authority, Label: cfg.Label, Invite: cfg.Invite}
	own.Sign(cfg.Keys, hello.Nonce)
	var answer wire.Frame = wire.EntryHello{Hello: own}
	if own.ID.Kind() == ident.KindDevice {
		answer = wire.HostHello{Hello: own}
	}
	if err := c.writeFrame(ctx, answer); err != nil {
		return fmt.Errorf("logging in: %w", err)
	}
	if frame, err = c.readLogin(ctx); err != nil {
		return err
	}
	welcome, ok := frame.(*wire.Welcome)
	if !ok {
		return unexpected(frame)
	}
	if welcome.ID != own.ID {
		return wire.Errorf(wire.KindBadFrame, "the relay confirmed a different identity: it violates the protocol")
	}
	c.welcome = welcome
	c.ws.SetReadLimit(wire.MaxMessage + 1)
	return nil
}

func (c *Conn) readLogin(ctx context.Context) (wire.Frame, error) {
	kind, data, err := c.ws.Read(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: it ended the login early (%w)", ErrUnreachable, err)
	}
	if kind != websocket.MessageText {
		return nil, wire.Errorf(wire.KindBadFrame, "the relay sent data before welcome")
	}
	frame, err := wire.DecodeControl(data, wire.MaxControl)
	if err != nil {
		return nil, fmt.Errorf("logging in: %w", err)
	}
	return frame, nil
}

func unexpected(frame wire.Frame) error {
	switch f := frame.(type) {
	case *wire.ErrorFrame:
		return &wire.Error{Kind: f.Kind, Message: f.Message}
	case *wire.Goodbye:
		return &GoodbyeError{Goodbye: *f}
	}
	return wire.Errorf(wire.KindBadFrame, "the relay sent %s during login", frame.FrameType())
}
