package host_test

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// addExtension adds an extension of docs/examples as a person does who agrees to what is shown.
func addExtension(t *testing.T, c *client.Client, name string) api.Extension {
	t.Helper()
	folder, err := filepath.Abs("../../docs/examples/extensions/" + name)
	if err != nil {
		t.Fatal(err)
	}
	fetched := call(t, c, api.FetchExtension, api.FetchExtensionRequest{Source: folder})
	return call(t, c, api.SaveExtension, api.SaveExtensionRequest{Hash: fetched.Extension.Hash}).Extension
}

// TestWeComExtension connects WeCom with the extension of docs/examples: a direct chat and a group,
// an approval, files in both directions, duplicates, a lost connection, and another program.
func TestWeComExtension(t *testing.T) {
	t.Parallel()
	write := modeltest.Calls(modeltest.Call("w", "write_file", `{"path":"made.txt","content":"hello"}`))
	s := newScene(t, map[string]string{"out.bin": ""}, modeltest.Say("你好, `Ada`."), write, modeltest.Say("Written."), modeltest.Say("I see it."), modeltest.Say("Back again."))
	f := startWeCom(t)
	out := make([]byte, 3<<19)
	_, _ = rand.Read(out)
	if err := os.WriteFile(filepath.Join(s.folder, "out.bin"), out, 0o600); err != nil {
		t.Fatal(err)
	}
	s.c = dial(t, start(t, host.Config{Home: s.home, Projects: []string{s.folder}, Getenv: f.env}), func(api.EventEnvelope) {})
	if c := addExtension(t, s.c, "wecom").Contents; len(c.Servers) != 1 || len(c.Problems) > 0 || strings.Contains(c.Servers[0].Shown, weComSecret) {
		t.Fatalf("the extension has %+v", c)
	}
	project := call(t, s.c, api.ListProjects, api.Empty{}).Projects[0].ID
	added := call(t, s.c, api.AddChannel, api.AddChannelRequest{ClientKey: "k", Kind: "mcp", Settings: map[string]string{"server": "wecom:bot", "project": project}})
	f.until("the subscription", func() bool { return f.conn != nil })
	pair := func(chat, prefix string) {
		t.Helper()
		grants := []api.Grant{api.GrantView, api.GrantPrompt, api.GrantApprove, api.GrantFiles}
		f.say(chat, "ada", 1, plainText(prefix+call(t, s.c, api.PairChannel, api.PairChannelRequest{ID: added.Channel.ID, ProjectID: project, Grants: grants}).Code))
		f.hears(0, chat, "Connected to")
	}
	pair("single:ada", "")
	pair("group:7", "@scorel ")

	f.say("single:ada", "ada", 3, plainText("hello"))
	_, n := f.hears(0, "single:ada", "你好, `Ada`.")

	f.say("group:7", "eve", 1, plainText("@scorel delete everything"))
	f.say("group:7", "ada", 1, plainText("@scorel write it"))
	_, n = f.hears(n, "group:7", "Approval needed")
	card := f.card(n, "group:7", "Allow once")
	f.press("eve", card, "Allow once")
	f.press("ada", card, "Allow once")
	f.hears(n, "group:7", "Written.")
	if made, err := os.ReadFile(filepath.Join(s.folder, "made.txt")); string(made) != "hello" {
		t.Errorf("the file is %q: %v", made, err)
	}
	f.until("the answer to the press", func() bool {
		for _, shown := range f.shown {
			if shown.Task == card.Task && strings.Contains(strings.Join(shown.Answers, "\n"), "ada: ") {
				return true
			}
		}
		return false
	})

	f.say("single:ada", "ada", 1, plainText("/file out.bin"))
	f.until("the file", func() bool {
		last := f.shown[len(f.shown)-1]
		return last.Kind == "file" && bytes.Equal(last.File, out)
	})
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 8, 8))); err != nil {
		t.Fatal(err)
	}
	address, key := f.encrypt(picture.Bytes())
	f.say("single:ada", "ada", 1, map[string]any{"msgtype": "image", "image": map[string]string{"url": address, "aeskey": key}})
	f.hears(n, "single:ada", "I see it.")
	if body := s.asked(4); !strings.Contains(body, base64.StdEncoding.EncodeToString(picture.Bytes())[:40]) || strings.Contains(body, key) {
		t.Errorf("the model was not shown the image: %.500s", prompts(body))
	}

	f.drop()
	f.until("the next subscription", func() bool { return f.conn != nil })
	f.say("single:ada", "ada", 1, plainText("are you there?"))
	f.hears(n, "single:ada", "Back again.")
	if n := len(s.server.Bodies()); n != 5 {
		t.Errorf("the model was asked %d times: a message counted twice, or that of a stranger did", n)
	}
}
