package tool

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/publicnet"
)

//go:embed fetchurl.md
var fetchURLDoc string

// Bounds of a request.
const (
	fetchTimeout = 30 * time.Second
	maxFetch     = 5 << 20 // bytes of the response body
	maxRedirects = 10
	maxURL       = 4096 // bytes
)

type fetchURL struct {
	*Set
	refuse func(address string) error // called with every address before connecting to it
}

func newFetchURL(s *Set) fetchURL {
	open := s.options.FetchPrivate
	return fetchURL{s, func(address string) error { return RefusePrivate(address, open...) }}
}

type fetchURLArgs struct {
	URL string `json:"url"`
}

func (fetchURL) Spec() agent.ToolSpec {
	return spec("fetch_url", fetchURLDoc, `{
		"url": {"type": "string", "description": "Address that begins with http:// or https://."}}`, "url")
}

// Risk implements agent.Tool. An address can leak what the model has read.
func (fetchURL) Risk() agent.Risk { return agent.RiskWrite }

func (fetchURL) Describe(call agent.Call) agent.Description {
	var args fetchURLArgs
	if err := decodeArgs(call.Arguments, &args); err != nil {
		return agent.Description{Title: "Fetch a page (the arguments are wrong)", Detail: string(call.Arguments)}
	}
	title := "Fetch a page"
	if target, err := url.Parse(args.URL); err == nil {
		title = "Fetch from " + target.Host
	}
	return agent.Description{Title: title, Detail: args.URL}
}

func (t fetchURL) Run(ctx context.Context, call agent.Call, _ func(string)) agent.Result {
	var args fetchURLArgs
	if err := decodeArgs(call.Arguments, &args); err != nil {
		return agent.Failure("fetch_url: %v.", err)
	}
	if err := checkURL(args.URL); err != nil {
		return agent.Failure("fetch_url: %v.", err)
	}
	limited, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	answer, err := t.get(limited, args.URL, call.Follow)
	switch {
	case ctx.Err() != nil:
		return agent.Cancelled(0, "")
	case limited.Err() != nil:
		return agent.Failure("fetch_url: %s did not send a complete response within %d s.", args.URL, int(fetchTimeout.Seconds()))
	case err != nil:
		return agent.Failure("fetch_url: %v.", err)
	}
	return t.show(answer)
}

// fetched is a response.
type fetched struct {
	status    int
	finalURL  string
	mediaType string
	body      []byte
	cut       bool
}

func checkURL(text string) error {
	target, err := url.Parse(text)
	switch {
	case len(text) > maxURL:
		return fmt.Errorf("the address has %d bytes, the limit is %d", len(text), maxURL)
	case err != nil:
		return errors.New("this is not an address; write it in full, such as https://example.org/page")
	case target.Scheme != "http" && target.Scheme != "https":
		return errors.New("the address must begin with http:// or https://")
	case target.Hostname() == "":
		return errors.New("the address has no host")
	case target.User != nil:
		return errors.New("the address must not contain a user name or password")
	}
	return nil
}

// followFunc returns why a call may not be redirected from one address to another.
type followFunc func(ctx context.Context, from, to string) error

func (t fetchURL) get(ctx context.Context, address string, follow followFunc) (*fetched, error) {
	client, idle := t.client(follow)
	defer idle()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, fmt.Errorf("the address cannot be used: %w", err)
	}
	request.Header.Set("User-Agent", "scorel")
	request.Header.Set("Accept", "text/html, text/*, application/json, application/xml;q=0.9, */*;q=0.1")
	response, err := client.Do(request)
	if err != nil {
		var closed *privateAddressError
		if errors.As(err, &closed) {
			return nil, closed
		}
		var wrapped *url.Error
		if errors.As(err, &wrapped) {
			err = wrapped.Err
		}
		return nil, fmt.Errorf("%s cannot be reached: %w", address, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxFetch+1))
	if err != nil {
		return nil, fmt.Errorf("reading the response of %s: %w", address, err)
	}
	answer := &fetched{status: response.StatusCode, finalURL: response.Request.URL.String(), body: body}
	if len(body) > maxFetch {
		answer.body, answer.cut = body[:maxFetch], true
	}
	kind, _, err := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if err != nil {
		kind, _, _ = mime.ParseMediaType(http.DetectContentType(answer.body))
	}
	answer.mediaType = kind
	return answer, nil
}

// client connects directly: a proxy from the environment could connect to private addresses
// on our behalf. idle closes connections that are kept open.
func (t fetchURL) client(follow followFunc) (client *http.Client, idle func()) {
	// The dialer sees the final address, after redirects and name resolution.
	dialer := &net.Dialer{Timeout: fetchTimeout, Control: func(_, address string, _ syscall.RawConn) error { return t.refuse(address) }}
	transport := &http.Transport{DialContext: dialer.DialContext, TLSHandshakeTimeout: fetchTimeout, MaxResponseHeaderBytes: 64 << 10}
	client = &http.Client{Transport: transport, CheckRedirect: func(request *http.Request, via []*http.Request) error {
		if len(via) >= maxRedirects {
			return fmt.Errorf("it redirects more than %d times", maxRedirects)
		}
		if err := checkURL(request.URL.String()); err != nil || follow == nil {
			return err
		}
		return follow(request.Context(), via[0].URL.String(), request.URL.String())
	}}
	return client, transport.CloseIdleConnections
}

// privateAddressError reports that an address is blocked.
type privateAddressError struct{ address string }

func (e *privateAddressError) Error() string {
	return fmt.Sprintf("%s is not a public address, and fetch_url only connects to those and to the ones that fetch_private in config.toml allows; for a server on this machine use bash with curl", e.address)
}

// RefusePrivate returns an error for an address with a port that is neither public nor in open.
// Zones are ignored.
func RefusePrivate(address string, open ...PrivateAddress) error {
	target, err := netip.ParseAddrPort(address)
	if err != nil {
		return &privateAddressError{address}
	}
	ip := target.Addr().Unmap().WithZone("")
	target = netip.AddrPortFrom(ip, target.Port())
	if slices.ContainsFunc(open, func(p PrivateAddress) bool { return p.opens(target) }) {
		return nil
	}
	if !publicnet.Is(ip) {
		return &privateAddressError{ip.String()}
	}
	return nil
}

func (t fetchURL) show(answer *fetched) agent.Result {
	head := fmt.Sprintf("[%d %s, %s, %d bytes]\n", answer.status, answer.finalURL, answer.mediaType, len(answer.body))
	if answer.cut {
		head = fmt.Sprintf("[%d %s, %s, only the first %d bytes]\n", answer.status, answer.finalURL, answer.mediaType, maxFetch)
	}
	text := string(answer.body)
	switch {
	case answer.mediaType == "text/html" || answer.mediaType == "application/xhtml+xml":
		text = readable(strings.ToValidUTF8(text, "\uFFFD"), answer.finalURL)
	case strings.IndexByte(text, 0) >= 0 || !utf8.ValidString(text) && !strings.HasPrefix(answer.mediaType, "text/"):
		return agent.Failure("%sfetch_url: this is not text; download it with bash (curl -O) if you need it.", head)
	}
	text = head + t.firstRows("fetch_url", strings.Split(strings.TrimRight(text, "\n"), "\n"), MaxLines, "lines", "they cannot be shown")
	result := agent.Success(text)
	result.IsError = answer.status >= 400
	result.Details = details(map[string]any{"status": answer.status, "url": answer.finalURL, "mediaType": answer.mediaType, "bytes": len(answer.body)})
	return result
}
