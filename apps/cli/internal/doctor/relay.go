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
	"github.com/scorel/scorel/packages/client/relayconn"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// maxAnswer bounds how much of an HTTP response is read, in bytes.
const maxAnswer = 4 << 10

// health is the response of /healthz.
type health struct {
	Status  string `json:"status"`
	Version string `json:"version"`
	Problem string `json:"problem"`
}

// relay requests the health and waits for the greeting. The greeting decides, because a
// proxy in front of a relay may hide the health endpoint.
func (p *probe) relay(ctx context.Context) outcome {
	transport := &http.Transport{Proxy: p.opts.Proxy, TLSClientConfig: p.tlsConfig()}
	p.http = &http.Client{Transport: transport, CheckRedirect: relayconn.NoRedirects}
	answer, stopped := p.health(ctx)
	if stopped != nil {
		return *stopped
	}
	ws, response, err := websocket.Dial(ctx, p.target.String(), &websocket.DialOptions{Subprotocols: []string{wire.Subprotocol}, HTTPClient: p.http})
	if err != nil {
		return p.noGreeting(response, err)
	}
	defer func() { _ = ws.CloseNow() }() // only the greeting was needed
	ws.SetReadLimit(wire.MaxPreLogin)
	_, data, err := ws.Read(ctx)
	if err != nil {
		return p.noAnswer(err)
	}
	frame, err := wire.DecodeControl(data, wire.MaxPreLogin)
	hello, isHello := frame.(*wire.RelayHello)
	switch {
	case err != nil || !isHello:
		return failed(RelayOther, unreachable(errors.New("no greeting of a relay")), "%s accepts WebSockets but does not greet like a relay", p.authority)
	case hello.Version < wire.Version:
		return failed(RelayVersion, ErrRefused, "the relay uses protocol version %d, this program %d", hello.Version, wire.Version)
	case answer.Problem != "":
		return warn(RelayFailing, "the relay says that it is failing: %s", answer.Problem)
	case answer.Version != "":
		return ok("scorel %s, protocol version %d", answer.Version, hello.Version)
	}
	return ok("protocol version %d; its health is not public", hello.Version)
}

// health reads /healthz and the clock. It stops the chain only if no server responds, or
// one that serves other names.
func (p *probe) health(ctx context.Context) (answer health, stopped *outcome) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.address("/healthz").String(), nil)
	if err != nil {
		o := failed(URLBad, err, "%s", err)
		return answer, &o
	}
	sent := p.opts.Now()
	response, err := p.http.Do(request)
	if err != nil {
		o := p.noAnswer(err)
		return answer, &o
	}
	defer func() { _ = response.Body.Close() }() // the body was read
	if date, err := http.ParseTime(response.Header.Get("Date")); err == nil {
		p.relayTime, p.localTime = date, middle(sent, p.opts.Now())
	}
	if response.StatusCode == http.StatusMisdirectedRequest {
		o := p.otherName()
		return answer, &o
	}
	if json.NewDecoder(io.LimitReader(response.Body, maxAnswer)).Decode(&answer) != nil || answer.Status == "" {
		return health{}, nil
	}
	return answer, nil
}

func (p *probe) otherName() outcome {
	return failed(RelayName, ErrRefused, "the relay does not answer to the name %s", p.authority)
}

// noAnswer explains a server that accepted the connection and did not respond.
func (p *probe) noAnswer(err error) outcome {
	var address *url.Error
	if errors.As(err, &address) {
		err = address.Err // without the address, which the step names
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return failed(RelaySilent, unreachable(err), "%s accepted the connection but sent nothing", p.authority)
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
		return failed(RelayRate, ErrRefused, "the relay accepts no more connections from this address for now")
	case http.StatusServiceUnavailable, http.StatusBadGateway, http.StatusGatewayTimeout:
		return failed(RelayBusy, unreachable(fmt.Errorf("answered %s", response.Status)), "%s answered %s%s", p.authority, response.Status, body(response))
	}
	where := ""
	if to := response.Header.Get("Location"); to != "" {
		where = " and points to " + to
	}
	return failed(RelayOther, unreachable(fmt.Errorf("answered %s", response.Status)), "%s answered %s%s%s, unlike a relay", p.authority, response.Status, where, body(response))
}

// body returns the first line of a response, for people.
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
	entry, err := client.DialEntry(ctx, relayconn.Config{RelayURL: p.opts.RelayURL, Keys: keys, Label: p.opts.Label, HTTPClient: p.http})
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
	if refused.Kind == wire.KindBadFrame { // detected by either side, not a decision of the relay
		return failed(LoginBroken, err, "the login was interrupted: %s", refused.Message)
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

// mostSkew bounds the acceptable difference of the clocks.
const mostSkew = time.Minute

// clock compares this machine's clock with the relay's, as reported at login or else in the
// Date header of its server.
func (p *probe) clock(context.Context) outcome {
	if p.relayTime.IsZero() {
		return skipped("no step reported the time")
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
