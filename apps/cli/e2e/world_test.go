package e2e

import (
	"bytes"
	"context"
	"crypto/rand"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/apps/host/hosttest"
	"github.com/scorel/scorel/apps/relay"
	"github.com/scorel/scorel/apps/relay/relaytest"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/client/relayconn"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/pair"
)

const patience = time.Minute

// logs is a writer that several goroutines share.
type logs struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logs) bytes() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return bytes.Clone(l.b.Bytes())
}

// world is one relay and one host with one project, connected.
type world struct {
	relay     *relaytest.Server
	relayLogs *logs
	relayDir  string // of the relay's database
	host      *host.Host
	home      string
	project   api.Project
	local     *client.Client // the direct connection of the host's own machine
	id        ident.ID
	stopHost  func() // waits for its end; again is harmless
}

func newWorld(t testing.TB) *world {
	t.Helper()
	return newWorldBehind(t, func(relayURL string) string { return relayURL })
}

// newWorldBehind lets the host reach the relay by another URL.
func newWorldBehind(t testing.TB, through func(relayURL string) string) *world {
	t.Helper()
	w := &world{relayLogs: &logs{}, relayDir: t.TempDir(), home: t.TempDir()}
	w.relay = relaytest.Start(t, func(cfg *relay.Config) {
		cfg.Store = relaytest.OpenStore(t, filepath.Join(w.relayDir, "relay.db"))
		cfg.Logger = slog.New(slog.NewJSONHandler(w.relayLogs, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	w.startHost(t, through(w.relay.URL))
	return w
}

func (w *world) startHost(t testing.TB, relayURLs ...string) {
	t.Helper()
	project := filepath.Join(w.home, "demo")
	if err := os.MkdirAll(project, 0o700); err != nil {
		t.Fatal(err)
	}
	w.run(t, host.Config{
		Home: filepath.Join(w.home, "scorel"), RelayURLs: relayURLs, Projects: []string{project},
		Getenv: func(string) string { return "" },
	})
}

// run starts the host, which ends with the test, and connects to it directly.
func (w *world) run(t testing.TB, cfg host.Config) {
	t.Helper()
	w.host, w.stopHost = hosttest.Run(t, cfg)
	w.id = w.host.DeviceID()
	transport, err := client.DialDirect(t.Context(), w.host.State().Addr, w.host.State().Token)
	if err != nil {
		t.Fatal(err)
	}
	w.local = client.New(transport, nil)
	t.Cleanup(func() { _ = w.local.Close() })
	w.project = ask(t, w.local, api.ListProjects, api.Empty{}).Projects[0]
}

func ask[Request, Response any](t testing.TB, c *client.Client, to api.Definition[Request, Response], request Request) Response {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	response, err := client.Call(ctx, c, to, request)
	if err != nil {
		t.Fatalf("%s: %v", to.Name(), err)
	}
	return response
}

// entry is a client with its own identity, logged in at the relay.
type entry struct {
	*client.Entry
	keys *ident.Private
	pin  ident.SealPublic // of the device
}

func newKeys(t testing.TB) *ident.Private {
	t.Helper()
	keys, err := ident.Generate(ident.KindClient, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func dialEntry(t testing.TB, url string, keys *ident.Private) *client.Entry {
	t.Helper()
	e, err := client.DialEntry(t.Context(), relayconn.Config{RelayURL: url, Keys: keys, Label: "Test entry"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

// pairEntry logs a new entry in and pairs it with a code that the host shows.
func (w *world) pairEntry(t testing.TB) *entry {
	t.Helper()
	e := &entry{keys: newKeys(t)}
	e.Entry = dialEntry(t, w.relay.URL, e.keys)
	w.pair(t, e)
	return e
}

// pair pairs an entry, which may have been paired before.
func (w *world) pair(t testing.TB, e *entry) {
	t.Helper()
	created := ask(t, w.local, api.CreatePairing, api.CreatePairingRequest{})
	code, err := pair.ParseCode(created.Code)
	if err != nil {
		t.Fatal(err)
	}
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		w.acceptPairing(t, created.PairingID)
	}()
	e.pin = redeem(t, e.Entry, code)
	<-finished
}

func (w *world) acceptPairing(t testing.TB, id string) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_, err := client.Call(ctx, w.local, api.AwaitPairing, api.PairingRequest{PairingID: id})
	if err == nil {
		_, err = client.Call(ctx, w.local, api.FinishPairing, api.FinishPairingRequest{PairingID: id, Accept: true})
	}
	if err != nil {
		t.Errorf("the host's side of the pairing: %v", err)
	}
}

func redeem(t testing.TB, e *client.Entry, code pair.Code) ident.SealPublic {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	pairing, err := e.Pairings().Redeem(ctx, code)
	if err != nil {
		t.Fatal(err)
	}
	peer, err := pairing.Await(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pairing.Accept(ctx); err != nil {
		t.Fatal(err)
	}
	return peer.Seal
}

// open opens a sealed channel to the host.
func (w *world) open(t testing.TB, e *entry, onEvent func(api.EventEnvelope)) *client.Client {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	transport, err := e.OpenDevice(ctx, w.id, e.pin, "the host")
	if err != nil {
		t.Fatal(err)
	}
	c := client.New(transport, onEvent)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// turn runs one prompt in a session and waits for its end.
func turn(t *testing.T, c *client.Client, events <-chan api.EventEnvelope, sessionID, key, text string) api.TurnEnded {
	t.Helper()
	ask(t, c, api.SendPrompt, api.SendPromptRequest{SessionID: sessionID, ClientKey: key, Text: text, AllowAll: true})
	timeout := time.After(patience)
	for {
		select {
		case envelope := <-events:
			if ended, ok := envelope.Event.(api.TurnEnded); ok && ended.ClientKey == key {
				return ended
			}
		case <-timeout:
			t.Fatal("the turn did not end")
		}
	}
}

// newSession makes a session and subscribes to it.
func (w *world) newSession(t testing.TB, c *client.Client, key string) string {
	t.Helper()
	s := ask(t, c, api.CreateSession, api.CreateSessionRequest{ProjectID: w.project.ID, ClientKey: key})
	ask(t, c, api.ResyncEvents, api.ResyncEventsRequest{SessionID: s.Session.ID})
	return s.Session.ID
}
