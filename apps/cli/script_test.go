package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/scorel/scorel/apps/host/hosttest"
	"github.com/scorel/scorel/packages/protocol/pair"
	"github.com/scorel/scorel/packages/trace/tracetest"
)

func TestMain(m *testing.M) {
	scorel := func() { released(); os.Exit(Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv)) }
	if name := filepath.Base(os.Args[0]); name == "scorel.old" || strings.HasPrefix(name, ".scorel-") {
		scorel() // as an update names the program while it replaces it
	}
	testscript.Main(m, map[string]func(){
		"scorel":  scorel,
		"testmcp": serveMCP, "xdg-open": browse,
		"testagent": func() { hosttest.FakeAgent(os.Args[1:]) },
	})
}

// TestScripts runs testdata/*.txtar against real processes on loopback: relay,
// host and command line are what a person would start. Beside the commands of
// testscript there are
//
//	start NAME ARG...      run scorel ARG... until its first line of output; if that
//	                       is JSON, each of its texts becomes $NAME_KEY
//	await NAME out|err TEXT  wait until NAME has printed TEXT
//	signal NAME INT|TERM|KILL
//	files NAME full|free   on Linux: have every write to a file fail in NAME as on a full
//	                       disk, or succeed again
//	finish NAME CODE       wait for the end of NAME; stdout and stderr are its own
//	code CODE ARG...       run scorel ARG... and expect its exit code
//	stub NAME MODE         serve a model that refuses, that waits in the middle, or that makes calls,
//	                       or every provider's wire with the key good-key and the model the-model
//	                       of its answer for "release NAME"; $NAME_url is its URL
//	protect NAME           serve an MCP server that needs a sign-in; $NAME_url is its address,
//	                       $NAME_issuer the host and port of its authorization server. The
//	                       program xdg-open is a browser in which a person signs in at once
//	install FOLDER         copy the program to a folder, which is first in PATH from then on
//	publish NAME VERSION good|bad|dead  serve a signed release at $NAME_url, whose program is the
//	                       installed one with that version, one that runs no host, or one that
//	                       does not run at all
//	collect NAME           start a collector of spans at $NAME_url
//	spans NAME SPAN...     wait until it has these spans, each below the one before it
//	mangle CODE            set $mangled to the pairing code with another secret
//	after VAR SEP TEXT     set $VAR to what follows the last SEP in TEXT, or in the output
//	                       of the last command if TEXT is stdout or stderr
//	expand FROM TO         copy a file and put in the variables it names
//	page FILE BEGIN... [-- FROM TO...]  run the blocks of shell of a page that begin with these texts
//	                       in one shell, with texts in them replaced
//	http STATUS METHOD URL TOKEN [BODY]  send a request to a host; print the answer,
//	                       or the events up to the one that BODY names
//	postgres VAR           set $VAR to the URL of a new database, with a password
//	mariadb VAR            set $VAR to the URL of a new MariaDB database
func TestScripts(t *testing.T) {
	goSettings := goSettings(t)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("SCOREL_HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("HOME", env.WorkDir)
			examples, err := filepath.Abs("../../docs/examples/extensions")
			if err != nil {
				return err
			}
			env.Setenv("EXAMPLES", examples)
			env.Setenv("PAGES", filepath.Join(examples, "../../.."))
			env.Vars = append(env.Vars, goSettings...)
			env.Setenv("SCOREL_MDNS", "off")           // tests ask loopback only
			env.Setenv("GORACE", "atexit_sleep_ms=10") // do not wait a second at the end of every command
			env.Values[stageKey{}] = newStage()
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"start": onStage(cmdStart), "await": onStage(cmdAwait), "signal": onStage(cmdSignal),
			"files": onStage(cmdFiles), "finish": onStage(cmdFinish), "code": onStage(cmdCode), "mangle": onStage(cmdMangle),
			"after": onStage(cmdAfter), "expand": onStage(cmdExpand),
			"stub": onStage(cmdStub), "release": onStage(cmdRelease), "postgres": onStage(cmdPostgres),
			"mariadb": onStage(cmdMariaDB), "http": onStage(cmdHTTP), "protect": onStage(cmdProtect),
			"install": onStage(cmdInstall), "publish": onStage(cmdPublish), "collect": onStage(cmdCollect), "spans": onStage(cmdSpans), "page": onStage(cmdPage),
		},
	})
}

// goSettings lets the script of the examples compile one as the program was compiled, from
// the cache of this user.
func goSettings(t *testing.T) []string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE", "GOFLAGS").Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(out), "\n")
	return []string{"GOCACHE=" + lines[0], "GOMODCACHE=" + lines[1], "GOFLAGS=" + strings.TrimSpace(lines[2]+" -trimpath"), "GOWORK=off", "CGO_ENABLED=0"}
}

// patience bounds every wait of a script.
const patience = 30 * time.Second

type stageKey struct{}

// stage holds what one script has started.
type stage struct {
	processes map[string]*process
	stubs     map[string]*stubModel

	collectors map[string]*tracetest.Collector
}

func newStage() *stage {
	return &stage{processes: map[string]*process{}, stubs: map[string]*stubModel{}}
}

func onStage(run func(*testscript.TestScript, *stage, []string)) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg {
			ts.Fatalf("this command cannot be negated")
		}
		run(ts, ts.Value(stageKey{}).(*stage), args)
	}
}

func wantArgs(ts *testscript.TestScript, args []string, least int) {
	if len(args) < least {
		ts.Fatalf("at least %d arguments are needed", least)
	}
}

// watched is output that can be waited for.
type watched struct {
	mu      sync.Mutex
	data    bytes.Buffer
	changed chan struct{} // closed and replaced at every write
}

func newWatched() *watched { return &watched{changed: make(chan struct{})} }

func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	close(w.changed)
	w.changed = make(chan struct{})
	return w.data.Write(p)
}

func (w *watched) snapshot() (string, chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.data.String(), w.changed
}

// process is a scorel process in the background.
type process struct {
	cmd      *exec.Cmd
	out, err *watched
	done     chan struct{} // closed when it has ended
}

// await waits until output has text, the process has ended, or time is up.
func (p *process) await(output *watched, text string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	ended := p.done
	for {
		have, changed := output.snapshot()
		if strings.Contains(have, text) {
			return nil
		}
		if ended == nil {
			return fmt.Errorf("it ended without %q", text)
		}
		select {
		case <-changed:
		case <-ended:
			ended = nil // check its last output once more
		case <-ctx.Done():
			return fmt.Errorf("no %q within %s", text, patience)
		}
	}
}

func cmdStart(ts *testscript.TestScript, s *stage, args []string) {
	wantArgs(ts, args, 2)
	name := args[0]
	cmd := exec.Command(lookPath(ts, "scorel"), args[1:]...)
	cmd.Dir = ts.MkAbs(".")
	for _, key := range []string{"HOME", "SCOREL_HOME", "SCOREL_RELAY_URL", "SCOREL_RELAY_STORE", "SCOREL_INVITE", "SCOREL_MDNS", "PATH", "DISPLAY", "TMPDIR", "STUB_KEY", "SCOREL_SESSIONS_POSTGRES", "MY_DATABASE", "GOCOVERDIR", testVersion} {
		if value := ts.Getenv(key); value != "" {
			cmd.Env = append(cmd.Env, key+"="+value)
		}
	}
	p := &process{cmd: cmd, out: newWatched(), err: newWatched(), done: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = p.out, p.err
	ts.Check(cmd.Start())
	go func() { _ = cmd.Wait(); close(p.done) }()
	ts.Defer(func() { _ = cmd.Process.Kill(); <-p.done })
	s.processes[name] = p
	if err := p.await(p.out, "\n"); err != nil {
		stderr, _ := p.err.snapshot()
		ts.Fatalf("%s: %v\n%s", name, err, stderr)
	}
	setenvFromJSON(ts, name, p)
}

// lookPath finds a program as the script would.
func lookPath(ts *testscript.TestScript, program string) string {
	for _, folder := range filepath.SplitList(ts.Getenv("PATH")) {
		path := filepath.Join(folder, program)
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	ts.Fatalf("%s is not on the PATH", program)
	return ""
}

func setenvFromJSON(ts *testscript.TestScript, name string, p *process) {
	out, _ := p.out.snapshot()
	first, _, _ := strings.Cut(out, "\n")
	var fields map[string]any
	if json.Unmarshal([]byte(first), &fields) != nil {
		return
	}
	for key, value := range fields {
		if text, ok := value.(string); ok {
			ts.Setenv(name+"_"+key, text)
		}
	}
}

func (s *stage) process(ts *testscript.TestScript, name string) *process {
	p, ok := s.processes[name]
	if !ok {
		ts.Fatalf("%s was not started", name)
	}
	return p
}

func cmdAwait(ts *testscript.TestScript, s *stage, args []string) {
	wantArgs(ts, args, 3)
	p := s.process(ts, args[0])
	output := map[string]*watched{"out": p.out, "err": p.err}[args[1]]
	if err := p.await(output, args[2]); err != nil {
		out, _ := p.out.snapshot()
		stderr, _ := p.err.snapshot()
		ts.Fatalf("%s: %v\nstdout:\n%s\nstderr:\n%s", args[0], err, out, stderr)
	}
}

func cmdSignal(ts *testscript.TestScript, s *stage, args []string) {
	wantArgs(ts, args, 2)
	sent := map[string]os.Signal{"INT": os.Interrupt, "TERM": syscall.SIGTERM, "KILL": os.Kill, "HUP": syscall.SIGHUP}[args[1]]
	ts.Check(s.process(ts, args[0]).cmd.Process.Signal(sent))
}

func cmdFinish(ts *testscript.TestScript, s *stage, args []string) {
	wantArgs(ts, args, 2)
	p := s.process(ts, args[0])
	select {
	case <-p.done:
	case <-time.After(patience):
		ts.Fatalf("%s did not end within %s", args[0], patience)
	}
	out, _ := p.out.snapshot()
	stderr, _ := p.err.snapshot()
	fmt.Fprint(ts.Stdout(), out)
	fmt.Fprint(ts.Stderr(), stderr)
	want := args[1]
	if got := strconv.Itoa(p.cmd.ProcessState.ExitCode()); got != want {
		ts.Fatalf("%s ended with %s, want %s\nstdout:\n%s\nstderr:\n%s", args[0], got, want, out, stderr)
	}
}

func cmdCode(ts *testscript.TestScript, _ *stage, args []string) {
	wantArgs(ts, args, 2)
	err := ts.Exec("scorel", args[1:]...)
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if strconv.Itoa(got) != args[0] {
		ts.Fatalf("scorel %s ended with %d, want %s\nstdout:\n%s\nstderr:\n%s",
			strings.Join(args[1:], " "), got, args[0], ts.ReadFile("stdout"), ts.ReadFile("stderr"))
	}
}

func cmdMangle(ts *testscript.TestScript, _ *stage, args []string) {
	wantArgs(ts, args, 1)
	code, err := pair.ParseCode(args[0])
	ts.Check(err)
	text := code.Reveal()
	other := "0"
	if strings.HasSuffix(text, other) {
		other = "1"
	}
	ts.Setenv("mangled", text[:len(text)-1]+other)
}

func cmdAfter(ts *testscript.TestScript, _ *stage, args []string) {
	wantArgs(ts, args, 3)
	text := args[2]
	if text == "stdout" || text == "stderr" {
		text = strings.TrimSpace(ts.ReadFile(text))
	}
	i := strings.LastIndex(text, args[1])
	if i < 0 {
		ts.Fatalf("there is no %q in %q", args[1], text)
	}
	ts.Setenv(args[0], text[i+len(args[1]):])
}

func cmdExpand(ts *testscript.TestScript, _ *stage, args []string) {
	wantArgs(ts, args, 2)
	text := os.Expand(ts.ReadFile(args[0]), ts.Getenv)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o600))
}
