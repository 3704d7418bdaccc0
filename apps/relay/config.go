package relay

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/netip"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/scorel/scorel/apps/relay/bus"
	"github.com/scorel/scorel/apps/relay/store"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// Config is what New builds a Relay from. Only Store is required.
type Config struct {
	// PublicURLs are the addresses at which people reach this relay, such as
	// "https://relay.example". They decide which Host headers are served, which
	// authorities a login proof may name, and which pages may connect. Loopback
	// names are served as well, as the request's own Host.
	PublicURLs []string
	// AllowedOrigins are pages hosted elsewhere that may connect, such as
	// "https://app.example".
	AllowedOrigins []string
	// TrustedProxies are the addresses whose X-Forwarded-For is believed. It only
	// decides whom rate limits count.
	TrustedProxies []netip.Prefix

	// Admission is whom the relay lets in; SetAdmission changes it.
	Admission Admission
	// Collectors are metrics of the process around the relay, which /metrics shows too.
	Collectors []prometheus.Collector

	Store  store.Store  // devices, clients and bindings; the caller closes it
	Bus    bus.Bus      // other nodes; nil means there are none
	Logger *slog.Logger // nil discards
	Web    fs.FS        // the web UI with index.html at its root; nil means none
	// Version is shown by /healthz.
	Version string
	Limits  Limits
	// Nodes is how many nodes share the store, for the chance of guessing a code:
	// limits count per node. 0 is 1 without a bus and MostNodes with one.
	Nodes int
}

// Rate is a token bucket: Burst at once, then one per Every.
type Rate struct {
	Burst int
	Every time.Duration
}

// MostNodes is the size of a cluster that limits are checked for.
const MostNodes = 32

// Limits bounds what peers may take. A zero field means its default. An address is
// one of IPv4, or a /64 of IPv6. Limits per address that say so do not hold for
// this machine itself, where a proxy that is not trusted would share one.
type Limits struct {
	Connections           int // open connections; 20000
	ConnectionsPerAddress int // of one address but this machine; 2000
	ConnectionsPerEntry   int // connections (tabs) of one client; 32

	// Memory is how many bytes queues, read buffers and connections may hold in all.
	// Towards it the relay refuses new connections, then new channels, then closes
	// the slowest channels; see memory. 1 GiB.
	Memory int64

	ChannelsPerEntry   int // channels of one entry connection; wire.MaxChannelsPerEntry
	ChannelsPerHost    int // channels of one host connection; wire.MaxChannelsPerHost
	SlotsPerConnection int // open pairing codes of one connection; 4

	ChannelQueue int // bytes that one channel may have waiting for its receiver; 1 MiB
	Queue        int // bytes of records that may wait for one connection; 4 MiB
	ControlRoom  int // bytes on top of Queue for control frames; 256 KiB

	LoginTimeout time.Duration // wire.LoginTimeout
	PairTimeout  time.Duration // wire.PairTimeout
	WriteTimeout time.Duration // for the network to take one message; 30 s
	PingInterval time.Duration // mean; a dead peer is found within 3.6 of them; 20 s
	StoreTimeout time.Duration // for one question to the store; 5 s

	LoginFailures Rate // per address; 10, then one per 6 s
	Dials         Rate // connections begun, per address but this machine; 600, then one per 100 ms
	AllDials      Rate // connections begun by everybody; 20000, then one per 500 us
	Logins        Rate // per identity; 30, then one per 2 s
	Pairs         Rate // pairing codes made and redeemed, per address and per identity; 30, then one per 10 s
	AllPairs      Rate // the same by everybody; 500, then one per 25 ms
	Opens         Rate // channels opened, per connection; 128, then one per 100 ms
	IdentityOpens Rate // the same per identity; 512, then one per 25 ms
	AddressOpens  Rate // the same per address but this machine; 2000, then one per 10 ms
	AllOpens      Rate // the same by everybody; 20000, then one per 500 us
	Controls      Rate // control frames, pings and pongs, per connection; 2000, then one per 10 ms
	Bytes         ByteRates
}

// ByteRates bounds what peers may send, in bytes a second, with two seconds' worth at
// once; 0 is without limit. Whoever is over it is not read from for a while, which
// slows that one socket down and nobody else.
type ByteRates struct {
	Connection, Identity, Address, All int64
}

func (l Limits) withDefaults() Limits {
	set(&l.Connections, 20_000)
	set(&l.ConnectionsPerAddress, 2000)
	set(&l.Memory, 1<<30)
	set(&l.ConnectionsPerEntry, 32)
	set(&l.ChannelsPerEntry, wire.MaxChannelsPerEntry)
	set(&l.ChannelsPerHost, wire.MaxChannelsPerHost)
	set(&l.SlotsPerConnection, 4)
	set(&l.ChannelQueue, 1<<20)
	set(&l.Queue, 4<<20)
	set(&l.ControlRoom, 256<<10)
	set(&l.LoginTimeout, wire.LoginTimeout)
	set(&l.PairTimeout, wire.PairTimeout)
	set(&l.WriteTimeout, 30*time.Second)
	set(&l.PingInterval, 20*time.Second)
	set(&l.StoreTimeout, 5*time.Second)
	l.LoginFailures.fill(10, 6*time.Second)
	l.Dials.fill(600, 100*time.Millisecond)
	l.AllDials.fill(20_000, 500*time.Microsecond)
	l.Logins.fill(30, 2*time.Second)
	l.Pairs.fill(30, 10*time.Second)
	l.AllPairs.fill(500, 25*time.Millisecond)
	l.Opens.fill(128, 100*time.Millisecond)
	l.IdentityOpens.fill(512, 25*time.Millisecond)
	l.AddressOpens.fill(2000, 10*time.Millisecond)
	l.AllOpens.fill(20_000, 500*time.Microsecond)
	l.Controls.fill(2000, 10*time.Millisecond)
	return l
}

// fill sets the fields that were left out.
func (r *Rate) fill(burst int, every time.Duration) {
	set(&r.Burst, burst)
	set(&r.Every, every)
}

func set[T comparable](field *T, otherwise T) {
	var zero T
	if *field == zero {
		*field = otherwise
	}
}

// check refuses limits that could not work. It runs on a copy with defaults.
func (l Limits) check() error {
	ints := []struct {
		name     string
		value    int
		min, max int
	}{
		{"connections", l.Connections, 1, 10_000_000},
		{"connections_per_address", l.ConnectionsPerAddress, 1, 10_000_000},
		{"connections_per_entry", l.ConnectionsPerEntry, 1, 10_000},
		{"channels_per_entry", l.ChannelsPerEntry, 1, wire.MaxChannelsPerEntry},
		{"channels_per_host", l.ChannelsPerHost, 1, wire.MaxChannelsPerHost},
		{"slots_per_connection", l.SlotsPerConnection, 1, 64},
		{"channel_queue", l.ChannelQueue, wire.MaxRecord, 1 << 30},
		{"queue", l.Queue, l.ChannelQueue, 1 << 30},
		{"control_room", l.ControlRoom, wire.MaxControl, 1 << 30},
	}
	for _, f := range ints {
		if f.value < f.min || f.value > f.max {
			return fmt.Errorf("the limit %s is %d: it must be %d to %d", f.name, f.value, f.min, f.max)
		}
	}
	for _, d := range []time.Duration{l.LoginTimeout, l.PairTimeout, l.WriteTimeout, l.PingInterval, l.StoreTimeout} {
		if d < 0 {
			return errors.New("a time limit is negative")
		}
	}
	for _, rate := range []Rate{
		l.LoginFailures, l.Dials, l.AllDials, l.Logins, l.Pairs, l.AllPairs, l.Opens, l.IdentityOpens, l.AddressOpens, l.AllOpens, l.Controls,
	} {
		if rate.Burst < 1 || rate.Every <= 0 {
			return errors.New("a rate needs a burst of at least 1 and a positive interval")
		}
	}
	if l.Memory < minMemory {
		return fmt.Errorf("memory is %d bytes: it must be at least %d", l.Memory, int64(minMemory))
	}
	for _, bytes := range []int64{l.Bytes.Connection, l.Bytes.Identity, l.Bytes.Address, l.Bytes.All} {
		if bytes != 0 && bytes < minByteRate {
			return fmt.Errorf("a limit of %d bytes a second is too low: pings would drown behind data; want at least %d, or 0 for none", bytes, int64(minByteRate))
		}
	}
	return nil
}

// withDefaults fills in what was left out and checks the rest.
func (cfg Config) withDefaults() (Config, error) {
	if cfg.Store == nil {
		return cfg, errors.New("relay: Config.Store is missing: open one with store/sqlite")
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	cfg.Limits = cfg.Limits.withDefaults()
	if err := cfg.Limits.check(); err != nil {
		return cfg, fmt.Errorf("relay: %w", err)
	}
	return cfg, cfg.Limits.checkGuessing(nodesOr(cfg.Nodes, cfg.Bus))
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
