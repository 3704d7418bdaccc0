package host_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// talkScene is a host with a channel server of another program.
type talkScene struct {
	*scene
	t       *testing.T
	channel api.Channel
	project string
	heard   int // of what the server was sent
	said    []json.RawMessage
}

func newTalkScene(t *testing.T, kind string, steps ...modeltest.Step) *talkScene {
	t.Helper()
	t.Parallel()
	s := &talkScene{scene: newScene(t, map[string]string{"a.txt": "one\n"}, steps...), t: t}
	config, err := os.OpenFile(filepath.Join(s.home, "config.toml"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = fmt.Fprintf(config, "\n[mcp.servers.talk]\ncommand = %q\nstart_timeout = 60\n[mcp.servers.talk.env]\n%s = %q\n", thisProgram(t), channelServer, kind)
	if err := errors.Join(err, config.Close()); err != nil {
		t.Fatal(err)
	}
	s.c = dial(t, start(t, host.Config{Home: s.home, Projects: []string{s.folder, t.TempDir()}}), func(api.EventEnvelope) {})
	for _, p := range call(t, s.c, api.ListProjects, api.Empty{}).Projects {
		if filepath.Base(p.Path) == filepath.Base(s.folder) && p.Path == realPath(t, s.folder) {
			s.project = p.ID
		}
	}
	request := api.AddChannelRequest{ClientKey: "k", Kind: "mcp", Settings: map[string]string{"server": "talk", "project": s.project}}
	s.channel = call(t, s.c, api.AddChannel, request).Channel
	s.state(api.ChannelConnected)
	return s
}

func realPath(t *testing.T, path string) string {
	t.Helper()
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	return real
}

// until waits for a condition of the channel.
func (s *talkScene) until(what string, ok func(api.Channel) bool) api.Channel {
	s.t.Helper()
	deadline := time.After(2 * time.Minute)
	for tick := time.NewTicker(10 * time.Millisecond); ; {
		all := call(s.t, s.c, api.ListChannels, api.Empty{}).Channels
		if len(all) == 1 && ok(all[0]) {
			return all[0]
		}
		select {
		case <-tick.C:
		case <-deadline:
			s.t.Fatalf("waiting for %s: the channels are %+v", what, all)
		}
	}
}

func (s *talkScene) state(want api.ChannelState) api.Channel {
	s.t.Helper()
	return s.until(string(want), func(c api.Channel) bool { return c.State == want })
}

// ask makes a request to the server.
func (s *talkScene) ask(ctx context.Context, method, path string, body any, into any) error {
	address, err := os.ReadFile(filepath.Join(s.folder, "control"))
	if err != nil {
		return err
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, method, "http://"+string(address)+path, bytes.NewReader(raw))
	if err != nil {
		return err
	}
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if into == nil {
		return nil
	}
	return json.NewDecoder(response.Body).Decode(into)
}

func (s *talkScene) notify(method string, params any, n int) {
	s.t.Helper()
	if err := s.ask(s.t.Context(), "POST", fmt.Sprintf("/notify?n=%d&method=%s", n, url.QueryEscape(method)), params, nil); err != nil {
		s.t.Fatal(err)
	}
}

// say has the server deliver a message.
func (s *talkScene) say(content string, meta ...string) {
	s.t.Helper()
	all := map[string]string{}
	for i := 0; i < len(meta); i += 2 {
		all[meta[i]] = meta[i+1]
	}
	s.notify("notifications/claude/channel", map[string]any{"content": content, "meta": all}, 1)
}

// hears waits until the server was sent something with all of the texts.
func (s *talkScene) hears(texts ...string) string {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 2*time.Minute)
	defer cancel()
	for {
		for n, one := range s.said[s.heard:] {
			if !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(string(one), text) }) {
				s.heard += n + 1
				return string(one)
			}
		}
		var more []json.RawMessage
		if err := s.ask(ctx, "GET", fmt.Sprintf("/said?after=%d", len(s.said)), nil, &more); err != nil {
			s.t.Fatalf("waiting for %q, the server was sent %s: %v", texts, s.said, err)
		}
		s.said = append(s.said, more...)
	}
}

// pair connects a chat of the server to the project.
func (s *talkScene) pair(grants []api.Grant, meta ...string) {
	s.t.Helper()
	code := call(s.t, s.c, api.PairChannel, api.PairChannelRequest{ID: s.channel.ID, ProjectID: s.project, Grants: grants})
	s.say(code.Code, meta...)
	s.hears("Connected to")
}

// prompts are the messages of a request to a model, after the system prompt.
func prompts(body string) string {
	_, after, _ := strings.Cut(body, `{"role":"user"`)
	before, _, _ := strings.Cut(after, `"tools":[`)
	return before
}

// TestChannelServer talks through a server that knows nothing of scorel.
func TestChannelServer(t *testing.T) {
	s := newTalkScene(t, "plain", modeltest.Say("**Hello** from the agent."), modeltest.Say("A second session."))
	s.say("who are you", "chat_id", "42", "user", "ada")
	s.hears(`"name":"reply"`, `"chat_id":"42"`, "This chat is not connected.")
	other := call(t, s.c, api.ListProjects, api.Empty{}).Projects
	for _, p := range other {
		if _, err := client.Call(t.Context(), s.c, api.PairChannel, api.PairChannelRequest{ID: s.channel.ID, ProjectID: p.ID}); (err != nil) != (p.ID != s.project) {
			t.Errorf("connecting it to %s: %v", p.ID, err)
		}
	}
	s.pair(nil, "chat_id", "42", "user", "ada")
	s.say("what is new?", "chat_id", "42", "user", "ada", "message_id", "7", "ts", "2026-01-01", "bad name", "x", "path", "/hook")
	s.hears("**Hello** from the agent.", `"chat_id":"42"`)
	body := s.asked(1)
	for _, want := range []string{"what is new?", `user=\"ada\"`, `path=\"/hook\"`, "Only that server says who wrote it", "mcp__talk__react"} {
		if !strings.Contains(body, want) {
			t.Errorf("the request lacks %q: %s", want, prompts(body))
		}
	}
	if strings.Contains(body, "mcp__talk__reply") || strings.Contains(body, "bad name") {
		t.Errorf("the model was offered the tool of the channel, or an attribute without a name: %s", prompts(body))
	}
	s.pair(nil, "chat_id", "43", "user", "bob")
	s.say("and I?", "chat_id", "43", "user", "bob", "message_id", "7")
	s.hears("A second session.", `"chat_id":"43"`)
	chats := s.state(api.ChannelConnected).Chats
	if len(chats) != 2 || chats[0].Session == chats[1].Session || !slices.Equal(chats[0].Grants, []api.Grant{api.GrantView, api.GrantPrompt}) {
		t.Errorf("the chats are %+v", chats)
	}
	if tested := call(t, s.c, api.TestChannel, api.ChannelRequest{ID: s.channel.ID}); tested.Channel.Bot != "talker" {
		t.Errorf("tested: %+v", tested)
	}
	call(t, s.c, api.RemoveChannel, api.ChannelRequest{ID: s.channel.ID})
	if err := s.ask(t.Context(), "GET", "/said?after=0", nil, nil); err == nil {
		t.Error("the server runs on without its channel")
	}
}

// TestChannelServerRelaysPermission answers an approval with the letters of a request.
func TestChannelServerRelaysPermission(t *testing.T) {
	write := modeltest.Calls(modeltest.Call("w", "write_file", `{"path":"made.txt","content":"hello"}`))
	s := newTalkScene(t, "permission", write, modeltest.Say("Written."))
	s.pair([]api.Grant{api.GrantView, api.GrantPrompt, api.GrantApprove})
	s.say("write it")
	s.hears("Approval needed", "made.txt")
	var asked struct {
		Params struct {
			ID    string `json:"request_id"`
			Input string `json:"input_preview"`
		} `json:"params"`
	}
	if raw := s.hears("notifications/claude/channel/permission_request"); json.Unmarshal([]byte(raw), &asked) != nil || len(asked.Params.ID) != 5 {
		t.Fatalf("asked: %s", raw)
	}
	answer := func(id, behavior string) {
		s.notify("notifications/claude/channel/permission", map[string]string{"request_id": id, "behavior": behavior}, 1)
	}
	answer("zzzzz", "allow") // of nothing
	answer(asked.Params.ID, "always")
	s.say("/status")
	s.hears("waits for an approval")
	answer(asked.Params.ID, "allow")
	s.hears("Written.")
	if _, err := os.Stat(filepath.Join(s.folder, "made.txt")); err != nil {
		t.Error(err)
	}
}
