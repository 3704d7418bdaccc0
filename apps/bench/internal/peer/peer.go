// Package peer connects a load to each kind of relay, the way that kind is used
// best: what waits for a connection leaves in as few writes as its protocol
// allows, and what arrived together is handled together.
package peer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/scorel/scorel/apps/bench/internal/load"
)

// Target says where a relay is and who may use it.
type Target struct {
	HostAddr  string // host:port where hosts connect
	EntryAddr string // where entries connect: another node, or the same
	Key       string // of serve.Ready
	Parties   *Parties
}

// Protocol is how one kind of relay is spoken to.
type Protocol interface {
	// Connect links hosts with perHost entries each.
	Connect(ctx context.Context, t Target, hosts, perHost int) (*load.Fleet, error)
	// Idle connects host number n, which stays until it is closed and answers what
	// the relay asks of it.
	Idle(ctx context.Context, t Target, n int) (io.Closer, error)
}

// Protocols are all kinds by name.
func Protocols() map[string]Protocol {
	return map[string]Protocol{
		"scorel": scorel{}, "link": linked{}, "sealed": sealed{}, "splice": splice{}, "naive": naive{}, "derp": derp{}, "nats": natsCore{},
	}
}

const (
	dialTimeout = 20 * time.Second
	// dialsAtOnce bounds how many connections are made at the same time.
	dialsAtOnce = 64
	readBuffer  = 64 << 10
)

func dialTCP(ctx context.Context, addr string) (net.Conn, error) {
	d := net.Dialer{Timeout: dialTimeout}
	c, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("dialing the relay: %w", err)
	}
	return c, nil
}

// each runs n dials, some at once, and returns the first error.
func each(n int, dial func(i int) error) error {
	var g errgroup.Group
	g.SetLimit(dialsAtOnce)
	for i := range n {
		g.Go(func() error { return dial(i) })
	}
	return g.Wait()
}

// connectBoth dials all hosts, then all entries, and closes what it has when one
// fails.
func connectBoth(hosts, entries int, host, entry func(i int) (load.Endpoint, error)) (*load.Fleet, error) {
	f := &load.Fleet{Hosts: make([]load.Endpoint, hosts), Entries: make([]load.Endpoint, entries)}
	dialInto := func(into []load.Endpoint, dial func(i int) (load.Endpoint, error)) error {
		return each(len(into), func(i int) (err error) {
			into[i], err = dial(i)
			return err
		})
	}
	err := dialInto(f.Hosts, host)
	if err == nil {
		err = dialInto(f.Entries, entry)
	}
	if err != nil {
		f.Hosts, f.Entries = dialed(f.Hosts), dialed(f.Entries)
		f.Close()
		return nil, err
	}
	return f, nil
}

func dialed(ends []load.Endpoint) []load.Endpoint {
	var out []load.Endpoint
	for _, e := range ends {
		if e != nil {
			out = append(out, e)
		}
	}
	return out
}

// idle is a connection whose Run answers the relay until it is closed.
type idle struct {
	end   load.Endpoint
	ended sync.WaitGroup
}

func keepIdle(end load.Endpoint) *idle {
	i := &idle{end: end}
	i.ended.Go(func() {
		_ = end.Run(func(int, []byte) error { return errors.New("a record for an idle peer") }) // its end is seen by the relay
	})
	return i
}

// Close implements io.Closer.
func (i *idle) Close() error {
	err := i.end.Close()
	i.ended.Wait()
	return err
}
