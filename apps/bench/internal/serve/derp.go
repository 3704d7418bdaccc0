package serve

import (
	"context"
	"net"
	"os"
	"strconv"

	"tailscale.com/derp/derpserver"
	"tailscale.com/types/key"
)

// derpQueueEnv is where Tailscale's server reads how many packets may wait for one
// connection. It drops what is more, and has no way to say so.
const derpQueueEnv = "TS_DEBUG_DERP_PER_CLIENT_SEND_QUEUE_DEPTH"

// serveDERP runs Tailscale's relay behind its own HTTP handler, without TLS.
func serveDERP(ctx context.Context, l net.Listener, opts Options, ready func(string)) error {
	if opts.Queue > 0 {
		if err := os.Setenv(derpQueueEnv, strconv.Itoa(opts.Queue)); err != nil {
			return err
		}
	}
	private := key.NewNode()
	s := derpserver.New(private, func(string, ...any) {})
	defer s.Close()
	text, err := private.Public().MarshalText()
	if err != nil {
		return err
	}
	ready(string(text))
	return serveHTTP(ctx, l, derpserver.Handler(s))
}
