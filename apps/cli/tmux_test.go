package cli

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// pane is a terminal of tmux in which a shell runs.
type pane struct {
	t      *testing.T
	socket string
}

// newPane starts a terminal of 80 by 24 cells. A missing tmux is an error: .ci/deps installs it.
func newPane(t *testing.T, folder string, env ...string) *pane {
	t.Helper()
	p := &pane{t, filepath.Join(t.TempDir(), "tmux")}
	cmd := exec.Command("tmux", "-u", "-S", p.socket, "-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", "-c", folder, "env", "PS1=ready$ ", "sh")
	cmd.Env = append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("starting tmux: %v\n%s", err, out)
	}
	t.Cleanup(func() { _ = exec.Command("tmux", "-S", p.socket, "kill-server").Run() }) // it may have ended
	p.await("ready$")
	return p
}

func (p *pane) tmux(args ...string) string {
	p.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-u", "-S", p.socket}, args...)...).CombinedOutput()
	if err != nil {
		p.t.Fatalf("tmux %s: %v\n%s", args[0], err, out)
	}
	return string(out)
}

func (p *pane) keys(keys ...string) { p.tmux(append([]string{"send-keys", "--"}, keys...)...) }

// await waits until the screen has a text.
func (p *pane) await(text string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	screen := ""
	err := poll(ctx, func() (bool, error) {
		screen = p.tmux("capture-pane", "-p")
		return strings.Contains(screen, text), nil
	})
	if err != nil {
		p.t.Fatalf("the terminal never shows %q:\n%s", text, screen)
	}
}

// TestTheProgramInATerminal runs the program as a person does: it starts a host, asks, answers
// an approval, is resized, and leaves the terminal as it was.
func TestTheProgramInATerminal(t *testing.T) {
	top := t.TempDir()
	project, home := filepath.Join(top, "site"), filepath.Join(top, "home")
	if err := os.Mkdir(project, 0o700); err != nil {
		t.Fatal(err)
	}
	env := []string{"SCOREL_HOME=" + home, "HOME=" + top, "GORACE=atexit_sleep_ms=10", "LC_ALL=C.UTF-8", "NO_COLOR=1"}
	t.Cleanup(func() {
		stop := exec.Command("scorel", "host", "stop")
		stop.Env = append(os.Environ(), env...)
		if out, err := stop.CombinedOutput(); err != nil {
			t.Errorf("scorel host stop: %v\n%s", err, out)
		}
	})
	p := newPane(t, project, env...)
	p.keys("stty -g >../before; scorel; stty -g >../after", "Enter")
	p.await("demo model, which is not an AI")
	p.keys("write made.txt: hello", "Enter")
	p.await("y allow") // not before the card takes keys
	p.keys("y")
	p.await("Created made.txt")
	if _, err := os.Stat(filepath.Join(project, "made.txt")); err != nil {
		t.Error(err)
	}
	p.tmux("resize-window", "-x", "50", "-y", "15")
	p.await("╭" + strings.Repeat("─", 48) + "╮")
	p.keys("C-c", "C-c")
	p.await("scorel: continue with")
	p.keys("clear; scorel host status", "Enter")
	p.await("sandbox")
	if before, after := readText(t, top, "before"), readText(t, top, "after"); before != after {
		t.Errorf("the settings of the terminal were %s and are %s", before, after)
	}
	if state := strings.TrimSpace(p.tmux("display-message", "-p", "#{alternate_on}#{mouse_any_flag}#{cursor_flag}")); state != "001" {
		t.Errorf("alternate screen, mouse and cursor are %s after the program, want 001", state)
	}
}

func readText(t *testing.T, folder, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
