//go:build unix

package nodetest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/relay"
	"github.com/scorel/scorel/apps/relay/relaytest"
	"github.com/scorel/scorel/apps/relay/serve"
)

// childEnv holds the Config of a node in the process that runs it.
const childEnv = "SCOREL_TEST_NODE"

// patience is how long a node may take to start listening.
const patience = time.Minute

// Config is the configuration of a node.
type Config struct {
	DataDir string // for a SQLite store, unless Store is set
	Store   string // URL
	Bus     string // URL; "" means that the node is alone
	Listen  string // "" is a free port of 127.0.0.1
	Limits  relay.Limits
}

// Main runs a node and does not return in a process that Start started; elsewhere
// it does nothing. Call it first in TestMain.
func Main() {
	text := os.Getenv(childEnv)
	if text == "" {
		return
	}
	if err := serveNode(text); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func serveNode(text string) error {
	var cfg Config
	if err := json.Unmarshal([]byte(text), &cfg); err != nil {
		return err
	}
	l, err := net.Listen("tcp", cfg.Listen)
	if err != nil {
		return err
	}
	fmt.Println(l.Addr())
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		answerQuestions()
		cancel()
	}()
	return serve.Run(ctx, serve.Options{
		Listener: l, DataDir: cfg.DataDir, Store: cfg.Store, Bus: cfg.Bus, Version: "test",
		Guard:  serve.Guard{Limits: &cfg.Limits},
		Logger: slog.New(slog.NewJSONHandler(os.Stderr, nil)),
	})
}

// answerQuestions writes the number of goroutines whenever a byte comes, until the test
// process ends or closes standard input. The number in /metrics varies, because several
// goroutines collect the metrics, more or fewer of them each time.
func answerQuestions() {
	for question := make([]byte, 1); ; {
		if _, err := io.ReadFull(os.Stdin, question); err != nil {
			return
		}
		fmt.Println(runtime.NumGoroutine())
	}
}

// Node is a relay in its own process.
type Node struct {
	// Peers dials the node with relaytest's peers. It has no Relay, Store or HTTP.
	Peers relaytest.Server

	cfg   Config
	log   string // file
	cmd   *exec.Cmd
	stdin io.WriteCloser
	out   *bufio.Reader
}

// Start runs a node until the test ends.
func Start(t testing.TB, cfg Config) *Node {
	t.Helper()
	if cfg.Listen == "" {
		cfg.Listen = "127.0.0.1:0"
	}
	if cfg.Store == "" && cfg.DataDir == "" {
		cfg.DataDir = t.TempDir()
	}
	n := &Node{cfg: cfg, log: filepath.Join(t.TempDir(), "log")}
	n.start(t)
	t.Cleanup(n.Kill)
	return n
}

// Restart runs the node again after Kill, at the same address.
func (n *Node) Restart(t testing.TB) {
	t.Helper()
	n.start(t)
}

func (n *Node) start(t testing.TB) {
	t.Helper()
	if err := n.run(); err != nil {
		said, _ := os.ReadFile(n.log) // show as much as can be read
		t.Fatalf("starting a node: %v\n%s", err, said)
	}
}

func (n *Node) run() error {
	spec, err := json.Marshal(n.cfg)
	if err != nil {
		return err
	}
	log, err := os.OpenFile(n.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close() // the child has its own copy
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+string(spec))
	cmd.Stderr = log
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	n.cmd, n.stdin, n.out = cmd, stdin, bufio.NewReader(out)
	line, err := n.out.ReadString('\n')
	if err != nil {
		n.Kill()
		return fmt.Errorf("it exited before it listened: %w", err)
	}
	if listen := line[:len(line)-1]; listen != n.cfg.Listen { // read by others only before a restart
		n.cfg.Listen, n.Peers.URL = listen, "http://"+listen
	}
	if err := n.awaitReady(); err != nil {
		n.Kill()
		return err
	}
	return nil
}

func (n *Node) awaitReady() error {
	for deadline := time.Now().Add(patience); ; {
		_, err := n.get("/readyz")
		if err == nil || time.Now().After(deadline) {
			return err
		}
		<-time.After(10 * time.Millisecond) // a process offers no event to wait for
	}
}

// Addr is host:port.
func (n *Node) Addr() string { return n.cfg.Listen }

// PID returns the process's id while it runs.
func (n *Node) PID() int { return n.cmd.Process.Pid }

// Goroutines returns how many goroutines the process has.
func (n *Node) Goroutines(t testing.TB) int {
	t.Helper()
	if _, err := n.stdin.Write([]byte("?")); err != nil {
		t.Fatalf("asking a node for its goroutines: %v", err)
	}
	line, err := n.out.ReadString('\n')
	if err != nil {
		t.Fatalf("reading a node's goroutines: %v", err)
	}
	count, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatalf("a node's goroutines: %v", err)
	}
	return count
}

// Kill ends the process at once, as kill -9 does: the kernel closes its sockets.
// Killing again is harmless.
func (n *Node) Kill() {
	if n.cmd == nil {
		return
	}
	_ = n.cmd.Process.Kill() // it may have ended
	_ = n.cmd.Wait()         // returns that it was killed
	_ = n.stdin.Close()
	n.cmd = nil
}

// Freeze stops the process with SIGSTOP: its sockets stay open but silent.
func (n *Node) Freeze(t testing.TB) { n.signal(t, syscall.SIGSTOP) }

// Thaw resumes the process.
func (n *Node) Thaw(t testing.TB) { n.signal(t, syscall.SIGCONT) }

// Quit ends the process with SIGQUIT and returns what it wrote to standard error: its
// log, and then the stacks of its goroutines.
func (n *Node) Quit(t testing.TB) string {
	t.Helper()
	n.signal(t, syscall.SIGQUIT)
	_ = n.cmd.Wait() // returns how it ended
	n.Kill()
	said, err := os.ReadFile(n.log)
	if err != nil {
		t.Fatal(err)
	}
	return string(said)
}

func (n *Node) signal(t testing.TB, s syscall.Signal) {
	t.Helper()
	if err := n.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// Line is one line of a node's log.
type Line struct {
	Time  time.Time  `json:"time"`
	Level slog.Level `json:"level"`
	Msg   string     `json:"msg"`
	Error string     `json:"error"`
}

// Log returns what all processes of the node have logged.
func (n *Node) Log(t testing.TB) []Line {
	t.Helper()
	f, err := os.Open(n.log)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []Line
	for dec := json.NewDecoder(f); ; {
		var l Line
		err := dec.Decode(&l)
		switch {
		case err == nil:
			out = append(out, l)
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF): // a killed node's last line is incomplete
			return out
		default:
			t.Fatalf("the node's log: %v", err)
		}
	}
}
