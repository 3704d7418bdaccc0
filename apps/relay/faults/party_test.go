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
}

// goTo moves to another node: it hangs up, to dial that one.
func (p *party) goTo(node int) {
	if p.at.Swap(int32(node)) == int32(node) {
		return
	}
	if c := p.conn.Load(); c != nil {
		c.Close()
	}
}

// keep serves connections until ctx ends.
func (p *party) keep(ctx context.Context, serve func(*relaytest.Raw) error) {
	for ctx.Err() == nil {
		at := int(p.at.Load())
		c, err := relaytest.DialRaw(new(net.Dialer), p.fleet.nodes[at].Addr(), p.keys, "fleet")
		if err == nil {
			p.conn.Store(c)
			stop := context.AfterFunc(ctx, c.Close)
			err = serve(c)
			stop()
			c.Close()
		}
		if broken := (*violation)(nil); errors.As(err, &broken) {
			p.fleet.t.Errorf("%s: %v", p.keys.ID(), err)
		}
		p.at.CompareAndSwap(int32(at), int32((at+1)%len(p.fleet.nodes))) // unless it was sent elsewhere
		select {
		case <-ctx.Done():
		case <-time.After(50*time.Millisecond + rand.N(100*time.Millisecond)): // the back-off of a client
		}
	}
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
		return &violation{"a record reached somebody else"}
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
