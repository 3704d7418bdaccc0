package sessionapi_test

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/dispatch/dispatchtest"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// samples are the transcripts of the package that reads them, by agent: the file in the home of
// the user, and its id.
var samples = []struct{ from, path, id string }{
	{"claude", ".claude/projects/-home-me-site/11111111-2222-4333-8444-555555555555.jsonl", "11111111-2222-4333-8444-555555555555"},
	{"codex", ".codex/sessions/2026/11/21/rollout-2026-11-21T09-00-00-0199aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee.jsonl", "0199aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee"},
	{"gemini", ".gemini/tmp/site/chats/session-2026-11-22T08-00-07d31e03.jsonl", "07d31e03-4102-4faa-b27e-1a1a2b3dcfcf"},
}

func (w *world) sampleHome(t *testing.T) {
	t.Helper()
	if err := os.CopyFS(w.home, os.DirFS("../transcripts/testdata/home")); err != nil {
		t.Fatal(err)
	}
}

// path returns the messages on the path to the leaf of a stored session, each as one line, without
// usage and times.
func (w *world) path(t *testing.T, id string) []string {
	t.Helper()
	matches, err := filepath.Glob(filepath.Join(w.Paths.Sessions(), "*", "*"+id+"*.jsonl"))
	if err != nil || len(matches) != 1 {
		t.Fatalf("files of %s: %q, %v", id, matches, err)
	}
	data, err := os.ReadFile(matches[0])
	if err != nil {
		t.Fatal(err)
	}
	file, err := session.ReadFile(data)
	if err != nil || len(file.Damage) > 0 {
		t.Fatalf("%v, %v", file.Damage, err)
	}
	var lines []string
	for id := file.Tree.Leaf(); id != ""; {
		e, ok := file.Tree.Get(id)
		if !ok {
			t.Fatalf("the path has a hole at %q", id)
		}
		if m, ok := e.AsMessage(); ok {
			raw, err := session.Encode(m.Message.Content)
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, fmt.Sprint(m.Message.Role, " ", m.Message.ToolCallID, " ", string(raw), m.Message.ErrorMessage))
		}
		if e.Type == session.TypeCompaction {
			lines = append(lines, "compaction")
		}
		id = e.ParentID
	}
	slices.Reverse(lines)
	return lines
}

func (w *world) importTranscript(t *testing.T, from, id string) api.ImportTranscriptResponse {
	t.Helper()
	return dispatchtest.Call(t, w.local, api.ImportTranscript, api.ImportTranscriptRequest{From: from, ID: id, ProjectID: w.project.ID})
}

// TestTranscriptsAreImportedOnce: what is listed can be imported, with its subagents; importing it
// again changes no byte.
func TestTranscriptsAreImportedOnce(t *testing.T) {
	w := newWorld(t)
	w.sampleHome(t)
	for _, s := range samples {
		list := dispatchtest.Call(t, w.local, api.ListTranscripts, api.ListTranscriptsRequest{From: s.from})
		at := slices.IndexFunc(list.Transcripts, func(tr api.Transcript) bool { return tr.ID == s.id })
		if at < 0 || list.Transcripts[at].SessionID != "" || list.Total != len(list.Transcripts) {
			t.Fatalf("%s: %+v", s.from, list)
		}
		got := w.importTranscript(t, s.from, s.id)
		if got.Outcome != api.TranscriptImported || got.Added == 0 || got.Damaged != 1 || got.Subagents != 1 || got.Session.ProjectID != w.project.ID ||
			got.Session.Name != list.Transcripts[at].Title || got.Session.Running {
			t.Errorf("%s: %+v", s.from, got)
		}
		before := w.stored(t)
		if own := `"customType":"scorel.backend","data":{"kind":"session","backend":"` + s.from + `","agentSession":"` + s.id + `"}`; strings.Count(before, own) != 1 {
			t.Errorf("%s: the agent's own session is not named once", s.from)
		}
		again := w.importTranscript(t, s.from, s.id)
		if again.Outcome != api.TranscriptUnchanged || again.Added != 0 || again.Session.ID != got.Session.ID {
			t.Errorf("%s again: %+v", s.from, again)
		}
		if after := w.stored(t); before != after {
			t.Errorf("%s: importing again changed the sessions", s.from)
		}
		listed := dispatchtest.Call(t, w.local, api.ListTranscripts, api.ListTranscriptsRequest{From: s.from, Query: strings.ToUpper(s.id)})
		if len(listed.Transcripts) != 1 || listed.Transcripts[0].SessionID != got.Session.ID {
			t.Errorf("%s: listed as %+v", s.from, listed)
		}
	}
}

// stored returns all session files.
func (w *world) stored(t *testing.T) string {
	t.Helper()
	var all bytes.Buffer
	matches, _ := filepath.Glob(filepath.Join(w.Paths.Sessions(), "*", "*.jsonl"))
	for _, name := range matches {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.WriteString(name + "\n")
		all.Write(data)
	}
	return all.String()
}

// TestTranscriptsThatGrow: whenever a transcript is imported while it grows, even in the middle of
// a line, the session equals one that was imported at once.
func TestTranscriptsThatGrow(t *testing.T) {
	for _, s := range samples {
		t.Run(s.from, func(t *testing.T) {
			whole, err := os.ReadFile(filepath.Join("../transcripts/testdata/home", s.path))
			if err != nil {
				t.Fatal(err)
			}
			w := newWorld(t)
			w.sampleHome(t)
			w.importTranscript(t, s.from, s.id)
			want := w.path(t, sessionOf(w, t, s.from, s.id))
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			random := rand.New(rand.NewPCG(seed, 1))
			for range 12 {
				w := newWorld(t)
				w.sampleHome(t)
				cuts := []int{len(whole)}
				for range 4 {
					cuts = append(cuts, random.IntN(len(whole)))
				}
				slices.SortFunc(cuts, cmp.Compare[int])
				for _, cut := range cuts {
					if err := os.WriteFile(filepath.Join(w.home, s.path), whole[:cut], 0o600); err != nil {
						t.Fatal(err)
					}
					_, err := dispatchtest.Try(t, w.local, api.ImportTranscript, api.ImportTranscriptRequest{From: s.from, ID: s.id, ProjectID: w.project.ID})
					if err != nil && cut > len(whole)/2 {
						t.Fatalf("cut at %d: %v", cut, err)
					}
				}
				if got := w.path(t, sessionOf(w, t, s.from, s.id)); !slices.Equal(got, want) {
					t.Fatalf("cuts %v: got\n%s\nwant\n%s", cuts, strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			}
		})
	}
}

func sessionOf(w *world, t *testing.T, from, id string) string {
	t.Helper()
	list := dispatchtest.Call(t, w.local, api.ListTranscripts, api.ListTranscriptsRequest{From: from, Query: id})
	if len(list.Transcripts) != 1 || list.Transcripts[0].SessionID == "" {
		t.Fatalf("%s %s: %+v", from, id, list)
	}
	return list.Transcripts[0].SessionID
}

// TestContinuedTranscript: after a prompt on this host, an import adds nothing more; before, it
// renames the session only as long as no person did.
func TestContinuedTranscript(t *testing.T) {
	w := newWorld(t, modeltest.Say("Hello."))
	w.sampleHome(t)
	s := samples[1]
	path := filepath.Join(w.home, s.path)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(whole, []byte("\n"))
	if err := os.WriteFile(path, bytes.Join(lines[:20], nil), 0o600); err != nil {
		t.Fatal(err)
	}
	got := w.importTranscript(t, s.from, s.id)
	dispatchtest.Call(t, w.local, api.RenameSession, api.RenameSessionRequest{SessionID: got.Session.ID, Name: "Mine"})
	if err := os.WriteFile(path, bytes.Join(lines[:24], nil), 0o600); err != nil {
		t.Fatal(err)
	}
	if got = w.importTranscript(t, s.from, s.id); got.Outcome != api.TranscriptExtended || got.Session.Name != "Mine" {
		t.Errorf("renamed: %+v", got)
	}
	w.turn(t, got.Session.ID, "go on")
	before := w.path(t, got.Session.ID)
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if got = w.importTranscript(t, s.from, s.id); got.Outcome != api.TranscriptContinued || got.Added != 0 {
		t.Errorf("continued: %+v", got)
	}
	if after := w.path(t, got.Session.ID); !slices.Equal(before, after) {
		t.Errorf("the session changed: %q", after)
	}
}

// turn sends a prompt and waits until its turn has ended.
func (w *world) turn(t *testing.T, id, text string) {
	t.Helper()
	ended := make(chan struct{}, 1)
	c := w.Watch("cli_turn", func(e api.EventEnvelope) {
		if _, over := e.Event.(api.TurnEnded); over {
			ended <- struct{}{}
		}
	}, api.LocalGrants()...)
	dispatchtest.Call(t, c, api.ResyncEvents, api.ResyncEventsRequest{SessionID: id})
	dispatchtest.Call(t, c, api.SendPrompt, api.SendPromptRequest{SessionID: id, ClientKey: text, Text: text})
	<-ended
}

// TestTwoImportsAtOnce: both get the same session, which is stored once.
func TestTwoImportsAtOnce(t *testing.T) {
	w := newWorld(t)
	w.sampleHome(t)
	s := samples[0]
	var group sync.WaitGroup
	ids := make([]string, 4)
	for i := range ids {
		c := w.Local()
		group.Go(func() {
			got, err := dispatchtest.Try(t, c, api.ImportTranscript, api.ImportTranscriptRequest{From: s.from, ID: s.id, ProjectID: w.project.ID})
			if err != nil {
				t.Error(err)
			}
			ids[i] = got.Session.ID
		})
	}
	group.Wait()
	if ids[0] == "" || slices.ContainsFunc(ids, func(id string) bool { return id != ids[0] }) {
		t.Errorf("%q", ids)
	}
	w.path(t, ids[0])
}

// TestWhoMayImport: without the grants nothing is listed, read or stored.
func TestWhoMayImport(t *testing.T) {
	w := newWorld(t)
	w.sampleHome(t)
	s := samples[0]
	list, take := api.ListTranscriptsRequest{From: s.from}, api.ImportTranscriptRequest{From: s.from, ID: s.id, ProjectID: w.project.ID}
	for _, grants := range [][]api.Grant{{api.GrantView, api.GrantPrompt, api.GrantApprove, api.GrantFiles}, {api.GrantView, api.GrantManage}} {
		c := w.Connect("cli_limited", grants...)
		dispatchtest.Refused(t, c, api.ListTranscripts, list, api.KindNotAllowed)
		dispatchtest.Refused(t, c, api.ImportTranscript, take, api.KindNotAllowed)
	}
	c := w.Connect("cli_full", api.GrantView, api.GrantManage, api.GrantFiles)
	if got := dispatchtest.Call(t, c, api.ListTranscripts, list); len(got.Transcripts) == 0 {
		t.Error("a client with both grants sees nothing")
	}
	take.ProjectID = ""
	dispatchtest.Refused(t, w.local, api.ImportTranscript, take, api.KindNotFound) // its folder is no project
	take.ID = "../../.claude/.credentials"
	dispatchtest.Refused(t, w.local, api.ImportTranscript, take, api.KindNotFound)
	list.From = "cursor"
	dispatchtest.Refused(t, w.local, api.ListTranscripts, list, api.KindBadRequest)
}
