package cli

import (
	"context"
	"encoding/json"
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

// await waits until the screen has a text, and returns the screen.
func (p *pane) await(text string) (screen string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	err := poll(ctx, func() (bool, error) {
		screen = p.tmux("capture-pane", "-p")
		return strings.Contains(screen, text), nil
	})
	if err != nil {
		p.t.Fatalf("the terminal never shows %q:\n%s", text, screen)
	}
	return screen
}

// ask sends a prompt and waits for a text.
func (p *pane) ask(prompt, text string) {
	p.t.Helper()
	p.keys(prompt, "Enter")
	p.await(text)
}

// newHome starts a terminal in a project, with a home of its own. The host that programs start
// there ends with the test.
func newHome(t *testing.T) (project string, env []string) {
	t.Helper()
	top := t.TempDir()
	project = filepath.Join(top, "site")
	if err := os.Mkdir(project, 0o700); err != nil {
		t.Fatal(err)
	}
	env = []string{"SCOREL_HOME=" + filepath.Join(top, "home"), "HOME=" + top, "GORACE=atexit_sleep_ms=10", "LC_ALL=C.UTF-8", "NO_COLOR=1"}
	t.Cleanup(func() { scorel(t, env, "host", "stop") })
	return project, env
}

// scorel runs the program to its end and returns what it printed.
func scorel(t *testing.T, env []string, args ...string) string {
	t.Helper()
	cmd := exec.Command("scorel", args...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("scorel %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// TestTheProgramInATerminal runs the program as a person does: it starts a host, asks, answers
// an approval, is resized, and leaves the terminal as it was.
func TestTheProgramInATerminal(t *testing.T) {
	project, env := newHome(t)
	top := filepath.Dir(project)
	p := newPane(t, project, env...)
	p.keys("stty -g >../before; scorel; stty -g >../after", "Enter")
	p.await("demo model, which is not an AI")
	p.ask("write made.txt: hello", "y allow") // not before the card takes keys
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

// TestRequestsAreAnsweredInAnotherTerminal answers what waits for a chat, as it is shown.
func TestRequestsAreAnsweredInAnotherTerminal(t *testing.T) {
	project, env := newHome(t)
	chat := newPane(t, project, env...)
	chat.keys("scorel", "Enter")
	chat.await("demo model, which is not an AI")
	other := newPane(t, project, env...)

	chat.ask("write made.txt: hello", "y allow")
	var item inboxItem
	if err := json.Unmarshal([]byte(scorel(t, env, "inbox", "--json")), &item); err != nil || item.Approval == nil {
		t.Fatalf("the inbox has %+v (%v), want an approval", item, err)
	}
	other.keys("scorel session answer "+item.SessionID, "Enter")
	other.await("| ")
	other.await("Allow?")
	other.keys("y", "Enter")
	other.await("answered with allow: ")
	chat.await("Created made.txt")

	chat.keys(`use clarify {"question":"Which lamp?","choices":["old"]}`, "Enter")
	chat.await("1  old")
	if list := scorel(t, env, "inbox"); !strings.Contains(list, "question: Which lamp?") {
		t.Errorf("the inbox is\n%s", list)
	}
	other.keys("clear; scorel session answer "+item.SessionID, "Enter")
	other.await("A number, another answer")
	other.keys("1", "Enter")
	other.await("answered: Which lamp?")
	chat.await("The tool clarify returned")
	if list := scorel(t, env, "inbox"); list != "nothing needs you\n" {
		t.Errorf("the inbox is\n%s", list)
	}
	chat.keys("C-c", "C-c")
	chat.await("scorel: continue with")
}

func readText(t *testing.T, folder, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
