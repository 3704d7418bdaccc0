//go:build unix

package sessions_test

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/packages/nobodytest"
	"github.com/scorel/scorel/packages/protocol/api"
)

// TestWhatAnotherProgramAddedIsReadAgain: a session's file may only be read for a
// while, and in that time a program that minds no lock adds to it. The next append is
// refused, what is there is read again and announced, and the prompt continues when it is
// sent again, once.
func TestWhatAnotherProgramAddedIsReadAgain(t *testing.T) {
	if os.Getuid() == 0 {
		nobodytest.Rerun(t)
		return
	}
	f := finished(t)
	path := f.file(t)
	if err := os.Chmod(path, 0o400); err != nil {
		t.Fatal(err)
	}
	f.deps.Models = oneModel{modeltest.New(modeltest.Say("back"))}
	m := f.manager(t)
	s, w := open(t, m, m.List("")[0].ID), newWatcher()
	subscribe(t, s, w)
	refused := func(why string) {
		t.Helper()
		_, err := s.SendPrompt(t.Context(), "cli_x", api.SendPromptRequest{ClientKey: "after", Text: "go on"})
		if err == nil || !strings.Contains(err.Error(), why) {
			t.Fatalf("got %v, want a refusal that says %q", err, why)
		}
	}
	refused("cannot be written")
	last := read(w, func() string { return w.entries[len(w.entries)-1].ID })
	foreign := fmt.Sprintf(`{"type":"message","id":"f0e1d2c3","parentId":%q,"timestamp":"2026-01-02T03:04:05.678Z","message":{"role":"user","content":"from elsewhere","timestamp":1}}`, last)
	appendLine(t, path, foreign)
	refused("it is unknown what was stored")
	w.wait(func() bool { return string(w.entries[len(w.entries)-1].Raw) == foreign })
	send(t, s, "after", "go on")
	w.wait(func() bool { return w.ended == 1 })
	fresh := newWatcher()
	subscribe(t, s, fresh)
	if !slices.EqualFunc(w.entries, fresh.entries, sameEntry) || !reflect.DeepEqual(w.live, fresh.live) || w.anchors != fresh.anchors {
		t.Errorf("who watched has %d entries and %+v, a fresh load %d and %+v", len(w.entries), w.anchors, len(fresh.entries), fresh.anchors)
	}
	data, err := os.ReadFile(path)
	if err != nil || strings.Count(string(data), `"clientKey":"after"`) != 1 || strings.Count(string(data), "from elsewhere") != 1 {
		t.Errorf("the file is %v\n%s", err, data)
	}
}

// appendLine writes to a file as a program does that knows no locks.
func appendLine(t *testing.T, path, line string) {
	t.Helper()
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString(line + "\n")
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}
