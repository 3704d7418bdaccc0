package serve

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/scorel/scorel/apps/relay"
	"github.com/scorel/scorel/apps/relay/bus"
	"github.com/scorel/scorel/apps/relay/bus/nats"
	"github.com/scorel/scorel/apps/relay/store/sqlite"
)

// serveScorel runs our relay as its own command does, but for the limits of
// connections and of what one address may do: all peers here have one.
func serveScorel(ctx context.Context, l net.Listener, opts Options, ready func(string)) error {
	st, err := sqlite.Open(ctx, opts.Store)
	if err != nil {
		return err
	}
	defer st.Close()
	var joined bus.Bus
	if opts.Bus != "" {
		if joined, err = nats.New(opts.Bus, nil); err != nil {
			return err
		}
	}
	r, err := relay.New(relay.Config{Store: st, Bus: joined, Version: "bench", Limits: relay.Limits{Connections: 100_000}})
	if err != nil {
		return err
	}
	ready("")
	err = serveHTTP(ctx, l, r.Handler())
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	return errors.Join(err, r.Shutdown(stop))
}

// serveHTTP serves until ctx ends.
func serveHTTP(ctx context.Context, l net.Listener, h http.Handler) error {
	server := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })() // Serve returns then
	err := server.Serve(l)
	if ctx.Err() != nil {
		return nil
	}
	return err
}
