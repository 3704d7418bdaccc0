package relay

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/netip"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/scorel/scorel/apps/relay/bus"
	"github.com/scorel/scorel/apps/relay/internal/authority"
	"github.com/scorel/scorel/apps/relay/internal/limits"
	"github.com/scorel/scorel/apps/relay/internal/queue"
	"github.com/scorel/scorel/apps/relay/store"
)

// Limits bounds what peers may use. See the fields for their defaults.
type Limits = limits.Limits

// Rate is the rate of a token bucket: Burst at once, then one per Every.
type Rate = limits.Rate

// ByteRates bounds what peers may send, in bytes per second.
type ByteRates = limits.ByteRates

const (
	// MostNodes is the number of nodes that limits are checked for when it is not configured.
	MostNodes = limits.MostNodes
	// MaxGuess is the greatest chance of guessing a code that limits may leave.
	MaxGuess = limits.MaxGuess
)

// TrustedAddr reports whether an address is in one of the trusted prefixes.
func TrustedAddr(addr netip.Addr, trusted []netip.Prefix) bool {
	return authority.TrustedAddr(addr, trusted)
}

// Config is what New builds a Relay from. Only Store is required.
type Config struct {
	// PublicURLs are the addresses at which people reach this relay, such as
	// "https://relay.example". They decide which Host headers are served, which
	// authorities a login proof may name, and which pages may connect. Loopback names
	// are served as well.
	PublicURLs []string
	// AllowedOrigins are pages hosted elsewhere that may connect, such as
	// "https://app.example".
	AllowedOrigins []string
	// TrustedProxies are the addresses whose X-Forwarded-For is trusted. It only
	// determines which address rate limits count.
	TrustedProxies []netip.Prefix

	// Admission says which peers the relay admits; SetAdmission changes it.
	Admission Admission
	// Collectors are additional metrics, of the process around the relay.
	Collectors []prometheus.Collector

	Store  store.Store  // devices, clients and bindings; the caller closes it
	Bus    bus.Bus      // other nodes; nil means none
	Logger *slog.Logger // nil discards
	Web    fs.FS        // the web UI with index.html at its root; nil means none
	Docs   fs.FS        // the documentation with index.html at its root; nil means none
	// Version is shown by /healthz.
	Version string
	Limits  Limits
	// Nodes is how many nodes share the store, for the chance of guessing a code:
	// limits count per node. 0 is 1 without a bus and MostNodes with one.
	Nodes int
}

// withDefaults sets missing fields to their defaults and checks the rest.
func (cfg Config) withDefaults() (Config, error) {
	if cfg.Store == nil {
		return cfg, errors.New("relay: Config.Store is missing: open a store, for example with store/sqlite")
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	cfg.Limits = cfg.Limits.WithDefaults()
	if err := cfg.Limits.Check(); err != nil {
		return cfg, fmt.Errorf("relay: %w", err)
	}
	return cfg, cfg.Limits.CheckGuessing(nodesOr(cfg.Nodes, cfg.Bus))
}

// trunkShare is how many times the queue of one peer a trunk may hold.
const trunkShare = 16

func peerQueues(l Limits) queue.Limits {
	return queue.Limits{Channel: l.ChannelQueue, Data: l.Queue, Total: l.Queue + l.ControlRoom, Timeout: l.WriteTimeout}
}

// trunkQueues has no timeout: the bus bounds how long a publication takes.
func trunkQueues(l Limits) queue.Limits {
	return queue.Limits{Channel: l.ChannelQueue, Data: trunkShare * l.Queue, Total: trunkShare*l.Queue + l.ControlRoom}
}

// nodesOr returns how many nodes limits are checked for.
func nodesOr(nodes int, joined bus.Bus) int {
	switch {
	case nodes != 0:
		return nodes
	case joined != nil:
		return MostNodes
	}
	return 1
}
