package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/scorel/scorel/apps/bench/internal/child"
	"github.com/scorel/scorel/apps/bench/internal/peer"
	"github.com/scorel/scorel/apps/bench/internal/serve"
)

// deployment is a relay that runs: one process, or nodes and the server of their bus.
type deployment struct {
	relay Relay
	opts  serve.Options
	dir   string
	procs []*child.Process // nodes first
	// profile is the folder for CPU profiles, and how their names begin.
	profile string
	target  peer.Target
}

// deploy starts a relay whose store knows the parties of a scenario.
func deploy(ctx context.Context, r Relay, s Scenario, profile string) (*deployment, error) {
	dir, err := os.MkdirTemp("", "scorel-bench-")
	if err != nil {
		return nil, fmt.Errorf("making a folder for the store: %w", err)
	}
	d := &deployment{relay: r, dir: dir, profile: profile, opts: serve.Options{Store: filepath.Join(dir, "relay.db"), Queue: s.queue, CPUs: r.CPUs}}
	if r.Server == "scorel" {
		d.target.Parties, err = peer.NewParties(s.hosts, s.perHost)
		if err == nil {
			err = d.target.Parties.WriteStore(ctx, d.opts.Store)
		}
	}
	if err == nil {
		err = d.start(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, d.stop())
	}
	return d, nil
}

func (d *deployment) start(ctx context.Context) error {
	var bus *child.Process
	if d.relay.Nodes > 1 {
		var err error
		if bus, err = child.Start(ctx, "nats", serve.Options{CPUs: d.relay.CPUs, Profile: d.profileOf("bus")}); err != nil {
			return err
		}
		d.opts.Bus = "nats://" + bus.Ready.Addr
	}
	for i := range d.relay.Nodes {
		d.opts.Profile = d.profileOf(strconv.Itoa(i + 1))
		p, err := child.Start(ctx, d.relay.Server, d.opts)
		if err != nil {
			if bus != nil {
				bus.Kill()
			}
			return err
		}
		d.procs = append(d.procs, p)
	}
	first, last := d.procs[0].Ready, d.procs[d.relay.Nodes-1].Ready
	d.target.HostAddr, d.target.EntryAddr, d.target.Key = first.Addr, last.Addr, first.Key
	if bus != nil {
		d.procs = append(d.procs, bus)
	}
	return nil
}

// profileOf names the file for a process, "" when none is wanted.
func (d *deployment) profileOf(process string) string {
	if d.profile == "" {
		return ""
	}
	return d.profile + "-" + process + ".pprof"
}

// restart kills the only process and starts it again where it was.
func (d *deployment) restart(ctx context.Context) error {
	d.procs[0].Kill()
	opts := d.opts
	opts.Listen = d.target.HostAddr
	p, err := child.Start(ctx, d.relay.Server, opts)
	if err != nil {
		return err
	}
	d.procs[0] = p
	d.target.Key = p.Ready.Key
	return nil
}

func (d *deployment) stop() error {
	var errs []error
	for _, p := range d.procs {
		errs = append(errs, p.Stop())
	}
	return errors.Join(append(errs, os.RemoveAll(d.dir))...)
}

// usage adds up the processes.
func (d *deployment) usage(settle bool) (serve.Usage, error) {
	var sum serve.Usage
	for _, p := range d.procs {
		u, err := p.Usage(settle)
		if err != nil {
			return sum, err
		}
		sum.CPU += u.CPU
		sum.At = u.At // that of the last
		sum.RSS += u.RSS
		sum.Heap += u.Heap
		sum.Goroutines += u.Goroutines
	}
	return sum, nil
}

// micros is a duration in microseconds.
func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
