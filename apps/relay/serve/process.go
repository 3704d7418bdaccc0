package serve

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/scorel/scorel/apps/relay"
)

// process is a relay being served.
type process struct {
	relay   *relay.Relay
	opts    Options
	handler http.Handler
	secured *secured  // nil without TLS
	proxies *believed // nil without the PROXY protocol
	metrics *metrics
}

// run serves until ctx ends and then stops in order.
func (p *process) run(ctx context.Context) error {
	log := p.opts.Logger
	server := &http.Server{
		Handler:           p.handler,
		ReadHeaderTimeout: headerTimeout, // also limits a TLS handshake
		ReadTimeout:       requestTimeout,
		WriteTimeout:      answerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	listener := p.opts.Listener
	if p.secured != nil {
		listener = tls.NewListener(listener, p.secured.config)
	}
	if p.opts.Ready != nil {
		if err := p.opts.Ready(); err != nil {
			return errors.Join(err, p.relay.Shutdown(ctx))
		}
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	log.Info("relay is listening", "address", listener.Addr().String(), "tls", p.secured != nil, "publicURLs", p.opts.PublicURLs, "version", p.opts.Version)
	err := p.wait(ctx, failed)
	p.stop(context.WithoutCancel(ctx), server, err == nil)
	if err == nil {
		<-failed // Serve has returned
	}
	return err
}

// wait reloads on request, and returns nil when ctx ends, or an error when serving
// fails.
func (p *process) wait(ctx context.Context, failed <-chan error) error {
	for {
		select {
		case <-p.opts.Reload:
			p.reload()
		case <-ctx.Done():
			return nil
		case err := <-failed:
			return fmt.Errorf("serving: %w", err)
		}
	}
}

// stop drains, if peers can still be notified, and closes the remaining
// connections.
func (p *process) stop(ctx context.Context, server *http.Server, drain bool) {
	log := p.opts.Logger
	log.Info("relay is stopping")
	if window := p.opts.drainWindow(); drain && window > 0 {
		_ = p.relay.Drain(ctx, window) // it ends after its window: ctx does not end
	}
	stop, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	if cut := p.relay.Shutdown(stop); cut != nil {
		log.Warn("some peers were disconnected without a goodbye", "error", cut)
	}
	if server.Shutdown(stop) != nil {
		_ = server.Close() // the deadline has passed
	}
}

// reload reads certificates and settings again. Invalid ones change nothing.
func (p *process) reload() {
	files := p.secured != nil && p.secured.reload != nil
	if files {
		_ = p.secured.reload() // logged and counted
	}
	if p.opts.Settings == nil {
		if !files {
			p.opts.Logger.Info("nothing to reload: settings from flags change only with a restart")
		}
		return
	}
	settings, err := p.opts.Settings()
	if err == nil {
		err = p.use(settings)
	}
	p.metrics.reloaded(reloadSettings, err)
	if err != nil {
		p.opts.Logger.Error("the new settings are invalid; the old ones stay in use", "error", err)
		return
	}
	p.opts.Logger.Info("settings were reloaded", "publicURLs", settings.PublicURLs)
}

// use applies new settings to the relay, or changes nothing.
func (p *process) use(settings relay.Settings) error {
	if p.proxies == nil {
		return p.relay.Reload(settings)
	}
	if err := checkBelieved(settings.TrustedProxies); err != nil {
		return err
	}
	if err := p.relay.Reload(settings); err != nil {
		return err
	}
	p.proxies.set(settings.TrustedProxies)
	return nil
}
