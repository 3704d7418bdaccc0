package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/scorel/scorel/apps/bench/internal/load"
	"github.com/scorel/scorel/apps/bench/internal/peer"
	"github.com/scorel/scorel/apps/bench/internal/report"
	"github.com/scorel/scorel/apps/bench/internal/serve"
)

// measureEcho runs a work and takes the CPU time of both sides around it.
func measureEcho(ctx context.Context, d *deployment, s Scenario, warmup, measure time.Duration) (report.Figures, error) {
	f, err := peer.Protocols()[d.relay.Protocol].Connect(ctx, d.target, s.hosts, s.perHost)
	if err != nil {
		return nil, err
	}
	var relays, loads []serve.Usage
	mark := func() error {
		relay, err := d.usage(false)
		if err != nil {
			return err
		}
		own, err := serve.Used()
		relays, loads = append(relays, relay), append(loads, own)
		return err
	}
	got, err := load.Echo(ctx, f, load.Work{
		Window: s.window, Size: s.size, HostsBegin: s.hostsBegin, Warmup: warmup, Measure: measure,
	}, mark)
	if err != nil {
		return nil, err
	}
	if got.Echoes == 0 {
		return nil, errors.New("no echo came back")
	}
	n := float64(got.Echoes)
	return report.Figures{
		report.EchoesPerSecond: n / got.Elapsed.Seconds(),
		report.RelayCPU:        micros(relays[1].CPU-relays[0].CPU) / (2 * n),
		report.LoadCPU:         micros(loads[1].CPU-loads[0].CPU) / n,
		report.P50:             float64(got.Latency.Quantile(0.5)) / 1000,
		report.P99:             float64(got.Latency.Quantile(0.99)) / 1000,
	}, nil
}

// crowd is many connected hosts.
type crowd struct {
	mu    sync.Mutex
	conns []io.Closer
	fails atomic.Int64
}

func (c *crowd) add(conn io.Closer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conns = append(c.conns, conn)
}

func (c *crowd) close() {
	var g errgroup.Group
	g.SetLimit(256)
	for _, conn := range c.conns {
		g.Go(conn.Close)
	}
	_ = g.Wait() // the measurement is over
	c.conns = nil
}

// The back-off of a host in the storm: that of the host's own link, for all relays.
const (
	backoffFirst = 300 * time.Millisecond
	backoffMost  = 30 * time.Second
)

// join connects n hosts, each of which tries until it is in.
func (c *crowd) join(ctx context.Context, t peer.Target, p peer.Protocol, n int) error {
	g, ctx := errgroup.WithContext(ctx)
	for i := range n {
		g.Go(func() error {
			for wait := backoffFirst; ; wait = min(2*wait, backoffMost) {
				conn, err := p.Idle(ctx, t, i)
				if err == nil {
					c.add(conn)
					return nil
				}
				c.fails.Add(1)
				timer := time.NewTimer(wait/2 + rand.N(wait/2))
				select {
				case <-timer.C:
				case <-ctx.Done():
					return fmt.Errorf("host %d did not get in: %w", i, errors.Join(context.Cause(ctx), err))
				}
			}
		})
	}
	return g.Wait()
}

// joinGently connects n hosts, some at once.
func (c *crowd) joinGently(ctx context.Context, t peer.Target, p peer.Protocol, n int) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(64)
	for i := range n {
		g.Go(func() error {
			conn, err := p.Idle(ctx, t, i)
			if err != nil {
				return err
			}
			c.add(conn)
			return nil
		})
	}
	return g.Wait()
}

// measureIdle compares the memory after a collection with and without the crowd.
// One that has come and gone before has warmed the process up.
func measureIdle(ctx context.Context, d *deployment, s Scenario) (report.Figures, error) {
	p := peer.Protocols()[d.relay.Protocol]
	c := &crowd{}
	defer c.close()
	if err := c.joinGently(ctx, d.target, p, min(100, s.hosts)); err != nil {
		return nil, err
	}
	c.close()
	before, err := d.usage(true)
	if err != nil {
		return nil, err
	}
	if err := c.joinGently(ctx, d.target, p, s.hosts); err != nil {
		return nil, err
	}
	after, err := d.usage(true)
	if err != nil {
		return nil, err
	}
	return report.Figures{report.IdleMemory: float64(after.RSS-before.RSS) / float64(s.hosts) / 1024}, nil
}

// sampleEvery is how often the storm looks at the relay's CPU time.
const sampleEvery = 100 * time.Millisecond

// measureStorm kills the relay under a crowd and times its return.
func measureStorm(ctx context.Context, d *deployment, s Scenario) (report.Figures, error) {
	p := peer.Protocols()[d.relay.Protocol]
	before := &crowd{}
	defer before.close()
	if err := before.joinGently(ctx, d.target, p, s.hosts); err != nil {
		return nil, err
	}
	begin := time.Now()
	if err := d.restart(ctx); err != nil {
		return nil, err
	}
	start, err := d.usage(false)
	if err != nil {
		return nil, err
	}
	after := &crowd{}
	defer after.close()
	joined := make(chan error, 1)
	go func() { joined <- after.join(ctx, d.target, p, s.hosts) }()
	peak, err := peakCPU(d, start, joined)
	if err != nil {
		return nil, err
	}
	back := time.Since(begin)
	end, err := d.usage(false)
	if err != nil {
		return nil, err
	}
	return report.Figures{
		report.BackAfter:   back.Seconds(),
		report.PeakCPU:     peak,
		report.StormCPU:    micros(end.CPU-start.CPU) / 1000 / float64(s.hosts),
		report.FailedDials: float64(after.fails.Load()) / float64(s.hosts),
	}, nil
}

// peakCPU watches until joined tells, and returns the most cores in use between two
// looks.
func peakCPU(d *deployment, last serve.Usage, joined <-chan error) (float64, error) {
	ticker := time.NewTicker(sampleEvery)
	defer ticker.Stop()
	peak := 0.0
	look := func() error {
		now, err := d.usage(false)
		if err != nil {
			return err
		}
		if took := now.At - last.At; took >= sampleEvery/2 || peak == 0 { // less is no measure of CPU time
			peak = max(peak, float64(now.CPU-last.CPU)/float64(took))
			last = now
		}
		return nil
	}
	for {
		select {
		case <-ticker.C:
			if err := look(); err != nil {
				return 0, err
			}
		case err := <-joined:
			return peak, errors.Join(err, look())
		}
	}
}
