//go:build linux

package host_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// TestKilledDuringTheSetup: what the setup of a worktree started ends with the host. The prompt is
// kept and its turn ends as interrupted; the next turn runs the setup again, from its beginning.
func TestKilledDuringTheSetup(t *testing.T) {
	const script = "#!/bin/sh\necho begun >> log.txt\n[ -e go ] && echo done >> log.txt && exit 0\n" +
		"exec 9>held; flock 9; echo $$ > pid; sleep 600; touch late\n"
	g := newGrove(t, map[string]string{"a.txt": "one\n", ".scorel/worktree-setup": script}, modeltest.Say("Done."))
	g.bash(t, g.folder, "chmod +x .scorel/worktree-setup && git commit -qam script")
	call(t, g.c, api.TrustProject, api.TrustProjectRequest{ProjectID: g.project.ID, Trusted: true})
	s := g.session(t, "1")
	g.stop()

	child := begin(t, thisProgram(t), g.home, 0)
	w := newWitness(t, s.ID)
	w.connect(g.home)
	w.prompt(freely("k1", "begin"))
	in := func(name string) string { return filepath.Join(s.Worktree.Folder, name) }
	pidIn(t, in("pid"))
	child.kill()

	g.start(t)
	held, err := os.Open(in("held"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = held.Close() }()
	if err := syscall.Flock(int(held.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		t.Errorf("the setup runs on: %v", err)
	}
	w.connect(g.home)
	w.resume()
	g.bash(t, s.Worktree.Folder, "touch go")
	if end := g.turn(t, s.ID, 1); end.StopReason != session.StopEnd {
		t.Fatalf("%+v", end)
	}
	g.has(t, in("log.txt"), "begun\nbegun\ndone\n")
	last := string(g.server.Bodies()[len(g.server.Bodies())-1])
	if !strings.Contains(last, "worktree-setup of the project ran") {
		t.Errorf("the model was given %s", last)
	}
	if _, err := os.Lstat(in("late")); err == nil {
		t.Error("the setup of the killed host went on")
	}
}
