// Package doctor probes the way from an entry to a host step by step, and says
// where it stops, why, and what to do.
//
// The steps run one after the other, each with what the one before it found. After
// a step that failed the rest is skipped: a later failure would only be its echo.
// What a step means and what helps against each finding is vocabulary (words.go)
// that the web UI shares.
//
// A probe logs in as the entry does, on a connection of its own that it closes, and
// changes nothing at the relay or on the host.
package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// ErrRefused says that the other side, or something on the way, said no.
var ErrRefused = errors.New("refused")

// Status is how a step ended.
type Status string

// Every status. StatusWarn does not stop the chain.
const (
	StatusOK      Status = "ok"
	StatusWarn    Status = "warn"
	StatusFailed  Status = "failed"
	StatusSkipped Status = "skipped"
)

// Step is the outcome of one step.
type Step struct {
	Name     Name
	Status   Status
	Finding  Finding // what was found, for programs; empty when all is well
	Detail   string  // what was found, in words
	Duration time.Duration
	// Err is the cause of a failure. It wraps link.ErrUnreachable where nobody
	// answered, and ErrRefused or a *wire.Error where somebody said no.
	Err error
}

// Hint says what to do; empty when there is nothing to do.
func (s Step) Hint() string { return hints[s.Finding] }

// Report is a step as programs read it.
type Report struct {
	Name       Name    `json:"step"`
	Status     Status  `json:"status"`
	Finding    Finding `json:"finding,omitempty"`
	Detail     string  `json:"detail"`
	Hint       string  `json:"hint,omitempty"`
	DurationMs float64 `json:"durationMs"`
}

// Report gives the step as programs read it.
func (s Step) Report() Report {
	return Report{s.Name, s.Status, s.Finding, s.Detail, s.Hint(), float64(s.Duration.Microseconds()) / 1000}
}

// Device is a paired device with its pinned keys.
type Device struct {
	ID ident.ID
	ident.Public
	Label string
}

// Options says what to probe. RelayURL and Keys are needed.
type Options struct {
	RelayURL string
	// Keys gives the identity to log in with.
	Keys func() (*ident.Private, error)
	// Label is how the entry names itself. It should be the one that it uses
	// elsewhere, for the relay remembers the last.
	Label string
	// Devices are looked for behind the relay; none ends the probe after the clock.
	Devices []Device
	// Report is told of each step when it has ended. device is nil for the steps up
	// to the relay.
	Report func(device *Device, step Step)

	Timeout time.Duration                         // of one step; 10 s
	RootCAs *x509.CertPool                        // nil is the system's
	Proxy   func(*http.Request) (*url.URL, error) // nil is the environment's
	Now     func() time.Time                      // this machine's clock; nil is time.Now
}

const stepTimeout = 10 * time.Second

func (o Options) withDefaults() Options {
	if o.Timeout == 0 {
		o.Timeout = stepTimeout
	}
	if o.Proxy == nil {
		o.Proxy = http.ProxyFromEnvironment
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Report == nil {
		o.Report = func(*Device, Step) {}
	}
	return o
}

// probe is one run against one relay. Each step leaves here what the next needs.
type probe struct {
	// Static after Run has begun.
	opts Options

	target    *url.URL // to dial: ws or wss, with the path
	authority string
	proxy     *url.URL
	hop       string // host:port of the first machine on the way
	addrs     []string
	conn      net.Conn // to the relay, or through the proxy, until TLS takes it
	http      *http.Client
	relayTime time.Time // by the relay's clock, at localTime by this machine's
	localTime time.Time
	entry     *client.Entry
}

// check is a step of a chain.
type check struct {
	name Name
	run  func(context.Context) outcome
	// anyway runs the step although one before it failed.
	anyway bool
}

// Run probes until everything is known and returns the first failure, or nil.
// Warnings are no failure. The error is that of ctx when it ended.
func Run(ctx context.Context, opts Options) (*Failure, error) {
	p := &probe{opts: opts.withDefaults()}
	defer p.close()
	first := p.chain(ctx, nil, []check{
		{StepURL, p.url, false}, {StepDNS, p.dns, false}, {StepTCP, p.tcp, false}, {StepProxy, p.throughProxy, false},
		{StepTLS, p.tls, false}, {StepRelay, p.relay, false}, {StepLogin, p.login, false}, {StepClock, p.clock, true},
	})
	for i := range p.opts.Devices {
		if first != nil && first.Device == nil {
			break // there is no way to any of them
		}
		device := &p.opts.Devices[i]
		d := &deviceProbe{probe: p, device: device}
		failure := p.chain(ctx, device, []check{
			{StepBinding, d.binding, false}, {StepPresence, d.presence, false}, {StepChannel, d.channel, false},
			{StepSeal, d.seal, false}, {StepAPI, d.api, false},
		})
		d.close()
		if first == nil {
			first = failure
		}
	}
	return first, ctx.Err()
}

// Failure is where a chain stopped.
type Failure struct {
	Device *Device // nil: before any device
	Step   Step
}

func (p *probe) chain(ctx context.Context, device *Device, checks []check) *Failure {
	var failure *Failure
	for _, c := range checks {
		if failure != nil && !c.anyway {
			p.opts.Report(device, Step{Name: c.name, Status: StatusSkipped, Detail: fmt.Sprintf("not tried, for %s failed", failure.Step.Name)})
			continue
		}
		step := p.try(ctx, c)
		if ctx.Err() != nil {
			return failure // interrupted: what the step says is only an echo
		}
		if step.Status == StatusFailed && failure == nil {
			failure = &Failure{device, step}
		}
		p.opts.Report(device, step)
	}
	return failure
}

func (p *probe) try(ctx context.Context, c check) Step {
	ctx, cancel := context.WithTimeout(ctx, p.opts.Timeout)
	defer cancel()
	start := time.Now()
	o := c.run(ctx)
	return Step{c.name, o.status, o.finding, o.detail, time.Since(start), o.err}
}

func (p *probe) close() {
	p.hangUp()
	if p.http != nil {
		p.http.CloseIdleConnections()
	}
	if p.entry != nil {
		p.entry.Close()
	}
}

func (p *probe) hangUp() {
	if p.conn != nil {
		_ = p.conn.Close() // it only showed that there is a way
		p.conn = nil
	}
}

func (p *probe) tlsConfig() *tls.Config {
	return &tls.Config{ServerName: p.target.Hostname(), RootCAs: p.opts.RootCAs, Time: p.opts.Now, NextProtos: []string{"http/1.1"}}
}

// outcome is what a step found.
type outcome struct {
	status  Status
	finding Finding
	detail  string
	err     error
}

func ok(format string, args ...any) outcome {
	return outcome{status: StatusOK, detail: fmt.Sprintf(format, args...)}
}

func skipped(format string, args ...any) outcome {
	return outcome{status: StatusSkipped, detail: fmt.Sprintf(format, args...)}
}

func warn(f Finding, format string, args ...any) outcome {
	return outcome{status: StatusWarn, finding: f, detail: fmt.Sprintf(format, args...)}
}

func failed(f Finding, err error, format string, args ...any) outcome {
	return outcome{StatusFailed, f, fmt.Sprintf(format, args...), err}
}

// refusedBy tells whether a relay's error is a no, and not a "not now".
func refusedBy(err *wire.Error) bool {
	switch err.Kind {
	case wire.KindUnavailable, wire.KindShuttingDown, wire.KindLoginTimeout, wire.KindDeviceOffline:
		return false
	}
	return true
}
