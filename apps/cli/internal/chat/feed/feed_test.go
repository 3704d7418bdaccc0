package feed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
)

const testSession = "01970000-0000-7000-8000-000000000000"

func elsewhere() ident.ID { return ident.NewID(ident.KindDevice, ident.Public{}) }

// farEnd is the host's end of a connection.
type farEnd struct {
	t    *testing.T
	wire client.Transport
}

// expect reads the next request, which must be of the type, and returns its id.
func (h farEnd) expect(kind string) string {
	h.t.Helper()
	data, err := h.wire.Receive(h.t.Context())
	if err != nil {
		h.t.Fatalf("waiting for %s: %v", kind, err)
	}
	var head api.RequestHead
	if err := json.Unmarshal(data, &head); err != nil || head.Type != kind {
		h.t.Fatalf("got %s, want %s", data, kind)
	}
	return head.RequestID
}

func (h farEnd) send(data []byte, err error) {
	h.t.Helper()
	if err == nil {
		err = h.wire.Send(h.t.Context(), data)
	}
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h farEnd) event(event api.Event) {
	h.t.Helper()
	h.send(api.EncodeEvent(api.EventEnvelope{Event: event}))
}

func (h farEnd) describesItself() {
	h.t.Helper()
	h.send(api.EncodeResponse(h.expect("get_host"), api.GetHostResponse{}))
}

func (h farEnd) opens() {
	h.t.Helper()
	h.describesItself()
	h.loads()
}

func (h farEnd) loads() {
	h.t.Helper()
	h.send(api.EncodeResponse(h.expect("resync_events"), api.ResyncEventsResponse{Mode: api.ResyncFull}))
}

func (h farEnd) refuses(err *api.Error) {
	h.t.Helper()
	h.send(api.EncodeError(h.expect("resync_events"), err))
}

// follower runs a feed of testSession until the test ends.
type follower struct {
	t      *testing.T
	feed   *Feed
	notify chan struct{}
	dialed chan farEnd
}

func newFollower(t *testing.T) *follower {
	t.Helper()
	w := &follower{t: t, notify: make(chan struct{}, 1), dialed: make(chan farEnd, 1)}
	w.feed = New(Config{
		Dial: func(context.Context) (client.Transport, error) {
			near, far := client.Pipe()
			w.dialed <- farEnd{t, far}
			return near, nil
		},
		Follow: func(device string) (string, error) { return "the name of " + device, nil },
		Lost:   func(error) bool { return true },
		Notify: func() {
			select {
			case w.notify <- struct{}{}:
			default:
			}
		},
	}, testSession)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w.feed.Run(ctx)
	}()
	t.Cleanup(func() { stop(); <-ended })
	return w
}

func (w *follower) dial() farEnd {
	w.t.Helper()
	select {
	case far := <-w.dialed:
		return far
	case <-time.After(time.Minute):
		w.t.Fatal("no connection was opened")
		return farEnd{}
	}
}

// connects answers the next connection until the session is loaded.
func (w *follower) connects() farEnd {
	w.t.Helper()
	host := w.dial()
	host.opens()
	w.sees("feed.Connected", "feed.Loaded")
	return host
}

// loses ends a connection and returns the next one, on which the host has described itself.
func (w *follower) loses(host farEnd) farEnd {
	w.t.Helper()
	if err := host.wire.Close(); err != nil {
		w.t.Fatal(err)
	}
	again := w.dial()
	again.describesItself()
	return again
}

// sees reads as many updates as are wanted and compares their descriptions.
func (w *follower) sees(want ...string) {
	w.t.Helper()
	var got []string
	for len(got) < len(want) {
		select {
		case <-w.notify:
		case <-time.After(time.Minute):
			w.t.Fatalf("got only %q, want %q", got, want)
		}
		for _, update := range w.feed.Take() {
			got = append(got, describe(update))
		}
	}
	if !slices.Equal(got, want) {
		w.t.Fatalf("got %q, want %q", got, want)
	}
}

func describe(update Update) string {
	switch u := update.(type) {
	case Followed:
		return "followed to " + u.Name
	case Happened:
		return u.Event.Event.EventType()
	case Failed:
		return "failed: " + u.Err.Error()
	}
	return fmt.Sprintf("%T", update)
}

func followed() string { return "followed to the name of " + elsewhere().String() }

// A move ends with session_deleted. A reader that took that for the end would not follow.
func TestTheEndOfAMoveIsNotADeletion(t *testing.T) {
	w := newFollower(t)
	host := w.connects()
	host.event(api.SessionMoved{ID: testSession, DeviceID: elsewhere()})
	data, err := api.EncodeEvent(api.EventEnvelope{Event: api.SessionDeleted{ID: testSession}})
	if err != nil {
		t.Fatal(err)
	}
	_ = host.wire.Send(t.Context(), data) // the feed may have left already
	w.sees("session_moved", followed())
	there := w.connects()
	there.event(api.SessionDeleted{ID: "another"})
	w.sees("session_deleted")
}

// A connection that was made between the two events of a move gets the second one alone.
func TestWhatWasDeletedMayHaveMoved(t *testing.T) {
	w := newFollower(t)
	host := w.connects()
	host.event(api.SessionDeleted{ID: testSession})
	moved := new(api.Error)
	if !errors.As(client.MovedError(api.SessionMoved{ID: testSession, DeviceID: elsewhere()}), &moved) {
		t.Fatal("the error has no kind")
	}
	host.refuses(moved)
	w.sees(followed())
	w.connects()
}

func TestOneDeletionIsOneUpdate(t *testing.T) {
	w := newFollower(t)
	host := w.connects()
	host.event(api.SessionDeleted{ID: testSession})
	host.refuses(api.Errorf(api.KindNotFound, "there is no such session"))
	w.sees("session_deleted")
	w.loses(host)
	w.sees("feed.Disconnected", "feed.Connected")
}

// The connection may be lost before the host has said what became of the session.
func TestADeletionOutlivesItsConnection(t *testing.T) {
	w := newFollower(t)
	host := w.connects()
	host.event(api.SessionDeleted{ID: testSession})
	host.expect("resync_events")
	again := w.loses(host)
	again.refuses(api.Errorf(api.KindNotFound, "there is no such session"))
	w.sees("feed.Disconnected", "feed.Connected", "session_deleted")
}

// A session that is there after all is still followed.
func TestASessionThatIsBackIsFollowed(t *testing.T) {
	w := newFollower(t)
	host := w.connects()
	host.event(api.SessionDeleted{ID: testSession})
	host.loads()
	w.sees("feed.Loaded")
	host.event(api.SessionDeleted{ID: testSession})
	host.refuses(api.Errorf(api.KindNotFound, "there is no such session"))
	w.sees("session_deleted")
}
