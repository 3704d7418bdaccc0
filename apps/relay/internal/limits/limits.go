// Package limits defines what the peers of a relay may use: the configured limits, token
// buckets for rates, and the chance that those rates leave to someone who guesses pairing
// codes.
package limits

import (
	"errors"
	"fmt"
	"time"

	"github.com/scorel/scorel/packages/protocol/wire"
)

// MinMemory is the least memory in bytes that a relay can work with.
const MinMemory = 4 << 20

// Rate is the rate of a token bucket: Burst at once, then one per Every.
type Rate struct {
	Burst int
	Every time.Duration
}

// MostNodes is the number of nodes that limits are checked for when it is not configured.
const MostNodes = 32

// Limits bounds what peers may use. A zero field means its default. An address is an IPv4
// address or an IPv6 /64. Some limits per address do not apply to this machine, because an
// untrusted proxy on it would share one address among all peers.
type Limits struct {
	Connections           int // open connections; 20000
	ConnectionsPerAddress int // of one address other than this machine; 2000
	ConnectionsPerEntry   int // connections (tabs) of one client; 32

	// Memory is how many bytes queues, read buffers and connections may hold in total.
	// As it fills up, the relay first rejects new connections, then new channels, then
	// closes the slowest channels; see package memory. 1 GiB.
	Memory int64

	ChannelsPerEntry   int // channels of one entry connection; wire.MaxChannelsPerEntry
	ChannelsPerHost    int // channels of one host connection; wire.MaxChannelsPerHost
	SlotsPerConnection int // open pairing codes of one connection; 4

	ChannelQueue int // bytes that one channel may have waiting for its receiver; 1 MiB
	Queue        int // bytes of records that may wait for one connection; 4 MiB
	ControlRoom  int // bytes on top of Queue for control frames; 256 KiB

	LoginTimeout time.Duration // wire.LoginTimeout
	PairTimeout  time.Duration // wire.PairTimeout
	WriteTimeout time.Duration // of one write to the network; 30 s
	PingInterval time.Duration // mean; a dead peer is found within 3.6 of them; 20 s
	StoreTimeout time.Duration // of one call of the store; 5 s

	LoginFailures Rate // per address; 10, then one per 6 s
	Dials         Rate // new connections, per address other than this machine; 600, then one per 100 ms
	AllDials      Rate // new connections in total; 20000, then one per 500 us
	Logins        Rate // per identity; 30, then one per 2 s
	Pairs         Rate // pairing codes created and redeemed, per address and per identity; 30, then one per 10 s
	AllPairs      Rate // the same in total; 500, then one per 25 ms
	Opens         Rate // channels opened, per connection; 128, then one per 100 ms
	IdentityOpens Rate // the same per identity; 512, then one per 25 ms
	AddressOpens  Rate // the same per address other than this machine; 2000, then one per 10 ms
	AllOpens      Rate // the same in total; 20000, then one per 500 us
	Controls      Rate // control frames, pings and pongs, per connection; 2000, then one per 10 ms
	Bytes         ByteRates
}

// ByteRates bounds what peers may send, in bytes per second, with a burst of two seconds;
// 0 means no limit. The relay stops reading from a connection over its limit for a while,
// which slows down that socket and no other.
type ByteRates struct {
	Connection, Identity, Address, All int64
}

// WithDefaults returns the limits with defaults in place of zero fields.
func (l Limits) WithDefaults() Limits {
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

// fill sets zero fields.
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

// Check rejects limits that cannot work. Call it on limits that have their defaults.
func (l Limits) Check() error {
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
			return fmt.Errorf("the limit %s is %d: it must be between %d and %d", f.name, f.value, f.min, f.max)
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
	if l.Memory < MinMemory {
		return fmt.Errorf("memory is %d bytes: it must be at least %d", l.Memory, int64(MinMemory))
	}
	for _, bytes := range []int64{l.Bytes.Connection, l.Bytes.Identity, l.Bytes.Address, l.Bytes.All} {
		if bytes != 0 && bytes < MinByteRate {
			return fmt.Errorf("a limit of %d bytes per second is too low, because pings would wait behind data; use at least %d, or 0 for no limit", bytes, int64(MinByteRate))
		}
	}
	return nil
}
