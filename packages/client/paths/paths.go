// Package paths connects a client to one device over the best of several paths: the same
// machine, the local network, or a relay. Every path ends in a channel that is sealed to the
// pinned keys of the device, so a false path can refuse service and nothing else.
//
// A Device dials the known paths in a race, in which better ones have a head start. The first
// sealed channel wins. A Link is the transport that won: when its path is lost, its user dials
// again and gets the next path at once; when a better path works, the Link ends with
// client.ErrMoved at a moment when nothing is under way. What was missed in between comes from
// the resync that every client runs after it connected.
package paths

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/client/relayconn"
	"github.com/scorel/scorel/packages/loopback"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// Kind is the kind of a path. Unknown kinds of newer hosts are used like relays.
type Kind string

// Every kind, best first.
const (
	Machine Kind = "machine" // the client's own machine
	Network Kind = "network" // the local network
	Relay   Kind = "relay"
)

// rank orders kinds, best first.
func (k Kind) rank() int {
	switch k {
	case Machine:
		return 0
	case Network:
		return 1
	}
	return 2
}

// Path is one way to reach a device.
type Path struct {
	Kind Kind
	URL  string // of a relay or listener; "" is the host's own direct connection
}

// Direct is the host's direct connection on its own machine.
var Direct = Path{Kind: Machine}

// Name describes the path in a few words for people, such as "relay.example".
func (p Path) Name() string {
	switch p.Kind {
	case Machine:
		return "this machine"
	case Network:
		return "local network"
	}
	return p.host()
}

// String describes the path for people, with its address.
func (p Path) String() string {
	if p.Kind == Machine || p.Kind == Network {
		if host := p.host(); host != "" {
			return p.Name() + " (" + host + ")"
		}
		return p.Name()
	}
	return p.URL
}

func (p Path) host() string {
	u, err := url.Parse(p.URL)
	if err != nil || u.Host == "" {
		return p.URL
	}
	return u.Host
}

// Remote reports whether the path leads through a relay.
func (p Path) Remote() bool { return p.Kind.rank() >= Relay.rank() }

// valid reports whether the address can be dialed.
func (p Path) valid() bool {
	_, _, err := relayconn.ParseURL(p.URL)
	return err == nil
}

// Key returns the same text for URLs of the same address, whatever their scheme is called.
func (p Path) Key() string {
	if p.URL == "" {
		return string(p.Kind)
	}
	target, _, err := relayconn.ParseURL(p.URL)
	if err != nil {
		return p.URL
	}
	host := strings.ToLower(target.Hostname())
	if loopback.Is(host) {
		host = "localhost"
	}
	port := cmp.Or(target.Port(), map[string]string{"ws": "80", "wss": "443"}[target.Scheme])
	return target.Scheme + "://" + net.JoinHostPort(host, port) + target.Path
}

// Known is a path with what is known about it.
type Known struct {
	Path
	RoundTrip time.Duration // of the last connection, through to the device; 0 if unknown
	Bound     bool          // the device was reached over it before
}

// Channel is an established path.
type Channel struct {
	Transport client.Transport
	RoundTrip time.Duration
	// Open opens another channel over the same connection; nil if there is nothing to learn
	// about paths from this host. It must not be called after Transport was closed.
	Open func(ctx context.Context) (client.Transport, error)
}

// Order returns paths in the order in which they are tried when none has failed.
func Order(list []Known) []Known { return sorted(list, func(Path) bool { return false }) }

// sorted returns paths in the order in which they are tried: by kind, relays by round trip,
// those never used and those that failed just now last.
func sorted(list []Known, failing func(Path) bool) []Known {
	class := func(k Known) int {
		switch {
		case failing(k.Path):
			return 2
		case !k.Bound && k.URL != "":
			return 1
		}
		return 0
	}
	slow := func(k Known) time.Duration {
		if k.RoundTrip == 0 {
			return time.Hour // unknown
		}
		return k.RoundTrip
	}
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b Known) int {
		return cmp.Or(cmp.Compare(class(a), class(b)), cmp.Compare(a.Kind.rank(), b.Kind.rank()), cmp.Compare(slow(a), slow(b)))
	})
	return list
}

// Relays are switched only if the other one is clearly faster: by a quarter and by
// minimumGain.
const minimumGain = 10 * time.Millisecond

// better reports whether a path is worth a switch from the one in use.
func better(other, used Known) bool {
	if a, b := other.Kind.rank(), used.Kind.rank(); a != b {
		return a < b
	}
	if other.RoundTrip == 0 || used.RoundTrip == 0 {
		return false
	}
	return other.RoundTrip+max(minimumGain, other.RoundTrip/3) < used.RoundTrip
}

// Attempt is a path that could not be used, and why.
type Attempt struct {
	Path  Path
	Bound bool // the device was reached over it before
	Err   error
}

// FailedError is returned if no path reaches the device.
type FailedError struct {
	Attempts []Attempt
	lost     func(error) bool
}

func (e *FailedError) Error() string {
	if len(e.Attempts) == 1 {
		return e.Attempts[0].Err.Error()
	}
	// Paths that failed for the same reason are named together, in the order of the first of each.
	var reasons []string
	names := map[string][]string{}
	for _, a := range e.Attempts {
		reason := a.Err.Error()
		if names[reason] == nil {
			reasons = append(reasons, reason)
		}
		names[reason] = append(names[reason], a.Path.Name())
	}
	texts := make([]string, len(reasons))
	for i, reason := range reasons {
		texts[i] = strings.Join(names[reason], ", ") + ": " + reason
	}
	return "no path reaches the device: " + strings.Join(texts, "; ")
}

// Removed reports whether a path that reached the device before says that the client was
// removed, or that its access has expired. It is enough to tell a person what happened, and not
// enough to give up the device: another path may still reach it.
func (e *FailedError) Removed() bool {
	return slices.ContainsFunc(e.Attempts, func(a Attempt) bool { return a.Bound && removed(a.Err) })
}

func removed(err error) bool {
	var (
		closed  *client.ClosedError
		refused *wire.Error
	)
	switch {
	case errors.As(err, &closed):
		return closed.Reason == wire.ReasonRevoked || closed.Reason == wire.ReasonNotAuthorized || closed.Reason == wire.ReasonExpired
	case errors.As(err, &refused):
		return refused.Kind == wire.KindUnauthorized
	}
	return false
}

// Unwrap returns the causes that decide whether another attempt can help. While one path may
// come back, a refusal on another decides nothing: whoever answers there may not be the device.
func (e *FailedError) Unwrap() []error {
	var all, lost []error
	for _, a := range e.Attempts {
		all = append(all, a.Err)
		if e.lost != nil && e.lost(a.Err) {
			lost = append(lost, a.Err)
		}
	}
	if len(lost) > 0 {
		return lost
	}
	return all
}
