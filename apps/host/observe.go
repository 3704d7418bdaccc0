package host

import (
	"context"
	"net"

	"github.com/scorel/scorel/apps/host/internal/observe"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/trace"
)

// observing is what a host counts and traces with. Without settings for it, all is nil.
type observing struct {
	metrics  *observe.Metrics
	listener net.Listener
	tracer   *trace.Tracer
}

// loadObserver makes what config.toml asks for. It returns nil if that is nothing.
func (w *wiring) loadObserver() (_ *observe.Observer, err error) {
	o := &w.observing
	if url := w.config.TraceURL; url != "" {
		if o.tracer, err = trace.New(trace.Options{URL: url, Service: "scorel-host", Version: w.cfg.Version, Logger: w.log}); err != nil {
			return nil, state.Misconfigured(err)
		}
	}
	if address := w.config.MetricsListen; address != "" {
		if o.listener, err = observe.Listen(address); err != nil {
			return nil, state.Misconfigured(err)
		}
		o.metrics = observe.NewMetrics(w.cfg.Version, []string{api.PathConnected, api.PathConnecting, api.PathOff}, w.stateNow)
	}
	return observe.New(o.tracer, o.metrics), nil
}

// stateNow describes what the host is doing.
func (w *wiring) stateNow() observe.State {
	counts := w.sessions.Counts()
	now := observe.State{
		Sessions: counts.Sessions, Running: counts.Running, Approvals: counts.Approvals, Questions: counts.Questions,
		Connections: w.hub.Connections(), Relays: map[string]int{},
	}
	for _, path := range w.uplinks.Paths() {
		if path.Kind == api.PathRelay {
			now.Relays[path.State]++
		}
	}
	return now
}

// observe serves metrics and sends spans until ctx ends.
func (h *Host) observe(ctx context.Context) {
	o := h.observing
	if o.metrics != nil {
		h.wg.Go(func() { o.metrics.Serve(ctx, o.listener, h.log) })
	}
	if o.tracer != nil {
		h.wg.Go(func() { o.tracer.Run(ctx) })
	}
}
