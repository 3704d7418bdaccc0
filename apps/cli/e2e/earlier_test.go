package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/cli/internal/devices"
	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/apps/relay"
	"github.com/scorel/scorel/apps/relay/relaytest"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/keyfile"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/session"
)

// What testdata/earlier holds, by the ids that the program gave.
const (
	earlierProject = "prj_dc46e51e6a124072"
	earlierRead    = "01a20571-4009-726a-b609-96d9364e8e34"
	earlierWaiting = "01a20572-0e2f-7d78-8661-5d0fc3014b67"
	earlierToken   = "scorel_ZEBZNHZZTIJSLCWDQPQAEGGZ6A"
)

// openEarlier starts a relay and a host on copies of what an earlier version left, and
// connects the client that was paired then over its sealed channel.
func openEarlier(t *testing.T) (w *world, c *client.Client, events chan api.EventEnvelope) {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/earlier")); err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"home/identity.json", "home/tokens.json", "client/entry.json"} {
		if err := os.Chmod(filepath.Join(dir, secret), 0o600); err != nil { // git keeps no such mode
			t.Fatal(err)
		}
	}
	w = &world{home: dir, relayDir: filepath.Join(dir, "relay")}
	w.relay = relaytest.Start(t, func(cfg *relay.Config) {
		cfg.Store = relaytest.OpenStore(t, filepath.Join(w.relayDir, "relay.db"))
	})
	w.run(t, host.Config{
		Home: filepath.Join(dir, "home"), RelayURLs: []string{w.relay.URL}, Getenv: func(string) string { return "" },
	})
	list, err := devices.Load(filepath.Join(dir, "client", "devices.json"))
	if err != nil || len(list) != 1 || list[0].ID != w.id {
		t.Fatalf("the client's devices are %+v, %v", list, err)
	}
	keys, err := keyfile.Load(filepath.Join(dir, "client", "entry.json"), ident.KindClient)
	if err != nil {
		t.Fatal(err)
	}
	events = make(chan api.EventEnvelope, 4096)
	old := &entry{Entry: dialEntry(t, w.relay.URL, keys), keys: keys, pin: list[0].Seal}
	awaitPresence(t, old, w.id, true)
	return w, w.open(t, old, func(envelope api.EventEnvelope) { events <- envelope }), events
}

// TestWhatAnEarlierVersionLeftOpens: home, client and relay store of an earlier version,
// whose host was killed, continue with this one.
func TestWhatAnEarlierVersionLeftOpens(t *testing.T) {
	w, c, events := openEarlier(t)

	t.Run("sessions", func(t *testing.T) {
		list := ask(t, c, api.ListSessions, api.ListSessionsRequest{}).Sessions
		var names []string
		for _, s := range list {
			names = append(names, s.Name)
		}
		slices.Sort(names)
		if want := []string{"Read a note", "Read a note", "write a.txt: hello", "write a.txt: hello"}; !slices.Equal(names, want) {
			t.Errorf("the sessions are %q, want %q", names, want)
		}
		opened := ask(t, c, api.ResyncEvents, api.ResyncEventsRequest{SessionID: earlierRead})
		if text := lastText(opened.Entries); !strings.Contains(text, `"1|hello"`) {
			t.Errorf("the last message is %q", text)
		}
		found := ask(t, c, api.SearchSessions, api.SearchSessionsRequest{Query: "refused"})
		if len(found.Hits) != 2 { // the result and the answer about it
			t.Errorf("the search found %+v", found.Hits)
		}
	})
	t.Run("rules", func(t *testing.T) {
		rules := ask(t, c, api.ListRules, api.ListRulesRequest{ProjectID: earlierProject}).Rules
		if len(rules) != 1 || rules[0].Rule != "bash(go test *)" || rules[0].Kind != api.RuleAllow || rules[0].Problem != "" {
			t.Errorf("the rules are %+v", rules)
		}
	})
	t.Run("devices", func(t *testing.T) {
		clients := ask(t, c, api.ListClients, api.Empty{}).Clients
		if len(clients) != 1 || clients[0].Label != "laptop (terminal)" || !slices.Equal(clients[0].Grants, api.AllGrants()) {
			t.Errorf("the clients are %+v", clients)
		}
	})
	t.Run("token", func(t *testing.T) { useEarlierToken(t, w.host.State().Addr) })
	t.Run("approval and queue", func(t *testing.T) { answerEarlier(t, c, events) })
	t.Run("files", func(t *testing.T) {
		w.stopHost()
		checkEarlierLines(t, filepath.Join(w.home, "home", "sessions"))
	})
}

// useEarlierToken lists the sessions over HTTP with the token that was made then.
func useEarlierToken(t *testing.T, addr string) {
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+addr+"/v1/list_sessions", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+earlierToken)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	var list api.ListSessionsResponse
	if err := json.NewDecoder(response.Body).Decode(&list); err != nil || response.StatusCode != http.StatusOK || len(list.Sessions) != 4 {
		t.Errorf("with the token: %s, %+v, %v", response.Status, list, err)
	}
}

// answerEarlier denies the call that has waited since the crash. The turn continues, and
// then come the two prompts of the queue, in their order.
func answerEarlier(t *testing.T, c *client.Client, events <-chan api.EventEnvelope) {
	opened := ask(t, c, api.ResyncEvents, api.ResyncEventsRequest{SessionID: earlierWaiting})
	for deadline := time.Now().Add(patience); len(opened.Live.Approvals) == 0 && time.Now().Before(deadline); { // the turn is being resumed
		<-time.After(20 * time.Millisecond)
		opened = ask(t, c, api.ResyncEvents, api.ResyncEventsRequest{SessionID: earlierWaiting})
	}
	live := opened.Live
	if len(live.Approvals) != 1 || live.Approvals[0].ToolName != "write_file" || len(live.Queue) != 2 {
		t.Fatalf("waiting are %+v and %+v", live.Approvals, live.Queue)
	}
	answer := ask(t, c, api.AnswerApproval, api.AnswerApprovalRequest{
		SessionID: earlierWaiting, ApprovalID: live.Approvals[0].ID, Decision: api.DecisionDeny,
	})
	if !answer.Won {
		t.Errorf("the answer was %+v", answer)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var keys []string
	for len(keys) < 3 {
		select {
		case envelope := <-events:
			if ended, ok := envelope.Event.(api.TurnEnded); ok {
				keys = append(keys, ended.ClientKey)
			}
		case <-ctx.Done():
			t.Fatalf("turns that ended: %q", keys)
		}
	}
	if want := []string{"k1", "k2", "k3"}; !slices.Equal(keys, want) {
		t.Errorf("turns ended in the order %q, want %q", keys, want)
	}
}

// checkEarlierLines compares session files with those of the fixture: what was in them
// stays, byte by byte, and new lines come behind it.
func checkEarlierLines(t *testing.T, dir string) {
	files := 0
	err := fs.WalkDir(os.DirFS("testdata/earlier/home/sessions"), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		files++
		before, err := os.ReadFile(filepath.Join("testdata/earlier/home/sessions", path))
		if err != nil {
			return err
		}
		now, err := os.ReadFile(filepath.Join(dir, path))
		if err != nil {
			return err
		}
		if !bytes.HasPrefix(now, before) {
			t.Errorf("%s does not begin with what it was", path)
		}
		return nil
	})
	if err != nil || files != 4 {
		t.Errorf("%d session files, %v", files, err)
	}
}

// lastText is the text of the last message among the entries.
func lastText(entries []session.Entry) string {
	for _, e := range slices.Backward(entries) {
		if m, ok := e.AsMessage(); ok {
			return m.Message.Content.Plain()
		}
	}
	return ""
}
