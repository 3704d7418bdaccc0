package load

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// MinSize is the smallest record in bytes: a time and a number.
const MinSize = 16

// drainTimeout is how long the last echoes may take.
const drainTimeout = 10 * time.Second

// Work says what to do.
type Work struct {
	Window     int  // records under way on each link
	Size       int  // bytes of a record's payload, at least MinSize
	HostsBegin bool // the hosts are active and the entries echo
	Warmup     time.Duration
	Measure    time.Duration
}

// Echoed is what came of it.
type Echoed struct {
	Echoes  uint64        // within Elapsed
	Elapsed time.Duration // the measured part
	Latency Histogram
}

// The phases of a run.
const (
	warming int32 = iota
	measuring
	draining
)

// run is one run of a work. Each endpoint has one goroutine in Run, which ends
// with Close.
type run struct {
	work    Work
	start   time.Time
	phase   atomic.Int32
	links   []*link
	drained sync.WaitGroup // one for each link
	failed  chan error
}

// link is one link as its active end sees it. Its endpoint's handler owns it until
// the link is drained.
type link struct {
	run            *run
	to             Endpoint
	peer           int
	payload        []byte
	sent, received uint64
	drained        bool
	latency        Histogram
}

// Echo runs the work on a fleet, which it closes. Around the measured part it calls
// mark twice.
func Echo(ctx context.Context, f *Fleet, w Work, mark func() error) (*Echoed, error) {
	r := &run{work: w, start: time.Now(), failed: make(chan error, len(f.Hosts)+len(f.Entries))}
	active, passive := f.Entries, f.Hosts
	if w.HostsBegin {
		active, passive = passive, active
	}
	var ends sync.WaitGroup
	for _, e := range passive {
		ends.Go(func() { r.serve(e, func(peer int, payload []byte) error { return e.Send(peer, payload) }) })
	}
	for _, e := range active {
		links := r.addLinks(e)
		ends.Go(func() { r.begin(e, links) })
	}
	elapsed, err := r.steer(ctx, mark)
	f.Close()
	ends.Wait()
	if err != nil {
		return nil, err
	}
	out := &Echoed{Elapsed: elapsed}
	for _, l := range r.links {
		out.Latency.Merge(&l.latency)
	}
	out.Echoes = out.Latency.Total()
	return out, nil
}

func (r *run) addLinks(e Endpoint) []*link {
	var links []*link
	for peer := range e.Peers() {
		l := &link{run: r, to: e, peer: peer, payload: make([]byte, r.work.Size)}
		fill(l.payload)
		links = append(links, l)
	}
	r.links = append(r.links, links...)
	r.drained.Add(len(links))
	return links
}

// fill writes what does not compress, as sealed records are.
func fill(payload []byte) {
	for i := range payload {
		payload[i] = byte(rand.Uint32())
	}
}

// steer goes through the phases.
func (r *run) steer(ctx context.Context, mark func() error) (time.Duration, error) {
	if err := r.pause(ctx, r.work.Warmup); err != nil {
		return 0, err
	}
	if err := mark(); err != nil {
		return 0, err
	}
	begin := time.Now()
	r.phase.Store(measuring)
	if err := r.pause(ctx, r.work.Measure); err != nil {
		return 0, err
	}
	r.phase.Store(draining)
	elapsed := time.Since(begin)
	if err := mark(); err != nil {
		return 0, err
	}
	return elapsed, r.drain(ctx)
}

func (r *run) pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case err := <-r.failed:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// drain waits for the echoes that are under way: what does not come is lost.
func (r *run) drain(ctx context.Context) error {
	done := make(chan struct{})
	go func() { r.drained.Wait(); close(done) }() // outlives a failed run, which ends the program
	timer := time.NewTimer(drainTimeout)
	defer timer.Stop()
	select {
	case <-done:
		return nil
	case err := <-r.failed:
		return err
	case <-timer.C:
		return errors.New("the relay lost records: some echoes never came")
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (r *run) serve(e Endpoint, handle Handler) {
	if err := e.Run(handle); err != nil {
		r.failed <- err // one for each endpoint fits
	}
}

// begin fills the windows and continues with the answers.
func (r *run) begin(e Endpoint, links []*link) {
	for _, l := range links {
		for range r.work.Window {
			if err := l.send(); err != nil {
				r.failed <- err
				return
			}
		}
	}
	if err := e.Flush(); err != nil {
		r.failed <- err
		return
	}
	r.serve(e, func(peer int, payload []byte) error { return links[peer].echoed(payload) })
}

func (l *link) send() error {
	binary.LittleEndian.PutUint64(l.payload, uint64(time.Since(l.run.start)))
	binary.LittleEndian.PutUint64(l.payload[8:], l.sent)
	l.sent++
	return l.to.Send(l.peer, l.payload)
}

func (l *link) echoed(payload []byte) error {
	if len(payload) != l.run.work.Size {
		return fmt.Errorf("an echo has %d bytes, want %d", len(payload), l.run.work.Size)
	}
	if n := binary.LittleEndian.Uint64(payload[8:]); n != l.received {
		return fmt.Errorf("the relay lost, repeated or reordered records: echo %d came in place of %d", n, l.received)
	}
	l.received++
	phase := l.run.phase.Load()
	if phase == measuring {
		l.latency.Add(int64(time.Since(l.run.start)) - int64(binary.LittleEndian.Uint64(payload)))
	}
	if phase != draining {
		return l.send()
	}
	if l.received == l.sent && !l.drained {
		l.drained = true
		l.run.drained.Done()
	}
	return nil
}
