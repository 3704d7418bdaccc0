//go:build linux

package e2e

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/scorel/scorel/apps/relay/relaytest/nodetest"
	"github.com/scorel/scorel/packages/protocol/api"
)

// The benchmarks here run the program itself on a pseudo-terminal, and look at what it writes
// there. Its memory is its resident set at the end.

const (
	benchKeys     = 40      // of one run
	benchLog      = 100_000 // entries of a long session
	benchPatience = time.Minute
)

// chat is the terminal client on a pseudo-terminal of 100 by 30 cells.
type chat struct {
	b      *testing.B
	cmd    *exec.Cmd
	tty    *os.File
	chunks chan chunk
	begun  time.Time
	seen   []byte // since the last mark
}

type chunk struct {
	at   time.Time
	data []byte
}

// program builds the program as it is released, without the web UI.
func program(b testing.TB) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "scorel")
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", path, "../cmd/scorel")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("building scorel: %v %s", err, out)
	}
	return path
}

// begin starts the program in the project of a host.
func (p *hostProcess) begin(b *testing.B, program string, args ...string) *chat {
	b.Helper()
	c := &chat{b: b, cmd: exec.Command(program, args...), chunks: make(chan chunk, 4096)}
	c.cmd.Dir = p.project.Path
	c.cmd.Env = []string{"SCOREL_HOME=" + filepath.Join(p.home, "scorel"), "HOME=" + p.home, "TERM=xterm-256color", "LC_ALL=C.UTF-8", "PATH=" + os.Getenv("PATH")}
	c.begun = time.Now()
	tty, err := pty.StartWithSize(c.cmd, &pty.Winsize{Rows: 30, Cols: 100})
	if err != nil {
		b.Fatal(err)
	}
	c.tty = tty
	go c.read()
	return c
}

// read ends with the program.
func (c *chat) read() {
	defer close(c.chunks)
	buffer := make([]byte, 64<<10)
	for {
		n, err := c.tty.Read(buffer)
		if n > 0 {
			c.chunks <- chunk{time.Now(), bytes.Clone(buffer[:n])}
		}
		if err != nil {
			return
		}
	}
}

// mark forgets what was written so far.
func (c *chat) mark() {
	for {
		select {
		case <-c.chunks:
		default:
			c.seen = nil
			return
		}
	}
}

// await returns when a text was written since the last mark.
func (c *chat) await(text string) time.Time {
	c.b.Helper()
	timeout := time.After(benchPatience)
	for at := c.begun; ; {
		if bytes.Contains(c.seen, []byte(text)) {
			return at
		}
		select {
		case chunk, ok := <-c.chunks:
			if !ok {
				c.b.Fatalf("the program ended before it wrote %q: %q", text, tail(c.seen))
			}
			at, c.seen = chunk.at, append(c.seen, chunk.data...)
		case <-timeout:
			c.b.Fatalf("the program never wrote %q: %q", text, tail(c.seen))
		}
	}
}

func tail(text []byte) []byte { return text[max(len(text)-2000, 0):] }

func (c *chat) write(text string) {
	c.b.Helper()
	if _, err := c.tty.WriteString(text); err != nil {
		c.b.Fatal(err)
	}
}

// end leaves the program and returns its memory before that, in MiB.
func (c *chat) end() float64 {
	c.b.Helper()
	usage, err := nodetest.UsageOf(c.cmd.Process.Pid)
	if err != nil {
		c.b.Fatal(err)
	}
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait()
	for range c.chunks { // until its reader has ended
	}
	_ = c.tty.Close()
	return float64(usage.RSS) / (1 << 20)
}

// frame is in the first frame: the corner of the field.
const frame = "╭"

// millis reports durations as a metric for the middle, and one for 95 of 100.
func millis(b *testing.B, name string, all []time.Duration) {
	b.Helper()
	slices.Sort(all)
	of := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(of(all[len(all)/2]), name+"-ms-p50")
	b.ReportMetric(of(all[len(all)*95/100]), name+"-ms-p95")
}

// BenchmarkChatFirstFrame is the time from the start of the process to the first frame.
func BenchmarkChatFirstFrame(b *testing.B) {
	p, path := startHostProcess(b, newPacedProvider(b).config("")), program(b)
	var all []time.Duration
	memory := 0.0
	for b.Loop() {
		c := p.begin(b, path, "chat")
		all = append(all, c.await(frame).Sub(c.begun))
		c.await(p.project.Path) // the host has answered
		memory = max(memory, c.end())
	}
	millis(b, "frame", all)
	b.ReportMetric(memory, "MiB")
}

// keys are letters that nothing else on the screen has.
func keys() []string {
	return strings.Split("αβγδεζηθικλμνξοπρστυφχψωБГДЖЗИЙЛПФЦЧШЩЪЫЬЭЮЯ", "")
}

// BenchmarkChatKeystroke is the time from a key to its letter on the screen, while a model writes
// 1,000 deltas a second.
func BenchmarkChatKeystroke(b *testing.B) {
	provider := newPacedProvider(b)
	provider.seconds.Store(60)
	p, path := startHostProcess(b, provider.config("")), program(b)
	var all []time.Duration
	memory := 0.0
	for b.Loop() {
		c := p.begin(b, path, "chat")
		c.await(p.project.Path) // a prompt can be sent
		c.write("begin\r")
		c.await("word word word")
		for _, key := range keys()[:benchKeys] {
			<-time.After(37 * time.Millisecond) // not in step with the frames
			c.mark()
			at := time.Now()
			c.write(key)
			all = append(all, c.await(key).Sub(at))
		}
		memory = max(memory, c.end())
	}
	millis(b, "key", all)
	b.ReportMetric(memory, "MiB")
}

// BenchmarkChatOpensLong is the time from the start of the process to the last message of a
// session of 100,000 entries.
func BenchmarkChatOpensLong(b *testing.B) {
	p, path := startHostProcess(b, newPacedProvider(b).config("")), program(b)
	id := p.importLong(b)
	p.settled(b) // it is in the index
	var all []time.Duration
	memory := 0.0
	for b.Loop() {
		c := p.begin(b, path, "attach", id)
		all = append(all, c.await(fmt.Sprintf("message %d", benchLog)).Sub(c.begun))
		memory = max(memory, c.end())
	}
	millis(b, "open", all)
	b.ReportMetric(float64(slices.Max(all).Microseconds())/1000, "open-ms-max")
	b.ReportMetric(memory, "MiB")
}

// importLong imports a session of benchLog messages and returns its id.
func (p *hostProcess) importLong(b *testing.B) string {
	b.Helper()
	path := filepath.Join(p.home, "long.jsonl")
	file, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriter(file)
	fmt.Fprintf(w, `{"type":"session","version":3,"id":"0199aaaa-0000-7000-8000-000000000001","timestamp":"2026-01-02T03:04:05.000Z","cwd":%q}`+"\n", p.project.Path)
	parent := "null"
	for i := 1; i <= benchLog; i++ {
		role, extra := "user", ""
		if i%2 == 0 {
			role, extra = "assistant", `,"stopReason":"stop"`
		}
		fmt.Fprintf(w, `{"type":"message","id":"%08x","parentId":%s,"timestamp":"2026-01-02T03:04:05.000Z","message":{"role":"%s","content":[{"type":"text","text":"message %d of **the session**"}]%s,"timestamp":1767323045000}}`+"\n", i, parent, role, i, extra)
		parent = fmt.Sprintf(`"%08x"`, i)
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	if err := file.Close(); err != nil {
		b.Fatal(err)
	}
	return ask(b, p.local, api.ImportSession, api.ImportSessionRequest{Path: path}).Session.ID
}
