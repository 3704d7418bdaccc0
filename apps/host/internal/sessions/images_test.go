package sessions_test

import (
	"bytes"
	"encoding/base64"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/apps/host/internal/sessions/queue"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// uploaded is what a client has sent. It counts what was dropped.
type uploaded struct {
	images  map[string]session.Block // by client and hash
	dropped []string
}

func (u *uploaded) Get(clientID, hash string) (session.Block, bool) {
	image, ok := u.images[clientID+hash]
	return image, ok
}

func (u *uploaded) Drop(clientID string, hashes ...string) error {
	for _, hash := range hashes {
		delete(u.images, clientID+hash)
		u.dropped = append(u.dropped, hash)
	}
	return nil
}

// seeing is oneModel that takes images.
type seeing struct{ oneModel }

func (m seeing) Model(name string) (agent.Model, api.Model, error) {
	model, info, err := m.oneModel.Model(name)
	info.Images = true
	return model, info, err
}

// bigGIF is a picture of about n bytes.
func bigGIF(n int) session.Block {
	data := append(append([]byte("GIF89a\x01\x00\x01\x00\x00\x00\x00\x2c\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x00"), make([]byte, n)...), ';')
	block := session.Block{Type: session.BlockImage, Data: base64.StdEncoding.EncodeToString(data), MimeType: "image/gif", Width: 1, Height: 1}
	block.SHA256, block.Size = session.HashImage(block.Data)
	return block
}

// newGallery is newTalk with a model that takes images and two uploads of a client.
func newGallery(t *testing.T, model *modeltest.Scripted, uploads ...session.Block) (*talk, *uploaded) {
	t.Helper()
	f := newFixture(t, model, echoTool{agent.RiskRead})
	u := &uploaded{images: map[string]session.Block{}}
	for _, image := range uploads {
		u.images["cli_x"+image.SHA256] = image
	}
	f.deps.Models, f.deps.Uploads = seeing{oneModel{model}}, u
	k := &talk{f: f, m: f.manager(t), w: newWatcher()}
	k.s = f.create(t, k.m)
	subscribe(t, k.s, k.w)
	return k, u
}

func showing(key, text string, images ...session.Block) api.SendPromptRequest {
	r := api.SendPromptRequest{ClientKey: key, Content: []api.PromptBlock{{Type: session.BlockText, Text: text}}}
	for _, image := range images {
		r.Content = append(r.Content, api.PromptBlock{Type: session.BlockImage, SHA256: image.SHA256})
	}
	return r
}

func fetch(t *testing.T, k *talk, hash string) string {
	t.Helper()
	var data strings.Builder
	for next := 0; ; {
		r, err := k.s.Blob(t.Context(), api.GetBlobRequest{SHA256: hash, Offset: next})
		if err != nil {
			t.Fatal(err)
		}
		data.WriteString(r.Data)
		if next = r.Next; next == 0 {
			return data.String()
		}
	}
}

func TestPromptWithImages(t *testing.T) {
	model := modeltest.New(modeltest.Say("a pixel"), modeltest.Say("again"))
	big, small := bigGIF(2*api.MaxBlobChunk+5), modeltest.Picture()
	k, u := newGallery(t, model, big)
	request := showing("k1", "what is this?", big)
	request.Content = append(request.Content, api.PromptBlock{Type: session.BlockImage, Data: small.Data})
	for range 2 { // the second finds the upload gone, and changes nothing
		if r, err := k.s.SendPrompt(t.Context(), "cli_x", request); err != nil || r.State != api.PromptTaken {
			t.Fatalf("%+v %v", r, err)
		}
	}
	k.w.wait(func() bool { return k.w.ended == 1 })
	seen := model.Requests()[0].Messages[0].Content
	if len(seen) != 3 || seen[0].Text != "what is this?" || seen[1].Data != big.Data || seen[2].Data != small.Data || seen[2].MimeType != "image/png" {
		t.Errorf("the model was given %d blocks, %+v", len(seen), seen[0])
	}
	if len(u.images) > 0 || !slices.Contains(u.dropped, big.SHA256) {
		t.Errorf("uploads are kept after their use: %v", u.dropped)
	}

	// The file has the images, recipients of the message get their names.
	data, err := os.ReadFile(k.f.file(t))
	if err != nil || !bytes.Contains(data, []byte(`{"type":"image","data":"`+small.Data+`","mimeType":"image/png","sha256":"`+small.SHA256+`"`)) {
		t.Errorf("the log lacks an image, %v", err)
	}
	fresh := newWatcher()
	subscribe(t, k.s, fresh)
	for _, w := range []*watcher{k.w, fresh} {
		for _, e := range w.entries {
			if bytes.Contains(e.Raw, []byte(small.Data)) || len(e.Raw) > 10_000 {
				t.Errorf("an entry was sent with its image: %.200s", e.Raw)
			}
		}
		if !slices.EqualFunc(k.w.entries, w.entries, func(a, b session.Entry) bool { return bytes.Equal(a.Raw, b.Raw) }) {
			t.Error("a fresh load differs from what was announced")
		}
	}
	for _, image := range []session.Block{big, small} {
		if fetch(t, k, image.SHA256) != image.Data {
			t.Error("an image came back another")
		}
	}
	_, err = k.s.Blob(t.Context(), api.GetBlobRequest{SHA256: strings.Repeat("0", 64)})
	wantKind(t, err, api.KindNotFound, "no image")
	_, err = k.s.Blob(t.Context(), api.GetBlobRequest{SHA256: big.SHA256, Offset: 1})
	wantKind(t, err, api.KindBadRequest, "offset")

	// Going back gives the message with its images, which can be sent again by name.
	var prompt session.Entry
	for _, e := range k.w.entries {
		if e.Role() == session.RoleUser {
			prompt = e
		}
	}
	back, err := k.s.Rewind(t.Context(), "cli_x", api.RewindSessionRequest{ClientKey: "r1", ExpectedLeaf: k.w.entries[len(k.w.entries)-1].ID, TargetEntryID: prompt.ID})
	if err != nil || back.Text != "what is this?" || len(back.Content) != 3 || back.Content[1].SHA256 != big.SHA256 || back.Content[1].Data != "" {
		t.Fatalf("%+v %v", back, err)
	}
	if r, err := k.s.SendPrompt(t.Context(), "cli_y", showing("k2", "", big)); err != nil || r.State != api.PromptTaken {
		t.Errorf("an image of the session cannot be named again: %+v %v", r, err)
	}
	k.w.wait(func() bool { return k.w.ended == 2 })
	if again := model.Requests()[1].Messages; len(again) != 1 || len(again[0].Content) != 1 || again[0].Content[0].Data != big.Data {
		t.Errorf("the model was given %d messages", len(again))
	}
}

// A prompt that waits has its images in the log: neither a restart nor the end of the
// uploads loses them.
func TestWaitingImagesSurviveARestart(t *testing.T) {
	one, two := bigGIF(1), bigGIF(2)
	stall := modeltest.New(modeltest.Step{Content: session.Content{session.Text("part")}, Stall: true})
	k, u := newGallery(t, stall, one, two)
	send(t, k.s, "k1", "first")
	for key, request := range map[string]api.SendPromptRequest{"q1": showing("q1", "see", one, two), "q2": showing("q2", "and", one)} {
		if key == "q2" {
			u.images["cli_x"+one.SHA256] = one
		}
		if r, err := k.s.SendPrompt(t.Context(), "cli_x", request); err != nil || r.State != api.PromptQueued {
			t.Fatalf("%+v %v", r, err)
		}
	}
	k.w.wait(func() bool { return len(k.w.live.Queue) == 2 && len(k.w.live.Partial) > 0 })
	i := slices.IndexFunc(k.w.live.Queue, func(q session.QueuedPrompt) bool { return q.ClientKey == "q1" })
	waiting := k.w.live.Queue[i]
	if len(waiting.Content) != 3 || waiting.Text != "see" || waiting.Content[1].Data != "" || waiting.Content[1].SHA256 != one.SHA256 || waiting.Content[1].Width != 1 {
		t.Errorf("the queue shows %+v", waiting)
	}
	expected := queue.Keys(k.w.live.Queue)
	items := []api.QueueItem{{ClientKey: "q1", Text: "look", DropImages: []string{two.SHA256}}, {ClientKey: "q2"}}
	edited, err := k.s.EditQueue(t.Context(), queue.Editor{ClientID: "cli_x", Most: api.ModeAsk}, api.EditQueueRequest{Expected: expected, Items: items})
	if err != nil || len(edited.Queue[0].Content) != 2 || edited.Queue[0].Content[0].Text != "look" {
		t.Fatalf("%+v %v", edited, err)
	}
	clear(u.images)
	answers := modeltest.New(modeltest.Say("one"), modeltest.Say("two"))
	k.f.deps.Models = seeing{oneModel{answers}}
	k.restart(t)
	k.w.wait(func() bool { return k.w.live.Turn == nil && len(k.w.live.Queue) == 0 })
	last := answers.Requests()[1].Messages
	var said []string
	for _, m := range last {
		if m.Role == session.RoleUser && m.Content.HasImage() {
			said = append(said, m.Content.Plain()+" "+m.Content[1].Data)
		}
	}
	if !slices.Equal(said, []string{"look " + one.Data, "and " + one.Data}) {
		t.Errorf("the agent was shown %.80q", said)
	}
}

func TestSteerWithAnImage(t *testing.T) {
	gate := gateTool{make(chan struct{}), make(chan struct{})}
	model := modeltest.New(modeltest.Calls(modeltest.Call("a", "echo", `{}`)), modeltest.Say("I see"))
	image := bigGIF(3)
	f := newFixture(t, model, gate)
	f.deps.Models = seeing{oneModel{model}}
	f.deps.Uploads = &uploaded{images: map[string]session.Block{"cli_x" + image.SHA256: image}}
	k := &talk{f: f, m: f.manager(t), w: newWatcher()}
	k.s = f.create(t, k.m)
	subscribe(t, k.s, k.w)
	send(t, k.s, "k1", "go")
	<-gate.started
	steer := showing("s1", "like this", image)
	steer.Mode = session.ModeSteer
	if _, err := k.s.SendPrompt(t.Context(), "cli_x", steer); err != nil {
		t.Fatal(err)
	}
	close(gate.goOn)
	k.w.wait(func() bool { return k.w.ended == 1 })
	messages := model.Requests()[1].Messages
	result := messages[len(messages)-1]
	if result.Role != session.RoleToolResult || !strings.Contains(result.Content.Plain(), "like this") || result.Content[len(result.Content)-1].Data != image.Data {
		t.Errorf("the model was given %+v", result)
	}
}

func TestImagesThatAreRefused(t *testing.T) {
	image := bigGIF(4)
	var many []session.Block
	for i := range 4 {
		many = append(many, bigGIF(api.MaxImageBytes-100+i))
	}
	k, _ := newGallery(t, modeltest.New(), append(many, image)...)
	block := func(b api.PromptBlock) api.SendPromptRequest {
		return api.SendPromptRequest{ClientKey: "k", Content: []api.PromptBlock{b}}
	}
	both := showing("k", "x")
	both.Text = "y"
	for name, c := range map[string]struct {
		request api.SendPromptRequest
		kind    api.Kind
		says    string
	}{
		"not there":       {showing("k", "x", bigGIF(99)), api.KindNotFound, "upload it again"},
		"too many":        {showing("k", "x", slices.Repeat([]session.Block{image}, api.MaxImages+1)...), api.KindTooLarge, "10"},
		"large together":  {showing("k", "x", many...), api.KindTooLarge, "together"},
		"text and blocks": {both, api.KindBadRequest, "not both"},
		"no picture":      {block(api.PromptBlock{Type: session.BlockImage, Data: "AAAA"}), api.KindBadRequest, "not a PNG"},
		"two sources":     {block(api.PromptBlock{Type: session.BlockImage, Data: "AAAA", SHA256: "x"}), api.KindBadRequest, "content.0"},
		"another type":    {block(api.PromptBlock{Type: "audio"}), api.KindBadRequest, "content.0"},
		"blank":           {showing("k", " \n"), api.KindBadRequest, "empty"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := k.s.SendPrompt(t.Context(), "cli_x", c.request)
			wantKind(t, err, c.kind, c.says)
		})
	}
	k.f.deps.Models = oneModel{modeltest.New()}
	k.restart(t)
	before, err := os.ReadFile(k.f.file(t))
	if err != nil {
		t.Fatal(err)
	}
	_, err = k.s.SendPrompt(t.Context(), "cli_x", showing("k", "see", image))
	wantKind(t, err, api.KindBadRequest, "main does not accept images")
	if after, err := os.ReadFile(k.f.file(t)); err != nil || !bytes.Equal(before, after) {
		t.Errorf("a prompt that was refused left something in the log, %v", err)
	}
}
