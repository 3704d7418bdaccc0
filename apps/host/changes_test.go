//go:build unix

package host_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// changed is a session that has changed files: by tools, by a command and outside of the
// folder.
func changed(t *testing.T, prepare string) (*scene, *host.Host) {
	t.Helper()
	outside := filepath.Join(t.TempDir(), "outside.txt")
	s := newScene(t, map[string]string{"a.txt": "one\ntwo\n", "dirty.txt": "clean\n", "gone.txt": "gone\n", "run.sh": "#!/bin/sh\n", ".env": "THE-KEY\n"},
		modeltest.Calls(
			modeltest.Call("a", "patch", `{"path":"a.txt","old_string":"two","new_string":"2"}`),
			modeltest.Call("b", "write_file", `{"path":"made.txt","content":"made\n"}`),
			modeltest.Call("c", "bash", `{"command":"rm gone.txt; echo more >> dirty.txt; echo by command > command.txt; echo x >> run.sh; echo NEW-KEY > .env"}`),
			modeltest.Call("d", "write_file", fmt.Sprintf(`{"path":%q,"content":"x"}`, outside)),
		),
		modeltest.Say("Done."),
	)
	bash := exec.CommandContext(t.Context(), "bash", "-ec", prepare)
	bash.Dir = s.folder
	if out, err := bash.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v %s", prepare, err, out)
	}
	h := start(t, host.Config{Home: s.home, Projects: []string{s.folder}})
	s.enter(t, h)
	if got := call(t, s.c, api.GetChanges, api.GetChangesRequest{SessionID: s.sessionID}); got.Since != 0 || got.Reason == "" || len(got.Files) > 0 {
		t.Errorf("before the first turn: %+v", got)
	}
	s.send(t, "k1", "begin")
	if end := s.wait(1); end.StopReason != session.StopEnd {
		t.Fatalf("%+v", end)
	}
	got := call(t, s.c, api.GetChanges, api.GetChangesRequest{SessionID: s.sessionID})
	if want := []string{outside}; !slices.Equal(got.Outside, want) || got.Since == 0 || got.Reason != "" {
		t.Errorf("%+v", got)
	}
	var rows []string
	for _, file := range got.Files {
		rows = append(rows, fmt.Sprintf("%s %s +%d -%d tools=%t closed=%t", file.Path, file.Status, file.Added, file.Removed, file.ByTools, file.Closed))
	}
	want := []string{
		"a.txt modified +1 -1 tools=true closed=false", "command.txt added +1 -0 tools=false closed=false", "dirty.txt modified +1 -0 tools=false closed=false",
		"gone.txt deleted +0 -1 tools=false closed=false", "made.txt added +1 -0 tools=true closed=false", "run.sh modified +1 -0 tools=false closed=false",
	}
	if rows = slices.DeleteFunc(rows, func(row string) bool { return strings.HasPrefix(row, ".env ") }); !slices.Equal(rows, want) {
		t.Errorf("changed are\n%s\nwant\n%s", strings.Join(rows, "\n"), strings.Join(want, "\n"))
	}
	return s, h
}

func (s *scene) change(t *testing.T, path string) api.FileChange {
	t.Helper()
	got := call(t, s.c, api.GetChanges, api.GetChangesRequest{SessionID: s.sessionID, Path: path})
	if len(got.Files) != 1 {
		t.Fatalf("%s: %+v", path, got)
	}
	return got.Files[0]
}

// revertsAll reverts every file and compares the folder with what it was.
func (s *scene) revertsAll(t *testing.T, before map[string]string) {
	t.Helper()
	stale := s.change(t, "a.txt").Version
	if err := os.WriteFile(filepath.Join(s.folder, "a.txt"), []byte("a person's work\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := client.Call(t.Context(), s.c, api.RevertFile, api.RevertFileRequest{SessionID: s.sessionID, Path: "a.txt", Version: stale})
	var refused *api.Error
	if !errors.As(err, &refused) || refused.Kind != api.KindConflict {
		t.Errorf("a file that changed meanwhile: %v", err)
	}
	for _, path := range []string{"a.txt", "made.txt", "command.txt", "dirty.txt", "gone.txt", "run.sh"} {
		version := s.change(t, path).Version
		for range 2 { // repeating it changes nothing
			_, err := client.Call(t.Context(), s.c, api.RevertFile, api.RevertFileRequest{SessionID: s.sessionID, Path: path, Version: version})
			if err != nil && !(errors.As(err, &refused) && refused.Kind == api.KindConflict) {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
	for path, want := range before {
		text, err := os.ReadFile(filepath.Join(s.folder, path))
		if want == "" && os.IsNotExist(err) {
			continue
		}
		if err != nil || string(text) != want {
			t.Errorf("%s is %q, %v, want %q", path, text, err, want)
		}
	}
	if info, err := os.Stat(filepath.Join(s.folder, "run.sh")); err != nil || info.Mode().Perm()&0o100 == 0 {
		t.Errorf("run.sh: %v %v", info.Mode(), err)
	}
	left := call(t, s.c, api.GetChanges, api.GetChangesRequest{SessionID: s.sessionID})
	if left.Files = slices.DeleteFunc(left.Files, func(file api.FileChange) bool { return file.Path == ".env" }); len(left.Files) > 0 {
		t.Errorf("left are %+v", left.Files)
	}
	for _, path := range []string{".env", "../x", ".git/config"} {
		if _, err := client.Call(t.Context(), s.c, api.RevertFile, api.RevertFileRequest{SessionID: s.sessionID, Path: path}); err == nil {
			t.Errorf("%s is reverted", path)
		}
	}
}

const gitInit = `export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b; chmod +x run.sh; git init -q -b main . && git add a.txt dirty.txt gone.txt run.sh && git commit -qm x`

// TestChangesInARepository: uncommitted work from before the session is not the session's,
// and comes back.
func TestChangesInARepository(t *testing.T) {
	s, _ := changed(t, gitInit+` && echo "before the session" > dirty.txt`)
	if diff := s.change(t, "dirty.txt").Diff; diff != "--- a/dirty.txt\n+++ b/dirty.txt\n@@ -1 +1,2 @@\n before the session\n+more\n" {
		t.Errorf("dirty.txt: %q", diff)
	}
	commit := exec.CommandContext(t.Context(), "bash", "-ec", gitInit[:strings.Index(gitInit, "; chmod")]+"; git add -A && git commit -qm later && git gc -q --prune=now")
	commit.Dir = s.folder
	if out, err := commit.CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	s.revertsAll(t, map[string]string{"a.txt": "one\ntwo\n", "made.txt": "", "command.txt": "", "dirty.txt": "before the session\n", "gone.txt": "gone\n", "run.sh": "#!/bin/sh\n"})
}

// TestChangesWithoutGit: a folder that is no repository is compared as well, also after a
// restart of the host.
func TestChangesWithoutGit(t *testing.T) {
	s, h := changed(t, "chmod +x run.sh")
	if diff := s.change(t, "gone.txt").Diff; !strings.Contains(diff, "-gone") {
		t.Errorf("gone.txt: %q", diff)
	}
	reader := newHTTPEntry(t, h, "reader")
	addToken(t, h, "reader", api.GrantView, api.GrantFiles)
	status, answer := reader.post("/v1/revert_file", fmt.Sprintf(`{"sessionId":%q,"path":"a.txt","version":""}`, s.sessionID))
	wantHTTP(t, status, answer, 403, api.KindNotAllowed)
	s.revertsAll(t, map[string]string{"a.txt": "one\ntwo\n", "made.txt": "", "command.txt": "", "dirty.txt": "clean\n", "gone.txt": "gone\n", "run.sh": "#!/bin/sh\n"})
	recorded := filepath.Join(s.home, "changes", s.sessionID)
	if _, err := os.Stat(recorded); err != nil {
		t.Fatal(err)
	}
	call(t, s.c, api.DeleteSession, api.SessionRequest{SessionID: s.sessionID})
	if _, err := os.Stat(recorded); !os.IsNotExist(err) {
		t.Errorf("the record of a deleted session: %v", err)
	}
}
