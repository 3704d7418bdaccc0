package sessions_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/apps/host/internal/sessions"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/file"
	"github.com/scorel/scorel/packages/protocol/api"
)

// finished returns a fixture whose one session has had one turn, and is closed.
func finished(t *testing.T) *fixture {
	t.Helper()
	f := newFixture(t, modeltest.New(modeltest.Say("hello"), modeltest.Say("hello"), modeltest.Say("hello")))
	m := f.manager(t)
	s, w := f.create(t, m), newWatcher()
	subscribe(t, s, w)
	send(t, s, "k1", "hi")
	w.wait(func() bool { return w.ended == 1 })
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	return f
}

// TestTornTailAtEveryByte cuts the file after every byte, as a crash might: what
// was whole is there, the next append works, and the file parses.
func TestTornTailAtEveryByte(t *testing.T) {
	f := finished(t)
	path := f.file(t)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	header := strings.IndexByte(string(whole), '\n') + 1
	for cut := header; cut < len(whole); cut += 3 {
		if err := os.WriteFile(path, whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		f.deps.Models = oneModel{modeltest.New(modeltest.Say("back"))}
		m := f.manager(t)
		s, w := open(t, m, m.List("")[0].ID), newWatcher()
		subscribe(t, s, w)
		kept := strings.Count(string(whole[:cut]), "\n") - 1
		if json.Valid(whole[lastLine(whole[:cut]):cut]) { // only its LF is missing
			kept++
		}
		if got := len(w.entries); got < kept || got > kept+1 { // one more notes an interrupted turn
			t.Fatalf("cut at %d: %d entries, want %d", cut, got, kept)
		}
		send(t, s, "after", "go on")
		w.wait(func() bool { return w.ended == 1 })
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		last := lastLine(whole[:cut])
		if !strings.HasPrefix(string(data), string(whole[:last])) || !strings.HasSuffix(string(data), "}\n") {
			t.Fatalf("cut at %d: the file is not its whole lines and the new ones:\n%s", cut, data)
		}
	}
}

// lastLine is where the last line begins that has no LF.
func lastLine(data []byte) int { return bytes.LastIndexByte(data, '\n') + 1 }

// TestALastLineWithoutItsEndIsKept: another program may leave out the last LF.
func TestALastLineWithoutItsEndIsKept(t *testing.T) {
	f := finished(t)
	path := f.file(t)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, whole[:len(whole)-1], 0o600); err != nil {
		t.Fatal(err)
	}
	f.deps.Models = oneModel{modeltest.New(modeltest.Say("back"))}
	m := f.manager(t)
	s, w := open(t, m, m.List("")[0].ID), newWatcher()
	subscribe(t, s, w)
	send(t, s, "after", "go on")
	w.wait(func() bool { return w.ended == 1 })
	after, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(after, whole) {
		t.Fatal("the last entry was lost, or the next one glued to it")
	}
}

func TestOtherDamageIsReportedAndKept(t *testing.T) {
	f := finished(t)
	path := f.file(t)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(whole), "\n")
	lines[2] = "{garbage\n"
	damaged := strings.Join(lines, "") + `{"type":"torn`
	if err := os.WriteFile(path, []byte(damaged), 0o600); err != nil {
		t.Fatal(err)
	}
	m := f.manager(t)
	summary := m.List("")[0]
	if !strings.Contains(summary.Damaged, "line 3") {
		t.Fatalf("damage is %q", summary.Damaged)
	}
	s := open(t, m, summary.ID)
	_, err = s.SendPrompt(t.Context(), "cli_x", api.SendPromptRequest{ClientKey: "k9", Text: "go on"})
	var refused *api.Error
	if !errors.As(err, &refused) || refused.Kind != api.KindDamaged {
		t.Fatalf("got %v, want damaged", err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(after) != damaged {
		t.Fatal("a damaged file was changed")
	}
}

func TestSecondProcessIsRefused(t *testing.T) {
	f := finished(t)
	m := f.manager(t)
	id := m.List("")[0].ID
	subscribe(t, open(t, m, id), newWatcher())
	second, err := sessions.NewManager(t.Context(), file.New(f.dir, f.deps.Logger), f.deps)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = second.Close() })
	_, err = open(t, second, id).SendPrompt(t.Context(), "cli_x", api.SendPromptRequest{ClientKey: "k9", Text: "go on"})
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("process %d", os.Getpid())) {
		t.Fatalf("got %v, want a refusal that names the holder", err)
	}
}

func TestUnknownEntriesAreKeptAndForwarded(t *testing.T) {
	f := finished(t)
	path := f.file(t)
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	strange := `{"type":"from_the_future","id":"ffffffff","parentId":null,"x":{"y":[1,2]}}`
	if _, err := file.WriteString(strange + "\n"); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	m := f.manager(t)
	s, w := open(t, m, m.List("")[0].ID), newWatcher()
	subscribe(t, s, w)
	if got := string(w.entries[len(w.entries)-1].Raw); got != strange {
		t.Fatalf("got %s", got)
	}
}
