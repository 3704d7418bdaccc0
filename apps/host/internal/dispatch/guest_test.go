package dispatch

import (
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// collected is an outbox that keeps the events of a connection.
type collected struct {
	Outbox
	events []api.EventEnvelope
	sent   []string
}

func (c *collected) Event(envelope api.EventEnvelope, message []byte) {
	c.events, c.sent = append(c.events, envelope), append(c.sent, string(message))
}

func guestOf(sessionID string) (*Conn, *collected) {
	out := &collected{}
	return &Conn{
		cancel: func(error) {}, out: out, placed: map[string]string{sessionID: "prj_1"},
		access: Access{Grants: []api.Grant{api.GrantView}, SessionID: sessionID},
	}, out
}

// TestEventsOfAGuest: of all kinds of events a guest gets those of its session, and of those of
// the host none but what is about its session.
func TestEventsOfAGuest(t *testing.T) {
	guest, _ := guestOf("mine")
	for _, event := range api.Events() {
		if sees(guest.Access(), event) {
			t.Errorf("a guest sees %s of the host", event.EventType())
		}
		for _, sessionID := range []string{"mine", "other"} {
			c, out := guestOf("mine")
			envelope := api.EventEnvelope{SessionID: sessionID, Event: event}
			c.Deliver(envelope, []byte("encoded"))
			if got := len(out.events) == 1; got != (sessionID == "mine") {
				t.Errorf("%s of the session %s: delivered %t", event.EventType(), sessionID, got)
			}
		}
	}
	for id, want := range map[string]bool{"mine": true, "other": false} {
		if got := sees(guest.Access(), api.SessionUpdated{Session: api.SessionSummary{ID: id, ProjectID: "prj_1"}}); got != want {
			t.Errorf("the summary of %s: %t", id, got)
		}
	}
}

// TestWhatIsLeftOutForGuests: the context of the model and what a summary says of the machine.
func TestWhatIsLeftOutForGuests(t *testing.T) {
	c, out := guestOf("mine")
	deliver := func(event api.Event) {
		envelope := api.EventEnvelope{Event: event}
		encoded, err := api.EncodeEvent(envelope)
		if err != nil {
			t.Fatal(err)
		}
		c.Deliver(envelope, encoded)
	}
	deliver(api.SessionUpdated{Session: api.SessionSummary{
		ID: "mine", Name: "Shown", ProjectID: "zanzibar", Worktree: &api.Worktree{Folder: "zanzibar"}, Meta: map[string]string{"k": "zanzibar"},
		Damaged: "zanzibar", ParentSessionID: "zanzibar",
	}})
	var entries []session.Entry
	for _, custom := range contextOnly() {
		entry, err := session.ParseEntry([]byte(`{"type":"custom","id":"e1","parentId":null,"timestamp":"2026-11-21T12:07:07.101Z","seq":7,"customType":"` + custom + `","data":{"text":"zanzibar"}}`))
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, entry)
		deliver(api.EntryAppended{Entry: entry})
	}
	for _, message := range out.sent {
		if strings.Contains(message, "zanzibar") {
			t.Errorf("a guest gets %s", message)
		}
	}
	if len(out.sent) != len(entries)+1 || !strings.Contains(out.sent[0], "Shown") {
		t.Errorf("%d events: %s", len(out.sent), out.sent)
	}
	for i, entry := range GuestEntries(entries) {
		if entry.ID != "e1" || entry.Seq != 7 || entry.CustomType != entries[i].CustomType || strings.Contains(string(entry.Raw), "zanzibar") {
			t.Errorf("%s", entry.Raw)
		}
		if !strings.Contains(string(entries[i].Raw), "zanzibar") {
			t.Error("the entry of the log was changed")
		}
	}
}

// TestNotesThatGuestsDoNotSee: instructions of a deeper folder and skills reach the model as
// notes, and are as private as those at the beginning of a session. Other notes are shown.
func TestNotesThatGuestsDoNotSee(t *testing.T) {
	for kind, shown := range map[session.NoteKind]bool{
		session.NoteInstructions: false, session.NoteSkill: false, session.NoteSkills: false,
		session.NoteJobs: true, session.NoteHook: true, session.NoteWorktree: true,
	} {
		c, out := guestOf("mine")
		entry, err := session.ParseEntry([]byte(`{"type":"custom_message","id":"e1","parentId":"e0","timestamp":"2026-11-21T12:07:07.101Z","seq":7,"customType":"scorel.note","content":"zanzibar","display":true,"details":{"kind":"` + string(kind) + `","paths":["/zanzibar/AGENTS.md"]}}`))
		if err != nil {
			t.Fatal(err)
		}
		envelope := api.EventEnvelope{SessionID: "mine", Event: api.EntryAppended{Entry: entry}}
		encoded, err := api.EncodeEvent(envelope)
		if err != nil {
			t.Fatal(err)
		}
		c.Deliver(envelope, encoded)
		paged := GuestEntries([]session.Entry{entry})
		if len(out.sent) != 1 || len(paged) != 1 {
			t.Fatalf("%s: %d events and %d entries", kind, len(out.sent), len(paged))
		}
		resumed := GuestEvents([]api.EventEnvelope{envelope})[0].Event.(api.EntryAppended).Entry
		for _, text := range []string{out.sent[0], string(paged[0].Raw), string(resumed.Raw)} {
			if strings.Contains(text, "zanzibar") != shown || !strings.Contains(text, `"e1"`) {
				t.Errorf("a note of the kind %s: a guest gets %s", kind, text)
			}
		}
		if paged[0].ParentID != "e0" || paged[0].Seq != 7 {
			t.Errorf("%s: the entry lost its place: %s", kind, paged[0].Raw)
		}
	}
}
