package e2e

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/client/relayconn"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// inventor is a relay that reports channels to its host that no one opened.
type inventor struct {
	*world
	numbers chan []uint32 // of channels of client, before the next control frame
	client  ident.ID
	closed  chan uint32   // what the host closes
	logins  chan struct{} // of the host
}

func newInventor(t *testing.T) *inventor {
	v := &inventor{numbers: make(chan []uint32, 1), closed: make(chan uint32, 4*wire.MaxChannelsPerHost), logins: make(chan struct{}, 10)}
	v.world = newWorldBehind(t, func(relayURL string) string {
		m := newMiddle(t, relayURL)
		m.invent = func([]byte) (frames []wire.Frame) {
			select {
			case numbers := <-v.numbers:
				for _, n := range numbers {
					frames = append(frames, wire.ChannelOpened{Channel: n, PeerID: v.client})
				}
			default:
			}
			return frames
		}
		m.frames = func(data []byte) []byte { // the invented ones have the numbers of those that are real
			if frame, err := wire.DecodeControl(data, wire.MaxControl); err == nil && frame.FrameType() == "channel_opened" {
				return nil
			}
			return data
		}
		m.outgoing = v.hear
		return m.URL
	})
	<-v.logins
	return v
}

// hear takes what the host sends to the relay.
func (v *inventor) hear(data []byte) []byte {
	frame, err := wire.DecodeControl(data, wire.MaxControl)
	if err != nil {
		return data
	}
	switch f := frame.(type) {
	case *wire.CloseChannel:
		v.closed <- f.Channel
		return nil
	case *wire.HostHello:
		v.logins <- struct{}{}
	}
	return data
}

// invent makes the relay tell of the channels, in the place of the one that an entry
// asks for.
func (v *inventor) invent(t *testing.T, numbers []uint32) {
	t.Helper()
	e := v.pairEntry(t)
	v.client = e.keys.ID()
	v.numbers <- numbers
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	own, err := e.OpenChannel(ctx, v.id)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = own.Close() })
}

// TestARelayCannotOpenChannelsWithoutEnd: each takes memory and a goroutine of the
// host, and no handshake is needed for it.
func TestARelayCannotOpenChannelsWithoutEnd(t *testing.T) {
	const more = 10
	v := newInventor(t)
	numbers := make([]uint32, wire.MaxChannelsPerHost+more)
	for i := range numbers {
		numbers[i] = uint32(i) + 1
	}
	v.invent(t, numbers)
	for range more {
		select {
		case n := <-v.closed:
			if n <= wire.MaxChannelsPerHost {
				t.Fatalf("channel %d of %d was refused", n, wire.MaxChannelsPerHost)
			}
		case <-time.After(10 * time.Second): // a handshake that does not come ends a channel after 15
			t.Fatal("the host takes as many channels as the relay likes")
		}
	}
}

// TestARelayCannotReuseANumber: the second channel of a number would be in the
// place of the first, which a revocation then does not find.
func TestARelayCannotReuseANumber(t *testing.T) {
	v := newInventor(t)
	v.invent(t, []uint32{1, 1})
	select {
	case <-v.logins: // it left, and dialed again
	case <-time.After(10 * time.Second):
		t.Fatal("the host stays connected to a relay that reuses numbers")
	}
}

// TestAWelcomeForAnotherIdentity: an entry does not continue under another identity.
func TestAWelcomeForAnotherIdentity(t *testing.T) {
	w := newWorld(t)
	m := newMiddle(t, w.relay.URL)
	other := newKeys(t).ID()
	m.frames = func(data []byte) []byte {
		frame, err := wire.DecodeControl(data, wire.MaxControl)
		welcome, ok := frame.(*wire.Welcome)
		if err != nil || !ok {
			return data
		}
		welcome.ID = other
		changed, err := wire.EncodeControl(welcome)
		if err != nil {
			return nil
		}
		return changed
	}
	e, err := client.DialEntry(t.Context(), relayconn.Config{RelayURL: m.URL, Keys: newKeys(t), Label: "x"})
	if err == nil {
		e.Close()
		t.Fatal("an entry logged in with a different identity")
	}
	var refused *wire.Error
	if !errors.As(err, &refused) || refused.Kind != wire.KindBadFrame {
		t.Fatalf("got %v", err)
	}
}
