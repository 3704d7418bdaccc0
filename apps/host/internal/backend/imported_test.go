package backend_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host/internal/sessions"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/protocol/session"
)

const importedID = "01a21bfe-db82-7011-80dd-c362c3739c47"

// importTranscript imports a conversation that the fake agent has: each prompt, and its answer.
func (w *world) importTranscript(agentSession, source string, prompts ...string) *opened {
	w.t.Helper()
	data, err := json.Marshal(prompts)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.home, agentSession+".json"), data, 0o600); err != nil {
		w.t.Fatal(err)
	}
	transcript := sessions.Transcript{
		Header: session.Header{Type: session.TypeSession, Version: session.Version, ID: importedID, Timestamp: session.FormatTime(time.Now()), Cwd: w.project.Path},
		Record: session.ImportRecord{Source: source, SessionID: agentSession},
	}
	parent := ""
	add := func(id string, message session.Message) {
		raw, err := session.Encode(message)
		if err != nil {
			w.t.Fatal(err)
		}
		transcript.Entries = append(transcript.Entries, sessions.TranscriptEntry{Parent: parent, Given: store.Given{
			ID: id, Encode: func(writer *session.Writer, stamp session.Stamp) (json.RawMessage, error) {
				return writer.Message(stamp, raw)
			},
		}})
		parent = id
	}
	for i, prompt := range prompts {
		id := "0000000" + string(rune('0'+i))
		add(id, session.Message{Role: session.RoleUser, Content: session.Content{session.Text(prompt)}})
		add("1"+id[1:], session.Message{Role: session.RoleAssistant, Content: session.Content{session.Text("answer to " + prompt)}})
	}
	if _, _, err := w.manager.ImportTranscript(w.t.Context(), w.project.ID, "cli_x", transcript); err != nil {
		w.t.Fatal(err)
	}
	return w.open(importedID)
}

// TestImportContinuesInItsAgent: the agent loads the session that the import names, is told
// nothing that it has, and continues it after a restart of the host.
func TestImportContinuesInItsAgent(t *testing.T) {
	for _, args := range [][]string{nil, {"--no-resume"}} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, args...)
			s := w.importTranscript("mine-1", "fake", "say from the terminal", "say again")
			if err := s.SetBackend(t.Context(), "cli_x", "fake"); err != nil {
				t.Fatal(err)
			}
			s.ok("recall")
			w.restart()
			s = w.open(importedID)
			s.ok("recall")
			all := s.records(session.BackendSession)
			if len(all) != 3 {
				t.Fatalf("%+v", all)
			}
			for _, record := range all {
				if record.AgentSession != "mine-1" || record.Rebuilt != 0 {
					t.Errorf("%+v", record)
				}
			}
			if said := s.said(); !strings.Contains(said, "say from the terminal\nsay again\nrecall") {
				t.Errorf("the agent knows %q", said)
			}
			prompts := 0
			for _, m := range s.messages() {
				if m.Role == session.RoleUser {
					prompts++
				}
			}
			if prompts != 4 {
				t.Errorf("the log has %d prompts: what the agent replays is in it already", prompts)
			}
			s.check()
		})
	}
}

// TestImportInAnotherAgent: another program is given the conversation as text.
func TestImportInAnotherAgent(t *testing.T) {
	w := newWorld(t)
	s := w.importTranscript("mine-1", "fake", "say from the terminal")
	if err := s.SetBackend(t.Context(), "cli_x", "other"); err != nil {
		t.Fatal(err)
	}
	s.ok("recall")
	all := s.records(session.BackendSession)
	if last := all[len(all)-1]; last.AgentSession == "mine-1" || last.Rebuilt != 2 {
		t.Errorf("%+v", last)
	}
	if said := s.said(); !strings.Contains(said, "Agent: answer to say from the terminal") {
		t.Errorf("the other agent knows %q", said)
	}
}

// TestABypassStaysOnItsHost: a session in which another program worked without asking is imported
// from its file, or moves. The program asks there, in a session of its own.
func TestABypassStaysOnItsHost(t *testing.T) {
	from := newWorld(t)
	s := from.session("fake")
	s.ok("say begun")
	if err := s.SetBackendOption(t.Context(), "cli_x", "mode", "bypass", anyone); err != nil {
		t.Fatal(err)
	}
	s.ok("mode")
	_, exported, err := from.provider().Export(t.Context(), s.id)
	if err != nil {
		t.Fatal(err)
	}
	moved := session.MovedRecord{MoveID: "mov_00000000000000000000000000000000", From: "dev_a", To: "dev_b"}
	left, err := from.manager.Handover.Leaving(t.Context(), s.id, moved)
	if err != nil {
		t.Fatal(err)
	}
	for how, bring := range map[string]func(w *world) error{
		"imported": func(w *world) error {
			_, err := w.manager.Import(t.Context(), w.project.ID, s.id, exported)
			return err
		},
		"imported by an earlier version": func(w *world) error {
			w.project.ID = "prj_2"
			w.stop()
			defer w.start()
			return w.provider().Import(t.Context(), w.project.ID, exported)
		},
		"moved": func(w *world) error {
			arrival := sessions.Arrival{SessionID: s.id, Read: func() ([]byte, error) { return left, nil }}
			return w.manager.Handover.Arrive(t.Context(), w.project.ID, []sessions.Arrival{arrival}, moved, "note")
		},
	} {
		t.Run(how, func(t *testing.T) {
			w := newWorld(t)
			w.home = from.home // it could load that session
			w.restart()
			if err := bring(w); err != nil {
				t.Fatal(err)
			}
			in := w.open(s.id)
			before := in.records(session.BackendSession)
			if in.ok("mode"); !strings.HasSuffix(in.said(), "mode=ask model=small loud=false") {
				t.Errorf("the agent says %q", in.said())
			}
			all := in.records(session.BackendSession)
			if last := all[len(all)-1]; last.AgentSession == before[0].AgentSession || last.Rebuilt == 0 {
				t.Errorf("%+v", last)
			}
			if err := in.SetBackendOption(t.Context(), "cli_x", "mode", "bypass", anyone); err != nil {
				t.Fatal(err)
			}
			w.restart() // what is chosen here counts here
			in = w.open(s.id)
			if in.ok("mode"); !strings.HasSuffix(in.said(), "mode=bypass model=small loud=false") {
				t.Errorf("the agent says %q", in.said())
			}
			in.check()
		})
	}
}
