package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/relay/store"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/guest"
	"github.com/scorel/scorel/packages/protocol/ident"
)

// share creates a guest link of a session, as a person at the host's machine does.
func (w *world) share(t testing.TB, sessionID string, lasts time.Duration) guest.Link {
	t.Helper()
	link, listed, err := client.CreateGuestLink(t.Context(), w.local, sessionID, "a guest", time.Now().Add(lasts))
	if err != nil {
		t.Fatal(err)
	}
	if listed.SessionID != sessionID || link.DeviceID() != w.id {
		t.Fatalf("%+v", listed)
	}
	return link
}

// dialGuest logs in with a link, as a browser that opens it does.
func (w *world) dialGuest(t testing.TB, link guest.Link) *client.Entry {
	t.Helper()
	e, err := client.DialGuest(t.Context(), w.relay.URL, link, "Guest")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

func (w *world) openGuest(t testing.TB, link guest.Link, onEvent func(api.EventEnvelope)) *client.Client {
	t.Helper()
	transport, err := w.dialGuest(t, link).OpenDevice(t.Context(), link.DeviceID(), link.Device.Seal, "the host")
	if err != nil {
		t.Fatal(err)
	}
	c := client.New(transport, onEvent)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// TestAGuestExceedsItsLink: of all requests of the table a guest can make four, and only about
// its session. Another session is answered as one that does not exist, and no event is about
// anything else.
func TestAGuestExceedsItsLink(t *testing.T) {
	x := newExceeding(t)
	c := x.openGuest(t, x.share(t, x.mine, time.Hour), func(e api.EventEnvelope) { x.asked <- e })
	state := ask(t, c, api.ResyncEvents, api.ResyncEventsRequest{SessionID: x.mine})
	if state.Session.ID != x.mine || len(state.Entries) == 0 || state.Session.ProjectID != "" {
		t.Fatalf("a guest sees %+v with %d entries", state.Session, len(state.Entries))
	}
	whole, err := json.Marshal(ask(t, x.local, api.ResyncEvents, api.ResyncEventsRequest{SessionID: x.mine}))
	if err != nil || !strings.Contains(string(whole), x.project.Path) {
		t.Fatalf("the session does not name its folder, so nothing is proven: %v", err)
	}
	x.withoutContext(t, state)
	x.withoutContext(t, ask(t, c, api.GetEntries, api.GetEntriesRequest{SessionID: x.mine}))
	guests := 0
	for _, spec := range api.Table() {
		for _, sessionID := range []string{x.mine, x.none} {
			answer, err := c.Raw(t.Context(), spec.Name, x.body(spec, sessionID, x.project.ID))
			x.without(t, spec.Name, string(answer)+strings.ReplaceAll(fmt.Sprint(err), x.none, ""))
			switch kind := kindOf(err); {
			case !spec.Guests && kind != api.KindNotAllowed:
				t.Errorf("%s: %s %v", spec.Name, answer, err)
			case spec.Guests && sessionID == x.none && kind != api.KindNotFound:
				t.Errorf("%s about another session: %s %v", spec.Name, answer, err)
			case spec.Guests:
				guests++
			}
		}
	}
	if guests != 8 {
		t.Errorf("a guest can make %d requests", guests/2)
	}
	ask(t, c, api.ResyncEvents, api.ResyncEventsRequest{SessionID: x.mine})
	x.otherHappens(t)
	ask(t, x.local, api.RenameSession, api.RenameSessionRequest{SessionID: x.mine, Name: "marked"})
	x.guestEvents(t)
}

// guestEvents reads the events of a guest up to the one that the session is called "marked".
func (x *exceeding) guestEvents(t *testing.T) {
	t.Helper()
	for {
		envelope := <-x.asked
		x.without(t, "an event", envelope)
		updated, about := envelope.Event.(api.SessionUpdated)
		if envelope.SessionID != x.mine && (!about || updated.Session.ID != x.mine) {
			t.Errorf("a guest gets %s", envelope.Event.EventType())
		}
		if about && updated.Session.Name == "marked" {
			return
		}
	}
}

// withoutContext reports what only the model gets: the folder of the project stands for it.
func (x *exceeding) withoutContext(t *testing.T, answer any) {
	t.Helper()
	text, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), x.project.Path) || strings.Contains(string(text), x.project.ID) {
		t.Errorf("a guest learns the folder of the project: %s", text)
	}
}

// TestAGuestLinkInTwoBrowsers: both follow the session at the same time.
func TestAGuestLinkInTwoBrowsers(t *testing.T) {
	w := newWorld(t)
	id := w.newSession(t, w.local, "shared")
	link := w.share(t, id, time.Hour)
	var events [2]chan api.EventEnvelope
	for i := range events {
		events[i] = make(chan api.EventEnvelope, 4096)
		c := w.openGuest(t, link, func(e api.EventEnvelope) { events[i] <- e })
		ask(t, c, api.ResyncEvents, api.ResyncEventsRequest{SessionID: id})
	}
	ask(t, w.local, api.SendPrompt, api.SendPromptRequest{SessionID: id, ClientKey: "k", Text: "hello"})
	for i := range events {
		for ended := false; !ended; {
			_, ended = (<-events[i]).Event.(api.TurnEnded)
		}
	}
}

// TestARevokedGuestLink: every connection ends within a second, and the link opens nothing
// afterwards, neither at the relay nor at the host if the relay brings the binding back.
func TestARevokedGuestLink(t *testing.T) {
	w := newWorld(t)
	id := w.newSession(t, w.local, "shared")
	link := w.share(t, id, time.Hour)
	entry := w.dialGuest(t, link)
	var open []*client.Client
	for range 2 {
		open = append(open, w.openGuest(t, link, nil))
	}
	keys, err := guest.Keys(link.Seed)
	if err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	ask(t, w.local, api.RevokeClient, api.RevokeClientRequest{ClientID: keys.ID()})
	for _, c := range open {
		<-c.Done()
	}
	if took := time.Since(begun); took > time.Second {
		t.Errorf("the connections ended after %s", took)
	}
	w.refusesGuest(t, entry, link)
	for { // until the relay has heard of it, and refuses the claim itself
		e, err := client.DialGuest(t.Context(), w.relay.URL, link, "Guest")
		if err != nil {
			break
		}
		w.refusesGuest(t, e, link)
		e.Close()
	}
	// A false relay brings the binding back.
	device := store.Party{ID: w.id, Public: link.Device, Label: "host"}
	if err := w.relay.Store.Bind(t.Context(), device, store.Party{ID: keys.ID(), Public: keys.Public(), Label: "Guest"}, time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	again := w.dialGuest(t, link)
	w.refusesGuest(t, again, link)
}

// refusesGuest opens a channel, which must not become a sealed one.
func (w *world) refusesGuest(t *testing.T, e *client.Entry, link guest.Link) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if transport, err := e.OpenDevice(ctx, link.DeviceID(), link.Device.Seal, "the host"); err == nil {
		_ = transport.Close()
		t.Error("a revoked guest link opens a channel")
	}
}

// TestAGuestLinkEndsWithItsSession: when the session is deleted, and when its time has come.
func TestAGuestLinkEndsWithItsSession(t *testing.T) {
	w := newWorld(t)
	kept, deleted := w.newSession(t, w.local, "kept"), w.newSession(t, w.local, "deleted")
	brief, gone := w.openGuest(t, w.share(t, kept, 2*time.Second), nil), w.openGuest(t, w.share(t, deleted, time.Hour), nil)
	ask(t, w.local, api.DeleteSession, api.SessionRequest{SessionID: deleted})
	<-gone.Done()
	<-brief.Done()
	if err := brief.Err(); err == nil || !strings.Contains(err.Error(), "expired") {
		t.Errorf("it ended with %v", err)
	}
	if list := ask(t, w.local, api.ListClients, api.Empty{}).Clients; len(list) != 0 {
		t.Errorf("the list is %+v", list)
	}
}

// TestAStolenGuestLink: a relay that is shown the proof of a guest cannot use it with other keys.
func TestAStolenGuestLink(t *testing.T) {
	w := newWorld(t)
	link := w.share(t, w.newSession(t, w.local, "shared"), time.Hour)
	thief := dialEntry(t, w.relay.URL, newKeys(t))
	if err := thief.Claim(t.Context(), link.DeviceID(), api.BindingProof{SignedAt: link.SignedAt, Signature: link.Proof[:]}); err == nil {
		t.Error("another client claims the binding of a guest")
	}
	other := link
	other.Device = ident.Public{Sign: link.Device.Sign, Seal: newKeys(t).Public().Seal}
	if e, err := client.DialGuest(t.Context(), w.relay.URL, other, "Guest"); err == nil {
		w.refusesGuest(t, e, other)
		e.Close()
	}
}
