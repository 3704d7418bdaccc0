package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// background runs the program until the test ends, and returns the texts of its first line,
// which is JSON.
func background(t *testing.T, env []string, args ...string) (first map[string]string, wait func()) {
	t.Helper()
	cmd := exec.Command("scorel", args...)
	cmd.Env, cmd.Stderr = append(os.Environ(), env...), t.Output()
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatalf("starting scorel %s: %v", args[0], err)
	}
	ended := false
	wait = func() {
		if !ended {
			ended = true
			_ = cmd.Wait() // whoever cares looks at what it did
		}
	}
	t.Cleanup(func() {
		if !ended {
			_ = cmd.Process.Signal(syscall.SIGTERM)
		}
		wait()
	})
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		t.Fatalf("scorel %s printed nothing: %v", args[0], err)
	}
	var fields map[string]any
	if err := json.Unmarshal(line, &fields); err != nil {
		t.Fatalf("scorel %s printed %s", args[0], line)
	}
	first = map[string]string{}
	for name, value := range fields {
		first[name] = fmt.Sprint(value)
	}
	return first, wait
}

// computer is a machine of a person, with a home and a project.
type computer struct {
	t       *testing.T
	project string
	env     []string
}

func newComputer(t *testing.T, name string) computer {
	t.Helper()
	top := filepath.Join(t.TempDir(), name)
	m := computer{t, filepath.Join(top, "site"), []string{
		"SCOREL_HOME=" + filepath.Join(top, "home"), "HOME=" + top, "SCOREL_MDNS=off",
		"GORACE=atexit_sleep_ms=10", "LC_ALL=C.UTF-8", "NO_COLOR=1",
	}}
	if err := os.MkdirAll(m.project, 0o700); err != nil {
		t.Fatal(err)
	}
	return m
}

// imports imports a session in which one message in the middle is special.
func (m computer) imports(id, special string) {
	m.t.Helper()
	var lines strings.Builder
	fmt.Fprintf(&lines, `{"type":"session","version":3,"id":%q,"timestamp":"2026-01-02T03:04:06.000Z","cwd":"/nowhere"}`+"\n", id)
	parent := "null"
	for i := range 400 {
		text := fmt.Sprintf("message %d of %s", i, id)
		if i == 40 {
			text = special
		}
		fmt.Fprintf(&lines, `{"type":"message","id":"e%d","parentId":%s,"timestamp":"2026-01-02T03:04:07.000Z","message":{"role":"user","content":%q}}`+"\n", i, parent, text)
		parent = fmt.Sprintf("%q", fmt.Sprint("e", i))
	}
	file := filepath.Join(m.project, id+".jsonl")
	if err := os.WriteFile(file, []byte(lines.String()), 0o600); err != nil {
		m.t.Fatal(err)
	}
	m.run("session", "import", file, "--project", m.project)
}

func (m computer) run(args ...string) string {
	m.t.Helper()
	return scorel(m.t, m.env, args...)
}

// overRelay is a relay, and a laptop that is paired with a desk over it. Both have a host.
type overRelay struct {
	desk, laptop computer
	device       string // of the desk
}

func newOverRelay(t *testing.T) overRelay {
	t.Helper()
	w := overRelay{desk: newComputer(t, "desk"), laptop: newComputer(t, "laptop")}
	relay, _ := background(t, w.desk.env, "relay", "serve", "--listen", "127.0.0.1:0", "--data-dir", t.TempDir(), "--json")
	host, _ := background(t, w.desk.env, "host", "serve", "--relay", relay["url"], "--label", "desk", "--project", w.desk.project, "--json")
	w.device = host["deviceId"]
	background(t, w.laptop.env, "host", "serve", "--no-relay", "--label", "laptop", "--project", w.laptop.project, "--json")
	connecting, wait := background(t, w.laptop.env, "connect", "--relay", relay["url"], "--json")
	w.desk.run("pair", connecting["code"], "--relay", relay["url"], "--yes")
	wait()
	w.desk.imports("desk-session", "the zebra of the desk")
	w.laptop.imports("laptop-session", "the zebra of the laptop")
	return w
}

// TestAttachOverARelay: a chat, a watcher and a guest follow one session of another machine.
func TestAttachOverARelay(t *testing.T) {
	w := newOverRelay(t)
	chat := newPane(t, w.laptop.project, w.laptop.env...)
	chat.keys("scorel attach --device "+w.device+" desk-session", "Enter")
	chat.await("message 399 of desk-session")
	watch := newPane(t, w.laptop.project, w.laptop.env...)
	watch.keys("scorel attach --device "+w.device+" desk-session --watch", "Enter")
	watch.await("view only")
	watch.await("message 399 of desk-session")
	var link sharedLink
	if err := json.Unmarshal([]byte(w.desk.run("session", "share", "desk-session", "--json")), &link); err != nil {
		t.Fatal(err)
	}
	stranger := newComputer(t, "stranger")
	guest := newPane(t, stranger.project, stranger.env...)
	guest.keys("scorel attach --link "+link.URL, "Enter")
	guest.await("message 399 of desk-session")
	guest.await("Guest link · view only")

	chat.keys("stream 3", "Enter")
	for _, p := range []*pane{chat, watch, guest} {
		p.await("word1 word2 word3")
	}
	watch.keys("stream 9", "Enter") // keys change nothing, and q leaves
	watch.keys("q")
	watch.await("scorel: continue with")
	guest.keys("C-g")
	guest.await("A guest link shows this session only")
	w.desk.run("session", "unshare", "desk-session")
	guest.await("the guest link was revoked")
	if strings.Contains(w.desk.run("session", "show", "desk-session"), "stream 9") {
		t.Error("a watcher sent a prompt")
	}
	chat.keys("C-c", "C-c")
	chat.await("--device " + w.device)
}

// TestSearchOverMachines: one search of the chat covers all machines, and a hit opens at its entry
// on the machine that has it.
func TestSearchOverMachines(t *testing.T) {
	w := newOverRelay(t)
	chat := newPane(t, w.laptop.project, w.laptop.env...)
	chat.keys("scorel", "Enter")
	chat.await("demo model, which is not an AI")
	chat.keys("C-g")
	chat.await("Search all devices")
	chat.keys("zebra")
	chat.await("the zebra of the laptop")
	chat.await("the zebra of the desk")
	hits := chat.await("· desk")
	if strings.Index(hits, "the zebra of the laptop") < strings.Index(hits, "the zebra of the desk") { // hits are in the order of the answers
		chat.keys("Down")
	}
	chat.keys("Enter")
	chat.await("message 41 of desk-session")
	chat.await("the zebra of the desk")
	chat.keys("C-g")
	chat.await("Search all devices")
	chat.keys("zebra of the laptop")
	chat.await("· this machine")
	chat.keys("Enter")
	chat.await("message 41 of laptop-session")
	chat.await("the zebra of the laptop")
	chat.keys("C-c", "C-c")
	chat.await("scorel: continue with")
}
