//go:build unix

package host_test

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"testing"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// pixel is a picture of n bytes more than it needs.
func pixel(n int) []byte {
	head := []byte("GIF89a\x01\x00\x01\x00\x00\x00\x00\x2c\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x00")
	return append(append(head, make([]byte, n)...), ';')
}

// picturing is a prompt with images that come along.
func picturing(key, text string, images ...[]byte) api.SendPromptRequest {
	request := api.SendPromptRequest{ClientKey: key, Content: []api.PromptBlock{{Type: session.BlockText, Text: text}}}
	for _, image := range images {
		request.Content = append(request.Content, api.PromptBlock{Type: session.BlockImage, Data: base64.StdEncoding.EncodeToString(image)})
	}
	return request
}

// checkImages finds each prompt with its images, and fetches them.
func (w *witness) checkImages(want map[string]int) {
	w.t.Helper()
	for _, e := range w.entries {
		m, ok := e.AsMessage()
		n, sent := want[e.Text("clientKey")]
		if !ok || !sent || m.Message.Role != session.RoleUser {
			continue
		}
		for _, block := range m.Message.Content {
			if block.Type != session.BlockImage {
				continue
			}
			n--
			data, err := client.Image(w.t.Context(), w.c, w.sessionID, block.SHA256)
			if hash, _ := session.HashImage(data); err != nil || hash != block.SHA256 {
				w.t.Errorf("the image %s of %s came back as %s, %v", block.SHA256, m.ClientKey, hash, err)
			}
		}
		if n != 0 {
			w.t.Errorf("the prompt %s lacks %d of its images", m.ClientKey, n)
		}
	}
}

// An upload continues where the host was killed in the middle of it, and a prompt that names
// it is answered.
func TestKilledInAnUpload(t *testing.T) {
	home, sessionID, _ := newSession(t)
	server := modeltest.Serve(slowOKs()...)
	defer server.Close()
	configure(t, home, server.URL, "")
	image := pixel(3*api.MaxBlobChunk + 17)
	encoded := base64.StdEncoding.EncodeToString(image)
	hash, size := session.HashImage(encoded)
	chunk := api.MaxBlobChunk / 3 * 4
	w := newWitness(t, sessionID)
	received := 0
	for n := range 2 {
		child := begin(t, thisProgram(t), home, 0)
		w.connect(home)
		there, _ := tell(w, api.UploadBlob, api.UploadBlobRequest{SHA256: hash, Size: size})
		if there.Received != received {
			t.Fatalf("the host has %d bytes, want the %d that it said it took", there.Received, received)
		}
		r, _ := tell(w, api.UploadBlob, api.UploadBlobRequest{
			SHA256: hash, Size: size, Offset: received, Data: encoded[n*chunk : (n+1)*chunk],
		})
		if received = r.Received; received != (n+1)*api.MaxBlobChunk {
			t.Fatalf("the host took %d bytes", received)
		}
		child.kill()
	}
	start(t, host.Config{Home: home})
	w.connect(home)
	named, err := client.Upload(t.Context(), w.c, image)
	if err != nil || named != hash {
		t.Fatal(named, err)
	}
	w.prompt(api.SendPromptRequest{ClientKey: "k1", Content: []api.PromptBlock{{Type: session.BlockImage, SHA256: hash}}})
	w.untilEnded("k1")
	w.checkImages(map[string]int{"k1": 1})
	left, err := filepath.Glob(filepath.Join(home, "blobs", "*", "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("what the prompt has used is still there: %v %v", left, err)
	}
	if info, err := os.Stat(filepath.Join(home, "blobs")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder of uploads: %v %v", info, err)
	}
}

// promptText is the text of a prompt of either form.
func promptText(request api.SendPromptRequest) string {
	text := request.Text
	for _, block := range request.Content {
		text += block.Text
	}
	return text
}
