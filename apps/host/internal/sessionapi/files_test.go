package sessionapi_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"os"
	"regexp"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/dispatch/dispatchtest"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// TestPromptWithAFile: the file is below the session, the agent reads its path, and neither a
// lost answer nor an upload that is gone is a problem.
func TestPromptWithAFile(t *testing.T) {
	w := newWorld(t, modeltest.Say("read"))
	made := w.create(t)
	data := bytes.Repeat([]byte("PK\x03\x04\r\n\x00"), 50_000)
	sum := sha256.Sum256(data)
	hash := hex.EncodeToString(sum[:])
	request := api.SendPromptRequest{SessionID: made.ID, ClientKey: "k", Content: []api.PromptBlock{
		{Type: session.BlockText, Text: "unpack it"}, {Type: session.BlockFile, SHA256: hash, Name: "../my files.zip"},
	}}
	dispatchtest.Refused(t, w.local, api.SendPrompt, request, api.KindNotFound)
	upload := func() {
		t.Helper()
		var last api.UploadBlobResponse
		for at := 0; at < len(data); at = last.Received {
			part := base64.StdEncoding.EncodeToString(data[at:min(at+api.MaxBlobChunk, len(data))])
			last = dispatchtest.Call(t, w.local, api.UploadBlob, api.UploadBlobRequest{SHA256: hash, Size: len(data), Offset: at, Data: part, File: true})
		}
		if !last.Complete || last.Image != nil {
			t.Fatalf("the last part answers %+v", last)
		}
	}
	upload()
	for range 2 { // the second as after a lost answer
		if sent := dispatchtest.Call(t, w.local, api.SendPrompt, request); sent.State != api.PromptTaken {
			t.Fatalf("the answer is %+v", sent)
		}
	}
	entries := dispatchtest.Call(t, w.local, api.GetEntries, api.GetEntriesRequest{SessionID: made.ID}).Entries
	var text string
	for _, e := range entries {
		if m, ok := e.AsMessage(); ok && m.Message.Role == session.RoleUser {
			text = m.Message.Content.Plain()
		}
	}
	found := regexp.MustCompile(`^unpack it\n\nAttached file: my_files.zip\nPath: (\S+)\nSize: 350000 bytes$`).FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("the prompt is %q", text)
	}
	if got, err := os.ReadFile(found[1]); err != nil || !bytes.Equal(got, data) {
		t.Errorf("the file has %d bytes, %v", len(got), err)
	}
	// The agent works on the file before the prompt is repeated, by a client that uploads it again.
	if err := os.WriteFile(found[1], []byte("changed"), 0o600); err != nil {
		t.Fatal(err)
	}
	upload()
	dispatchtest.Call(t, w.local, api.SendPrompt, request)
	if got, err := os.ReadFile(found[1]); err != nil || string(got) != "changed" {
		t.Errorf("after a repeated prompt the file has %d bytes, %v", len(got), err)
	}
	if err := os.Remove(found[1]); err != nil {
		t.Fatal(err)
	}
	dispatchtest.Call(t, w.local, api.SendPrompt, request)
	device := w.Connect("device", api.GrantView, api.GrantPrompt)
	request.ClientKey, request.Content[1].Name = "k2", "other.zip" // an upload of another client
	dispatchtest.Refused(t, device, api.SendPrompt, request, api.KindNotFound)
	request.Content[1].Data = "AAAA"
	dispatchtest.Refused(t, w.local, api.SendPrompt, request, api.KindBadRequest)
}
