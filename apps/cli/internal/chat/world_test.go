package chat

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/apps/host/hosttest"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/leakcheck"
	"github.com/scorel/scorel/packages/protocol/api"
)

var update = flag.Bool("update", false, "write the golden screens")

func TestMain(m *testing.M) {
	hosttest.AgentMain()
	leakcheck.Main(m)
}

// patience bounds every wait.
const patience = 30 * time.Second

// world is a real host with the demo model, and a screen without a terminal.
type world struct {
	t      testing.TB
	home   string
	folder string
	host   *host.Host
	stop   func()

	model    *Model
	messages chan tea.Msg
	commands sync.WaitGroup
	clock    time.Time // what the model takes for the time: it stands still
}

func newWorld(t testing.TB) *world {
	t.Helper()
	// The path is on the screen, so its length is always the same.
	top := fmt.Sprintf("/tmp/sc%08x", rand.Uint32())
	if err := os.Mkdir(top, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(top) })
	w := &world{t: t, home: filepath.Join(top, "home"), folder: filepath.Join(top, "site"), clock: time.Now()}
	if err := os.MkdirAll(w.folder, 0o700); err != nil {
		t.Fatal(err)
	}
	w.startHost()
	return w
}

func (w *world) startHost() {
	w.t.Helper()
	h, err := host.New(w.t.Context(), host.Config{Home: w.home, Label: "laptop", NoRelay: true, Getenv: func(string) string { return "" }})
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- h.Run(ctx) }()
	w.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			w.t.Errorf("the host ended with %v", err)
		}
	})
	w.t.Cleanup(w.stop)
	<-h.Ready()
	w.host = h
}

// importLong imports a session of many messages and returns its id.
func (w *world) importLong(messages int) string {
	w.t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, `{"type":"session","version":3,"id":"0199aaaa-0000-7000-8000-%012x","timestamp":"2026-01-02T03:04:05.000Z","cwd":%q}`+"\n", rand.Uint32(), w.folder)
	parent := "null"
	for i := 1; i <= messages; i++ {
		role, extra := "user", ""
		if i%2 == 0 {
			role, extra = "assistant", `,"stopReason":"stop"`
		}
		fmt.Fprintf(&b, `{"type":"message","id":"%08x","parentId":%s,"timestamp":"2026-01-02T03:04:05.000Z","message":{"role":"%s","content":[{"type":"text","text":"message %d of the session, with **some** text and `+"`code`"+`"}]%s,"timestamp":1767323045000}}`+"\n", i, parent, role, i, extra)
		parent = fmt.Sprintf(`"%08x"`, i)
	}
	path := filepath.Join(w.folder, "long.jsonl")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		w.t.Fatal(err)
	}
	c := w.client()
	defer func() { _ = c.Close() }() // everything was received
	if _, err := client.Call(w.t.Context(), c, api.AddProject, api.AddProjectRequest{Path: w.folder}); err != nil {
		w.t.Fatal(err)
	}
	imported, err := client.Call(w.t.Context(), c, api.ImportSession, api.ImportSessionRequest{Path: path})
	if err != nil {
		w.t.Fatal(err)
	}
	return imported.Session.ID
}

func (w *world) dial(ctx context.Context) (client.Transport, error) {
	return host.DialLocal(ctx, w.home)
}

// open starts a screen, which ends with the test.
func (w *world) open(width, height int, change func(*Config)) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cfg := Config{Host: Host{Dial: w.dial, Lost: func(error) bool { return true }}, Folder: w.folder, Now: w.now}
	if change != nil {
		change(&cfg)
	}
	w.messages = make(chan tea.Msg, 1024)
	w.model = newModel(ctx, cfg)
	m := w.model
	w.t.Cleanup(func() { cancel(); m.conn.feeds.Wait(); w.commands.Wait() })
	w.run(w.model.Init())
	w.send(tea.WindowSizeMsg{Width: width, Height: height})
}

func (w *world) now() time.Time { return w.clock }

// run runs a command as bubbletea does.
func (w *world) run(cmd tea.Cmd) { w.runFor(w.model, w.messages, cmd) }

// runFor runs a command of a screen, which may not be the last one that was opened.
func (w *world) runFor(m *Model, messages chan tea.Msg, cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	w.commands.Go(func() {
		msg := cmd()
		if batch, ok := msg.(tea.BatchMsg); ok {
			for _, one := range batch {
				w.runFor(m, messages, one)
			}
			return
		}
		if msg != nil {
			select {
			case messages <- msg:
			case <-m.conn.ctx.Done():
			}
		}
	})
}

func (w *world) send(msg tea.Msg) {
	_, cmd := w.model.Update(msg)
	w.run(cmd)
}

// screen returns what is visible, without colors.
func (w *world) screen() string {
	lines := strings.Split(ansi.Strip(w.model.View().Content), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// until handles messages until the screen is as wanted.
func (w *world) until(what string, ok func(screen string) bool) {
	w.t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for !ok(w.screen()) {
		select {
		case msg := <-w.messages:
			w.send(msg)
		case <-deadline.C:
			w.t.Fatalf("the screen never shows %s:\n%s", what, w.screen())
		}
	}
}

func (w *world) await(text string) {
	w.t.Helper()
	w.until(text, func(screen string) bool { return strings.Contains(screen, text) })
}

// idle waits until the agent has nothing more to do: between the turns of two prompts, the second
// one is still in the queue.
func (w *world) idle() {
	w.t.Helper()
	w.until("the end of the last turn", func(string) bool {
		return len(w.model.session.Live.Queue) == 0 && !w.model.session.running() && len(w.model.outbox.prompts) == 0 && w.model.session.Summary.ID != "" && w.model.session.Summary.MessageCount > 0 && !w.model.session.Summary.Running
	})
}

func (w *world) write(text string) {
	for _, r := range text {
		w.send(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
}

func (w *world) key(code rune, mod tea.KeyMod) { w.send(tea.KeyPressMsg{Code: code, Mod: mod}) }

// prompt writes a prompt and sends it.
func (w *world) prompt(text string) {
	w.t.Helper()
	w.until("the project", func(string) bool { return w.model.next.project.ID != "" || w.model.session.Summary.ID != "" })
	w.write(text)
	if w.model.complete.open() {
		w.key(tea.KeyEscape, 0)
	}
	w.key(tea.KeyEnter, 0)
}

// waitForCard waits for a card that takes keys.
func (w *world) waitForCard() {
	w.t.Helper()
	w.until("a card", func(string) bool { return w.model.card.id != "" && !w.model.card.sent })
	w.model.card.quietUntil = time.Time{} // its own test is about this
}

// answer answers a card once it takes keys.
func (w *world) answer(key rune) {
	w.t.Helper()
	w.waitForCard()
	w.write(string(key))
}

var (
	changing  = regexp.MustCompile(`[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]`)
	topFolder = regexp.MustCompile(`/tmp/sc[0-9a-f]+`)
)

// golden compares the screen with a file.
func (w *world) golden(name string) {
	w.t.Helper()
	screen := topFolder.ReplaceAllStringFunc(w.screen(), func(path string) string {
		return "/tmp/sc" + strings.Repeat("0", len(path)-len("/tmp/sc"))
	})
	screen = changing.ReplaceAllString(screen, "*") + "\n"
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(screen), 0o644); err != nil {
			w.t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		w.t.Fatal(err)
	}
	if string(want) != screen {
		w.t.Errorf("%s differs (go test . -run Golden -update writes it):\n%s\nwant:\n%s", name, screen, want)
	}
}

// client returns another client of the host, which the caller closes.
func (w *world) client() *client.Client {
	w.t.Helper()
	transport, err := w.dial(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return client.New(transport, nil)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
