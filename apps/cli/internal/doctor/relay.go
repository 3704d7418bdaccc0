package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/coder/websocket"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/client/link"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// maxAnswer bounds what is read of an answer over HTTP, in bytes.
const maxAnswer = 4 << 10

// health is what /healthz says.
type health struct {
	Status  string `json:"status"`
	Version string `json:"version"`
	Problem string `json:"problem"`
}

// relay asks for the health and greets. The greeting decides: a proxy in front of a
// relay may well hide the health.
func (p *probe) relay(ctx context.Context) outcome {
	transport := &http.Transport{Proxy: p.opts.Proxy, TLSClientConfig: p.tlsConfig()}
	p.http = &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	told, stopped := p.health(ctx)
	if stopped != nil {
		return *stopped
	}
	ws, response, err := websocket.Dial(ctx, p.target.String(), &websocket.DialOptions{Subprotocols: []string{wire.Subprotocol}, HTTPClient: p.http})
	if err != nil {
		return p.noGreeting(response, err)
	}
	defer func() { _ = ws.CloseNow() }() // the greeting is all that was wanted
	ws.SetReadLimit(wire.MaxPreLogin)
	_, data, err := ws.Read(ctx)
	if err != nil {
		return p.noAnswer(err)
	}
	frame, err := wire.DecodeControl(data, wire.MaxPreLogin)
	hello, isHello := frame.(*wire.RelayHello)
	switch {
	case err != nil || !isHello:
		return failed(RelayOther, unreachable(errors.New("no greeting of a relay")), "%s takes WebSockets, but does not greet as a relay does", p.authority)
	case hello.Version < wire.Version:
		return failed(RelayVersion, ErrRefused, "the relay speaks version %d of the protocol, this program %d", hello.Version, wire.Version)
	case told.Problem != "":
		return warn(RelayFailing, "the relay says that it is failing: %s", told.Problem)
	case told.Version != "":
		return ok("scorel %s, protocol version %d", told.Version, hello.Version)
	}
	return ok("protocol version %d; its health is not shown to the public", hello.Version)
}

// health reads /healthz and the clock. It stops the chain only when no server
// answers, or one that serves other names.
func (p *probe) health(ctx context.Context) (told health, stopped *outcome) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.address("/healthz").String(), nil)
	if err != nil {
		o := failed(URLBad, err, "%s", err)
		return told, &o
	}
	sent := p.opts.Now()
	response, err := p.http.Do(request)
	if err != nil {
		o := p.noAnswer(err)
		return told, &o
	}
	defer func() { _ = response.Body.Close() }() // what it held was read
	if date, err := http.ParseTime(response.Header.Get("Date")); err == nil {
		p.relayTime, p.localTime = date, middle(sent, p.opts.Now())
	}
	if response.StatusCode == http.StatusMisdirectedRequest {
		o := p.otherName()
		return told, &o
	}
	if json.NewDecoder(io.LimitReader(response.Body, maxAnswer)).Decode(&told) != nil || told.Status == "" {
		return health{}, nil
	}
	return told, nil
}

func (p *probe) otherName() outcome {
	return failed(RelayName, ErrRefused, "the relay does not answer to the name %s", p.authority)
}

// noAnswer explains a server that took the connection and did not answer.
func (p *probe) noAnswer(err error) outcome {
	var address *url.Error
	if errors.As(err, &address) {
		err = address.Err // without the address, which the step says
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return failed(RelaySilent, unreachable(err), "%s accepted the connection and said nothing", p.authority)
	}
	return failed(RelayLost, unreachable(err), "%s did not answer as a web server does: %s", p.authority, reason(err))
}

// noGreeting explains an upgrade that did not happen.
func (p *probe) noGreeting(response *http.Response, err error) outcome {
	if response == nil || response.StatusCode == http.StatusSwitchingProtocols {
		return p.noAnswer(err)
	}
	switch response.StatusCode {
	case http.StatusMisdirectedRequest:
		return p.otherName()
	case http.StatusTooManyRequests:
		return failed(RelayRate, ErrRefused, "the relay takes no more connections from this address for now")
	case http.StatusServiceUnavailable, http.StatusBadGateway, http.StatusGatewayTimeout:
		return failed(RelayBusy, unreachable(fmt.Errorf("answered %s", response.Status)), "%s answered %s%s", p.authority, response.Status, body(response))
	}
	where := ""
	if to := response.Header.Get("Location"); to != "" {
		where = " and points to " + to
	}
	return failed(RelayOther, unreachable(fmt.Errorf("answered %s", response.Status)), "%s answered %s%s%s, not as a relay", p.authority, response.Status, where, body(response))
}

// body is the first line of an answer, for people.
func body(response *http.Response) string {
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	line, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	if err != nil || line == "" || strings.HasPrefix(line, "<") {
		return ""
	}
	return ": " + line
}

// login logs in exactly as every other command does.
func (p *probe) login(ctx context.Context) outcome {
	keys, err := p.opts.Keys()
	if err != nil {
		return failed(LoginKeys, err, "%s", err)
	}
	sent := p.opts.Now()
	entry, err := client.DialEntry(ctx, link.Config{RelayURL: p.opts.RelayURL, Keys: keys, Label: p.opts.Label, HTTPClient: p.http})
	if err != nil {
		return refusedLogin(err)
	}
	p.entry = entry
	p.relayTime, p.localTime = entry.ServerTime(), middle(sent, p.opts.Now())
	return ok("as %s", keys.ID())
}

func refusedLogin(err error) outcome {
	var refused *wire.Error
	if !errors.As(err, &refused) {
		return failed(LoginLost, unreachable(err), "%s", reason(err))
	}
	if refused.Kind == wire.KindBadFrame { // found by either side, not decided by the relay
		return failed(LoginBroken, err, "the login broke: %s", refused.Message)
	}
	finding, known := map[wire.Kind]Finding{
		wire.KindBadVersion:     LoginVersion,
		wire.KindBadProof:       LoginProof,
		wire.KindWrongAuthority: LoginName,
		wire.KindRateLimited:    LoginRate,
		wire.KindLimit:          LoginRate,
		wire.KindUnavailable:    LoginUnavailable,
		wire.KindShuttingDown:   LoginUnavailable,
	}[refused.Kind]
	if !known {
		finding = LoginRefused
	}
	if !refusedBy(refused) {
		return failed(finding, unreachable(refused), "the relay says: %s", refused.Message)
	}
	return failed(finding, refused, "the relay says: %s", refused.Message)
}

// mostSkew is how far clocks may be apart.
const mostSkew = time.Minute

// clock compares this machine's clock with the relay's: what it said at the login or,
// failing that, the Date of its server.
func (p *probe) clock(context.Context) outcome {
	if p.relayTime.IsZero() {
		return skipped("nobody told the time")
	}
	skew := p.localTime.Sub(p.relayTime).Round(time.Second)
	switch {
	case skew > mostSkew:
		return warn(ClockSkew, "this machine's clock is %s ahead of the relay's", skew)
	case skew < -mostSkew:
		return warn(ClockSkew, "this machine's clock is %s behind the relay's", -skew)
	}
	return ok("within %s", max(time.Second, skew.Abs()))
}

func middle(a, b time.Time) time.Time { return a.Add(b.Sub(a) / 2) }
