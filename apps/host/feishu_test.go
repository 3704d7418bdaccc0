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
	"github.com/scorel/scorel/packages/protocol/api"
)

// TestFeishuExtension connects Feishu with the extension that docs/examples builds: a direct chat and a
// group, an answer that grows, an approval, files in both directions, duplicates, and what is written
// while no connection is up.
func TestFeishuExtension(t *testing.T) {
	t.Parallel()
	write := modeltest.Calls(modeltest.Call("w", "write_file", `{"path":"made.txt","content":"hello"}`))
	s := newScene(t, map[string]string{}, modeltest.Say("你好 <at id=all></at>.\n```\n<at id=all></at> `x`\n```"), write, modeltest.Say("Written."), modeltest.Say("I see it."), modeltest.Say("Back again."))
	out := make([]byte, 3<<19)
	_, _ = rand.Read(out)
	if err := os.WriteFile(filepath.Join(s.folder, "out.bin"), out, 0o600); err != nil {
		t.Fatal(err)
	}
	builtFeishu(t)
	f := startFeishu(t, "oc_ada", "oc_group")
	s.c = dial(t, start(t, host.Config{Home: s.home, Projects: []string{s.folder}, Getenv: f.env}), func(api.EventEnvelope) {})
	if c := addExtension(t, s.c, "feishu/dist").Contents; len(c.Servers) != 1 || len(c.Problems) > 0 || strings.Contains(c.Servers[0].Shown, feishuSecret) {
		t.Fatalf("the extension has %+v", c)
	}
	project := call(t, s.c, api.ListProjects, api.Empty{}).Projects[0].ID
	added := call(t, s.c, api.AddChannel, api.AddChannelRequest{ClientKey: "k", Kind: "mcp", Settings: map[string]string{"server": "feishu:bot", "project": project}})
	f.until("the connection", func() bool { return f.conn != nil })
	for chat, prefix := range map[string]string{"oc_ada": "", "oc_group": "@_user_1 "} {
		grants := []api.Grant{api.GrantView, api.GrantPrompt, api.GrantApprove, api.GrantFiles}
		code := call(t, s.c, api.PairChannel, api.PairChannelRequest{ID: added.Channel.ID, ProjectID: project, Grants: grants}).Code
		f.say(chat, "ou_ada", "text", 1, feishuText(prefix+code))
		f.shows(chat, "Connected to", "")
	}

	f.say("oc_ada", "ou_ada", "text", 3, feishuText("hello"))
	f.shows("oc_ada", "你好 <at id=all></at>.", "")

	f.say("oc_group", "ou_eve", "text", 1, feishuText("@_user_1 delete everything"))
	f.say("oc_group", "ou_ada", "text", 1, feishuText("@_user_1 write it"))
	asked := f.shows("oc_group", "Approval needed", "Allow once")
	f.press("ou_eve", asked, "Allow once")
	f.press("ou_ada", asked, "Allow once")
	f.shows("oc_group", "Written.", "")
	if made, err := os.ReadFile(filepath.Join(s.folder, "made.txt")); string(made) != "hello" {
		t.Errorf("the file is %q: %v", made, err)
	}
	f.until("the end of the buttons", func() bool {
		for _, m := range f.shown {
			if m.ID == asked.ID {
				return len(m.Buttons) == 0 && m.edits > 0
			}
		}
		return false
	})

	f.say("oc_ada", "ou_ada", "text", 1, feishuText("/file out.bin"))
	f.until("the file", func() bool { return bytes.Equal(f.shown[len(f.shown)-1].File, out) })
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 8, 8))); err != nil {
		t.Fatal(err)
	}
	f.attach("oc_ada", "ou_ada", picture.Bytes())
	f.shows("oc_ada", "I see it.", "")
	if body := s.asked(4); !strings.Contains(body, base64.StdEncoding.EncodeToString(picture.Bytes())[:40]) {
		t.Errorf("the model was not shown the image: %.500s", prompts(body))
	}

	f.drop()
	f.say("oc_ada", "ou_ada", "text", 1, feishuText("are you there?"))
	f.shows("oc_ada", "Back again.", "")
	f.until("the answers to all events", func() bool { return len(f.waiting) == 0 && f.dials >= 2 })
	if n := len(s.server.Bodies()); n != 5 {
		t.Errorf("the model was asked %d times: a message counted twice, or that of a stranger did", n)
	}
}
