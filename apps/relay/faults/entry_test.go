//go:build unix

package faults_test

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/scorel/scorel/apps/relay/relaytest"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

const (
	// talkEvery is how often an entry sends at the most, and burst how many records at
	// once. It sends no more until all have come back, and then rests for as many times
	// what they took: a fleet that sends regardless keeps a busy machine from recovering.
	talkEvery = 200 * time.Millisecond
	burst     = 3
	rests     = 4
	// retryMost is the longest pause of a client that is refused again and again.
	retryMost = 2 * time.Second
)

// entry keeps one channel open and talks on it; it opens others as probes.
type entry struct {
	party
	index int
	host  ident.ID

	mu       sync.Mutex
	link     *relaytest.Raw
	asked    int                // request ids so far
	openings map[string]*stream // by request id
	streams  map[uint32]*stream // by channel
	live     *stream            // the one that talks; nil while there is none
	again    backoff            // until the next request for a live channel

	// What has happened so far.
	echoes, closes int
	reason         wire.Reason // of the last end of the live channel
	refusal        wire.Kind   // of the last refusal to open it again
	refusals       int
}

// stream is one channel, or one that was asked for.
type stream struct {
	num        uint32
	sent, back uint64
	sentAt     time.Time  // of the last burst
	next       time.Time  // not before this
	probe      chan error // nil for the live channel
}

// serve reads one connection.
func (e *entry) serve(c *relaytest.Raw) error {
	e.mu.Lock()
	e.link, e.live = c, nil
	e.openings, e.streams = make(map[string]*stream), make(map[uint32]*stream)
	e.mu.Unlock()
	defer e.lost()
	for {
		f, records, err := c.Next()
		if err != nil {
			return err
		}
		if err := e.hear(f, records); err != nil {
			return err
		}
	}
}

// lost forgets the connection.
func (e *entry) lost() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.link = nil
	for _, s := range e.openings {
		s.fail(errLost)
	}
	for _, s := range e.streams {
		s.fail(errLost)
	}
	if e.live != nil && e.live.num != 0 {
		e.closes, e.reason = e.closes+1, "connection lost"
	}
	e.live = nil
}

var errLost = fmt.Errorf("the connection was lost")

func (s *stream) fail(err error) {
	if s.probe != nil {
		s.probe <- err // holds one; a stream ends once
	}
}

func (e *entry) hear(f wire.Frame, records []wire.Record) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch f := f.(type) {
	case *wire.ChannelOpened:
		return e.opened(f)
	case *wire.ErrorFrame:
		e.refused(f)
	case *wire.ChannelClosed:
		e.closed(f)
	}
	for _, r := range records {
		s := e.streams[r.Channel]
		if s == nil {
			return &violation{"the entry got a record on a channel that is not open"}
		}
		if err := inOrder(r.Payload, e.index, s.back); err != nil {
			return err
		}
		if s.back++; s.back > s.sent {
			return &violation{"an echo came before its record was sent"}
		}
		if s.probe == nil {
			e.echoes++
			if s.back == s.sent {
				s.next = time.Now().Add(rests * time.Since(s.sentAt))
			}
			continue
		}
		delete(e.streams, r.Channel)
		s.probe <- nil
		if err := e.link.Send(&wire.CloseChannel{Channel: r.Channel}); err != nil {
			return err
		}
	}
	return nil
}

func (e *entry) opened(f *wire.ChannelOpened) error {
	s := e.openings[f.RequestID]
	if s == nil {
		return &violation{"a channel was opened without a request"}
	}
	delete(e.openings, f.RequestID)
	if s == e.live {
		e.again = backoff{}
	}
	s.num = f.Channel
	e.streams[s.num] = s
	if s.probe == nil {
		return nil
	}
	return e.sendOn(s, 1)
}

func (e *entry) refused(f *wire.ErrorFrame) {
	s := e.openings[f.RequestID]
	if s == nil {
		return // of a request to close what is closed
	}
	delete(e.openings, f.RequestID)
	if s == e.live {
		e.live, e.refusal, e.refusals = nil, f.Kind, e.refusals+1
		e.again.longer()
	}
	s.fail(&wire.Error{Kind: f.Kind, Message: f.Message})
}

func (e *entry) closed(f *wire.ChannelClosed) {
	s := e.streams[f.Channel]
	if s == nil {
		return // a probe that we closed ourselves
	}
	delete(e.streams, f.Channel)
	if s == e.live {
		e.live, e.closes, e.reason = nil, e.closes+1, f.Reason
	}
	s.fail(fmt.Errorf("the channel was closed: %s", f.Reason))
}

// sendOn sends the next n records of a stream. e.mu must be held.
func (e *entry) sendOn(s *stream, n int) error {
	var batch []byte
	s.sentAt = time.Now()
	for range n {
		batch = wire.AppendRecord(batch, s.num, numbered(e.index, s.sent))
		s.sent++
	}
	return e.link.SendRecords(batch)
}

// ask asks for a channel. e.mu must be held.
func (e *entry) ask(s *stream) error {
	e.asked++
	id := fmt.Sprint(e.asked)
	e.openings[id] = s
	return e.link.Send(&wire.OpenChannel{RequestID: id, DeviceID: e.host})
}

// talk sends on the live channel, and opens one where there is none, until ctx ends.
func (e *entry) talk(ctx context.Context) {
	ticker := time.NewTicker(talkEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		e.mu.Lock()
		switch {
		case e.link == nil:
		case e.live == nil:
			if e.again.over() {
				e.live = new(stream)
				_ = e.ask(e.live) // a loss is seen by the reader
			}
		case e.live.num != 0 && e.live.sent == e.live.back && time.Now().After(e.live.next):
			_ = e.sendOn(e.live, burst) // as above
		}
		e.mu.Unlock()
	}
}

// probe opens a new channel, has one record echoed on it, and closes it.
func (e *entry) probe(ctx context.Context) error {
	s := &stream{probe: make(chan error, 1)}
	e.mu.Lock()
	err := errLost
	if e.link != nil {
		err = e.ask(s)
	}
	e.mu.Unlock()
	if err != nil {
		return err
	}
	select {
	case err := <-s.probe:
		return err
	case <-ctx.Done():
		return fmt.Errorf("no answer: %w", ctx.Err())
	}
}

// state is a copy of what has happened to an entry.
type state struct {
	echoes, closes, refusals int
	live                     bool
	on                       *stream // that is live, to tell it from another
	sent, back               uint64  // on it
	reason                   wire.Reason
	refusal                  wire.Kind
}

// talked reports whether a record that was sent after before came back, on a channel
// that is still open. Echoes that were under way then prove nothing of a channel that
// is about to close.
func (s state) talked(before state) bool {
	already := before.sent
	if s.on != before.on {
		already = 0
	}
	return s.live && s.back > already
}

func (e *entry) state() state {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := state{echoes: e.echoes, closes: e.closes, refusals: e.refusals, reason: e.reason, refusal: e.refusal}
	if e.live != nil && e.live.num != 0 {
		s.live, s.on, s.sent, s.back = true, e.live, e.live.sent, e.live.back
	}
	return s
}
