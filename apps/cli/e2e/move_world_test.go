//go:build unix

package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/apps/relay"
	"github.com/scorel/scorel/apps/relay/relaytest"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/keyfile"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/session"
)

// dieEnv names a step of a move and which time it is reached: the host is killed there.
const dieEnv = "SCOREL_TEST_DIE"

// dieAtStep returns what kills this process at the step that the environment names.
func dieAtStep() func(string) {
	step, number, ok := strings.Cut(os.Getenv(dieEnv), " ")
	if !ok {
		return nil
	}
	nth, _ := strconv.ParseInt(number, 10, 64)
	var count atomic.Int64
	return func(reached string) {
		if reached == step && count.Add(1) == nth {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {} // the signal is on its way
		}
	}
}

// machine is a host in a process that can be killed, on a relay.
type machine struct {
	home, folder string
	id           ident.ID
	keys         ident.Public
	projectID    string
	relay        *relaytest.Server
	client       *client.Client // of this run; nil while it does not run
	process      *exec.Cmd
	stdin        io.Closer
	ended        chan struct{} // closed when the process has ended
}

// newMachine makes a home with one project and starts its host.
func newMachine(t testing.TB, relayURL string) *machine {
	t.Helper()
	dir := t.TempDir()
	m := &machine{home: filepath.Join(dir, "scorel"), folder: filepath.Join(dir, "site")}
	for _, folder := range []string{m.home, m.folder} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	config := fmt.Sprintf("relay_url = %q\nlabel = %q\n", relayURL, filepath.Base(dir))
	if err := os.WriteFile(filepath.Join(m.home, "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.stop(t) })
	m.start(t, "")
	keys, err := keyfile.Load(filepath.Join(m.home, "identity.json"), ident.KindDevice)
	if err != nil {
		t.Fatal(err)
	}
	m.id, m.keys = keys.ID(), keys.Public()
	m.projectID = ask(t, m.client, api.AddProject, api.AddProjectRequest{Path: m.folder}).Project.ID
	return m
}

// start runs the host. die is the step at which it is killed, or "".
func (m *machine) start(t testing.TB, die string) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program)
	cmd.Env, cmd.Stderr = append(os.Environ(), hostEnv+"="+m.home, dieEnv+"="+die), os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	m.process, m.stdin, m.ended = cmd, in, make(chan struct{})
	reader := bufio.NewReader(out)
	_, err = reader.ReadString('\n')
	ended := m.ended
	go func() {
		_, _ = io.Copy(io.Discard, reader)
		_ = cmd.Wait() // it may have been killed
		close(ended)
	}()
	if err != nil && die == "" {
		t.Fatal("the host did not start")
	}
	m.connect(t, die != "")
}

// connect connects to the host. One that is about to be killed may be gone already.
func (m *machine) connect(t testing.TB, mayFail bool) {
	t.Helper()
	state, err := host.ReadState(m.home)
	if err == nil {
		var transport client.Transport
		if transport, err = client.DialDirect(t.Context(), state.Addr, state.Token); err == nil {
			m.client = client.New(transport, nil)
		}
	}
	if err != nil && !mayFail {
		t.Fatal(err)
	}
}

func (m *machine) hangUp() {
	if m.client != nil {
		_ = m.client.Close()
		m.client = nil
	}
}

// stop ends the host in good order; kill does not.
func (m *machine) stop(t testing.TB) {
	m.hangUp()
	if m.process == nil {
		return
	}
	_ = m.stdin.Close()
	select {
	case <-m.ended:
	case <-time.After(patience):
		t.Error("the host did not stop")
		_ = m.process.Process.Kill()
		<-m.ended
	}
	m.process = nil
}

// kill ends the host as kill -9 does.
func (m *machine) kill() {
	m.hangUp()
	_ = m.process.Process.Kill() // it runs
	m.awaitEnd()
}

func (m *machine) awaitEnd() {
	<-m.ended
	_ = m.stdin.Close()
	m.hangUp()
	m.process = nil
}

// newPair makes two machines on one relay.
func newPair(t testing.TB) (a, b *machine) {
	t.Helper()
	server := relaytest.Start(t, func(cfg *relay.Config) {
		cfg.Store = relaytest.OpenStore(t, filepath.Join(t.TempDir(), "relay.db"))
	})
	a, b = newMachine(t, server.URL), newMachine(t, server.URL)
	a.relay, b.relay = server, server
	return a, b
}

// limitedClient pairs a client with a machine that sees one of its projects only.
func limitedClient(t testing.TB, m *machine, projectID string) *client.Client {
	t.Helper()
	w := &world{relay: m.relay, local: m.client, id: m.id}
	e := w.pairEntry(t)
	ask(t, m.client, api.SetLimits, api.SetLimitsRequest{ClientID: e.keys.ID(), ClientLimits: api.ClientLimits{Projects: []string{projectID}}})
	return w.open(t, e, nil)
}

// mover arranges a move as the command does.
type mover struct {
	from, to  *machine
	sessionID string
	moveID    string
	change    func(*api.MoveOffer)
	withFiles bool
}

func (m *mover) arrange(ctx context.Context) error {
	prepared, err := client.Call(ctx, m.from.client, api.PrepareMove, api.PrepareMoveRequest{SessionID: m.sessionID, To: m.to.id, WithFiles: m.withFiles})
	if err != nil {
		return err
	}
	m.moveID = prepared.Move.ID
	if m.change != nil {
		m.change(&prepared.Offer)
	}
	accepted, err := client.Call(ctx, m.to.client, api.AcceptMove, api.AcceptMoveRequest{Offer: prepared.Offer, ProjectID: m.to.projectID})
	if err != nil {
		return err
	}
	_, err = client.Call(ctx, m.from.client, api.StartMove, api.StartMoveRequest{
		MoveID: m.moveID, Keys: api.DeviceKeys(m.to.keys), Paths: accepted.Paths, Proof: accepted.Proof,
	})
	return err
}

// await waits until the source reports that a move has ended.
func (m *mover) await(t testing.TB) api.Move {
	t.Helper()
	for deadline := time.Now().Add(patience); ; {
		move := ask(t, m.from.client, api.GetMove, api.MoveRequest{MoveID: m.moveID}).Move
		if move.State == api.MoveDone || move.State == api.MoveCanceled {
			return move
		}
		if time.Now().After(deadline) {
			t.Fatalf("the move did not end: %+v", move)
		}
		<-time.After(20 * time.Millisecond)
	}
}

// owners returns which machines have the session.
func (m *mover) owners(t testing.TB) (owners []*machine) {
	t.Helper()
	for _, machine := range []*machine{m.from, m.to} {
		_, err := client.Call(t.Context(), machine.client, api.RenameSession, api.RenameSessionRequest{SessionID: m.sessionID, Name: "Owned"})
		if err == nil {
			owners = append(owners, machine)
		}
	}
	return owners
}

// entries returns the log of a session, line by line.
func (m *machine) entries(t testing.TB, sessionID string) [][]byte {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(m.home, "sessions", "*", "*_"+sessionID+".jsonl"))
	if err != nil || len(found) != 1 {
		t.Fatalf("the log of the session: %v %v", found, err)
	}
	data, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
}

func (m *machine) newSession(t testing.TB, key string) string {
	t.Helper()
	return ask(t, m.client, api.CreateSession, api.CreateSessionRequest{ProjectID: m.projectID, ClientKey: key}).Session.ID
}

// live returns the live state of a session.
func (m *machine) live(t testing.TB, sessionID string) api.Live {
	t.Helper()
	return ask(t, m.client, api.GetSnapshot, api.SessionRequest{SessionID: sessionID}).Live
}

// until waits until the live state of a session is as wanted.
func (m *machine) until(t testing.TB, sessionID, what string, ok func(api.Live) bool) api.Live {
	t.Helper()
	for deadline := time.Now().Add(patience); ; {
		live := m.live(t, sessionID)
		if ok(live) {
			return live
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s did not happen: %+v", what, live)
		}
		<-time.After(20 * time.Millisecond)
	}
}

// prompts counts the messages of people in a log, by their keys.
func prompts(t testing.TB, lines [][]byte) map[string]int {
	t.Helper()
	count := map[string]int{}
	for _, line := range lines[1:] {
		var entry struct {
			ClientKey string
			Message   session.Message
		}
		if err := json.Unmarshal(line, &entry); err != nil {
			t.Fatal(err)
		}
		if entry.Message.Role == session.RoleUser {
			count[entry.ClientKey]++
		}
	}
	return count
}
