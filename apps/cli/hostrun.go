package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/packages/client/relayconn"
	"github.com/scorel/scorel/packages/loopback"
	"github.com/scorel/scorel/packages/protocol/api"
)

// newLocalHost creates the host of this machine. It reports a host that is already running
// and, if a relay is wanted, a missing choice of relay.
func newLocalHost(ctx context.Context, cfg host.Config, relay relayWish) (*host.Host, error) {
	if err := host.Seclude(); err != nil {
		return nil, err
	}
	h, err := host.New(ctx, cfg)
	var live *host.LiveError
	if errors.As(err, &live) {
		return nil, hostRuns(err, live.PID)
	}
	if err != nil {
		return nil, err
	}
	if relay != noRelay && !cfg.NoRelay && h.State().RelayURL == "" {
		err := usagef("no relay is configured: give --relay URL, set SCOREL_RELAY_URL, set relay_url in config.toml, or %s", relay)
		return nil, errors.Join(err, h.Close())
	}
	return h, nil
}

// relayWish says what a person can do if a host that needs a relay has none.
type relayWish string

const (
	noRelay      relayWish = "" // none is needed
	relayToServe relayWish = "run `scorel host serve --no-relay`"
	relayToPair  relayWish = "start `scorel up`, which runs one on this machine"
)

func hostRuns(cause error, pid int) error {
	return sayf(cause, "a host is already running on this machine (process %d): `scorel host status` shows it, `scorel host stop` stops it", pid)
}

// part is something that runs in this process next to the command.
type part struct {
	cancel context.CancelFunc
	done   chan struct{} // closed when it has ended
	err    error         // why it failed; read after done
}

// startPart runs a function until its context ends. The caller must call stop.
func startPart(ctx context.Context, run func(context.Context) error) *part {
	ctx, cancel := context.WithCancel(ctx)
	p := &part{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		p.err = run(ctx)
	}()
	return p
}

// stop stops the part, if it has not ended on its own, and returns its error.
func (p *part) stop() error {
	p.cancel()
	<-p.done
	return p.err
}

// runningHost is a host that runs in this process.
type runningHost struct {
	*part
	host *host.Host
}

func runHost(ctx context.Context, h *host.Host) *runningHost {
	return &runningHost{startPart(ctx, h.Run), h}
}

// ready waits until the host accepts connections.
func (r *runningHost) ready(ctx context.Context) error {
	select {
	case <-r.host.Ready():
		return nil
	case <-r.done:
		if err := r.stop(); err != nil {
			return fmt.Errorf("the host ended before it was ready: %w", err)
		}
		return errors.New("the host ended before it was ready: see its log for why")
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// wait waits for the host to end on its own or with its context.
func (r *runningHost) wait() error {
	<-r.done
	return r.stop()
}

// probeTimeout bounds the check whether a relay responds.
const probeTimeout = 10 * time.Second

// probeRelay reports immediately if nothing responds at a relay's address, where a host
// would keep retrying. Any response counts: the login does the rest.
func probeRelay(ctx context.Context, relayURL string) error {
	target, _, err := relayconn.ParseURL(relayURL)
	if err != nil {
		return err
	}
	target.Scheme = strings.Replace(target.Scheme, "ws", "http", 1)
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return fmt.Errorf("asking the relay at %s: %w", relayURL, err)
	}
	response, err := (&http.Client{CheckRedirect: relayconn.NoRedirects}).Do(request)
	if err != nil {
		return fmt.Errorf("%w at %s: is it running, and is the URL right? (%w)", relayconn.ErrUnreachable, relayURL, relayconn.Brief(err))
	}
	return response.Body.Close()
}

// pollEvery is the interval for polling what cannot be waited for.
const pollEvery = 50 * time.Millisecond

// poll calls look until it returns true, fails, or ctx ends.
func poll(ctx context.Context, look func() (bool, error)) error {
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	for {
		if ok, err := look(); ok || err != nil {
			return err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// sameRelay reports whether two URLs refer to the same relay.
func sameRelay(a, b string) bool {
	ua, _, errA := relayconn.ParseURL(a)
	ub, _, errB := relayconn.ParseURL(b)
	if errA != nil || errB != nil {
		return false
	}
	// localhost and 127.0.0.1 refer to the same relay.
	for _, u := range []*url.URL{ua, ub} {
		if loopback.Is(u.Host) {
			u.Host = net.JoinHostPort("localhost", u.Port())
		}
	}
	return ua.String() == ub.String()
}

// absolutes makes the folders that a person named absolute.
func absolutes(paths []string) ([]string, error) {
	var list []string
	for _, path := range paths {
		absolute, err := filepath.Abs(path)
		if err != nil {
			return nil, fmt.Errorf("resolving %s: %w", path, err)
		}
		list = append(list, absolute)
	}
	return list, nil
}

// modelLine says which model is used.
func modelLine(info api.HostInfo, home string) string {
	if answersDemo(info) {
		return "prompts go to the demo model, which is not an AI: save a key in the settings of the machine on the page, set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or write " + filepath.Join(home, "config.toml")
	}
	return "prompts go to the model " + printable(info.DefaultModel)
}
