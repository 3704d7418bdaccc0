//go:build unix

package faults_test

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"net"
	"sync/atomic"
	"time"

	"github.com/scorel/scorel/apps/relay/relaytest"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// party is one side of a pair: it stays logged in at a node, and goes to the next
// when its own does not take it.
type party struct {
	fleet *fleet
	keys  *ident.Private
	at    atomic.Int32 // which node
	conn  atomic.Pointer[relaytest.Raw]
	in    atomic.Int32 // the node that it is logged in at, or nowhere
}

const nowhere = -1

// goTo moves to another node: it hangs up, to dial that one.
func (p *party) goTo(node int32) {
	if p.at.Swap(node) == node {
		return
	}
	if c := p.conn.Load(); c != nil {
		c.Close()
	}
}

// keep serves connections until ctx ends.
func (p *party) keep(ctx context.Context, serve func(*relaytest.Raw) error) {
	var again backoff
	for ctx.Err() == nil {
		at := int(p.at.Load())
		c, err := relaytest.DialRaw(new(net.Dialer), p.fleet.nodes[at].Addr(), p.keys, "fleet")
		if err == nil {
			again = backoff{}
			p.conn.Store(c)
			err = p.serveAt(ctx, at, c, serve)
			c.Close()
		}
		if broken := (*violation)(nil); errors.As(err, &broken) {
			p.fleet.t.Errorf("%s: %v", p.keys.ID(), err)
		}
		if !p.fleet.gathering.Load() {
			p.at.CompareAndSwap(int32(at), int32((at+1)%len(p.fleet.nodes))) // unless it was sent elsewhere
		}
		select {
		case <-ctx.Done():
		case <-time.After(again.longer()):
		}
	}
}

// backoff is the pause of a client that is refused. It doubles each time, so that a
// busy machine is not kept busy with refusals.
type backoff struct {
	pause time.Duration
	until time.Time
}

// longer starts the next pause and returns it.
func (b *backoff) longer() time.Duration {
	b.pause = min(max(2*b.pause, 100*time.Millisecond), retryMost)
	pause := b.pause/2 + rand.N(b.pause)
	b.until = time.Now().Add(pause)
	return pause
}

// over reports whether the pause has passed.
func (b *backoff) over() bool { return !time.Now().Before(b.until) }

// serveAt serves a connection to a node, unless the party was sent elsewhere while it
// dialed: then it would be where no one looks for it.
func (p *party) serveAt(ctx context.Context, node int, c *relaytest.Raw, serve func(*relaytest.Raw) error) error {
	if p.at.Load() != int32(node) { // goTo stores this before it closes what conn holds
		return nil
	}
	p.in.Store(int32(node))
	defer p.in.Store(nowhere)
	defer context.AfterFunc(ctx, c.Close)()
	return serve(c)
}

// violation is what no fault excuses.
type violation struct{ text string }

func (v *violation) Error() string { return v.text }

// numbered is the payload of a record: who sends it and its place.
func numbered(of int, seq uint64) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, uint64(of)), seq)
}

// inOrder fails for a record that is not the one that must come next.
func inOrder(payload []byte, of int, seq uint64) error {
	if len(payload) != 16 {
		return &violation{"a record was changed on its way"}
	}
	if got := binary.BigEndian.Uint64(payload); got != uint64(of) {
		return &violation{"a record reached the wrong party"}
	}
	switch got := binary.BigEndian.Uint64(payload[8:]); {
	case got > seq:
		return &violation{"a record was lost or overtaken"}
	case got < seq:
		return &violation{"a record came twice or late"}
	}
	return nil
}

// host echoes what comes.
type host struct {
	party
	index int
}

func (h *host) serve(c *relaytest.Raw) error {
	want := make(map[uint32]uint64) // by channel
	for {
		f, records, err := c.Next()
		if err != nil {
			return err
		}
		switch f := f.(type) {
		case *wire.ChannelOpened:
			want[f.Channel] = 0
		case *wire.ChannelClosed:
			delete(want, f.Channel)
		}
		var echo []byte
		for _, r := range records {
			seq, open := want[r.Channel]
			if !open {
				return &violation{"the host got a record on a channel that is not open"}
			}
			if err := inOrder(r.Payload, h.index, seq); err != nil {
				return err
			}
			want[r.Channel]++
			echo = wire.AppendRecord(echo, r.Channel, r.Payload)
		}
		if len(echo) == 0 {
			continue
		}
		if err := c.SendRecords(echo); err != nil {
			return err
		}
	}
}
