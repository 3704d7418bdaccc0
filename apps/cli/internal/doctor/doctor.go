// Package doctor tests the connection from an entry to a host step by step, and says where
// it fails, why, and what to do.
//
// The steps run in order, each with the results of the previous ones. After a failed step
// the rest is skipped, because later failures would only be consequences. The meaning of
// the steps and the advice for each finding are vocabulary (words.go) shared with the web
// UI.
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

// ErrRefused reports that the other side, or something on the way, refused.
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
	Finding  Finding // what was found, for programs; empty if everything is fine
	Detail   string  // what was found, in words
	Duration time.Duration
	// Err is the cause of a failure. It wraps relayconn.ErrUnreachable if nothing responded, and
	// ErrRefused or a *wire.Error if something refused.
	Err error
}

// Hint returns what to do, or "".
func (s Step) Hint() string { return hints[s.Finding] }

// Report is a step in the form for programs.
type Report struct {
	Name       Name    `json:"step"`
	Status     Status  `json:"status"`
	Finding    Finding `json:"finding,omitempty"`
	Detail     string  `json:"detail"`
	Hint       string  `json:"hint,omitempty"`
	DurationMs float64 `json:"durationMs"`
}

// Report returns the step in the form for programs.
func (s Step) Report() Report {
	return Report{s.Name, s.Status, s.Finding, s.Detail, s.Hint(), float64(s.Duration.Microseconds()) / 1000}
}

// Device is a paired device with its pinned keys.
type Device struct {
	ID ident.ID
	ident.Public
	Label string
	// New says that the device was never reached over this path.
	New bool
}

// Options configure a probe. RelayURL and Keys are required.
type Options struct {
	RelayURL string
	// Keys returns the identity to log in with.
	Keys func() (*ident.Private, error)
	// Label is the entry's name. It should be the one that the entry uses elsewhere,
	// because the relay remembers the last one.
	Label string
	// Devices are the devices to test behind the relay; without any, the probe ends after
	// the clock.
	Devices []Device
	// Listener says that RelayURL is a listener of a device in the local network or on this
	// machine: plain HTTP is expected there, and no proxy is used.
	Listener bool
	// Report is called after each step. device is nil for the steps up to the relay.
	Report func(device *Device, step Step)

	Timeout time.Duration                         // per step; default 10 s
	RootCAs *x509.CertPool                        // nil means the system's
	Proxy   func(*http.Request) (*url.URL, error) // nil means the environment's
	Now     func() time.Time                      // this machine's clock; nil means time.Now
}

const stepTimeout = 10 * time.Second

func (o Options) withDefaults() Options {
	if o.Timeout == 0 {
		o.Timeout = stepTimeout
	}
	if o.Listener {
		o.Proxy = func(*http.Request) (*url.URL, error) { return nil, nil }
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

// probe is one run against one relay. Each step stores its results here for later ones.
type probe struct {
	// Static after Run has begun.
	opts Options

	target    *url.URL // URL to dial: ws or wss, with the path
	authority string
	proxy     *url.URL
	hop       string // host:port of the first machine on the way
	addrs     []string
	conn      net.Conn // to the relay, or through the proxy, before TLS
	http      *http.Client
	relayTime time.Time // the relay's time at localTime
	localTime time.Time
	entry     *client.Entry
}

// check is a step of a chain.
type check struct {
	name Name
	run  func(context.Context) outcome
	// anyway runs the step even after a failure.
	anyway bool
}

// Run runs all steps and returns the first failure, or nil. Warnings are not failures. The
// error is that of ctx if it ended.
func Run(ctx context.Context, opts Options) (*Failure, error) {
	p := &probe{opts: opts.withDefaults()}
	defer p.close()
	first := p.chain(ctx, nil, []check{
		{StepURL, p.url, false}, {StepDNS, p.dns, false}, {StepTCP, p.tcp, false}, {StepProxy, p.throughProxy, false},
		{StepTLS, p.tls, false}, {StepRelay, p.relay, false}, {StepLogin, p.login, false}, {StepClock, p.clock, true},
	})
	for i := range p.opts.Devices {
		if first != nil && first.Device == nil {
			break // none of them can be reached
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
	Device *Device // nil before any device
	Step   Step
}

func (p *probe) chain(ctx context.Context, device *Device, checks []check) *Failure {
	var failure *Failure
	for _, c := range checks {
		if failure != nil && !c.anyway {
			p.opts.Report(device, Step{Name: c.name, Status: StatusSkipped, Detail: fmt.Sprintf("not tried, because %s failed", failure.Step.Name)})
			continue
		}
		step := p.try(ctx, c)
		if ctx.Err() != nil {
			return failure // interrupted: the step's result is only a consequence
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
		_ = p.conn.Close() // it only served as a test
		p.conn = nil
	}
}

func (p *probe) tlsConfig() *tls.Config {
	return &tls.Config{ServerName: p.target.Hostname(), RootCAs: p.opts.RootCAs, Time: p.opts.Now, NextProtos: []string{"http/1.1"}}
}

// outcome is the result of a step.
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

// refusedBy reports whether a relay's error is a refusal rather than a temporary condition.
func refusedBy(err *wire.Error) bool {
	switch err.Kind {
	case wire.KindUnavailable, wire.KindShuttingDown, wire.KindLoginTimeout, wire.KindDeviceOffline:
		return false
	}
	return true
}
