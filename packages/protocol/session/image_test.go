package session_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/protocol/session"
)

const (
	pixelData = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	pixelHash = "6b7fa434f92a8b80aab02d9bf1a12e49ffcae424e4013a1c4f68b67e3d2bbcd0"
)

func imageLines() map[string]string {
	head := `,"id":"a","parentId":null,"timestamp":"2026-01-02T03:04:05.000Z"`
	pi := `{"type":"image","data":"` + pixelData + `","mimeType":"image/png"}`
	ours := `{"type":"image","data":"` + pixelData + `","mimeType":"image/png","sha256":"` + pixelHash + `","size":70,"width":1,"height":1}`
	return map[string]string{
		"a prompt of ours": `{"type":"message"` + head + `,"message":{"role":"user","content":[{"type":"text","text":"see \"image\""},` + ours + `],"timestamp":1},"seq":7}`,
		"a prompt of Pi":   `{"type":"message"` + head + `,"message":{"role":"user","content":[` + pi + `,` + ours + `],"timestamp":1}}`,
		"a result":         `{"type":"message"` + head + `,"message":{"role":"toolResult","toolCallId":"c","toolName":"t","content":[` + ours + `],"details":{"type":"image","data":"kept"},"isError":false,"timestamp":1}}`,
		"a program's":      `{"type":"custom_message","customType":"x","content":[` + ours + `],"display":true` + head + `}`,
		"an edit":          `{"type":"context_edit"` + head + `,"targetId":"b","replacement":{"content":[` + ours + `]}}`,
		"one that waits":   `{"type":"custom","customType":"scorel.image","data":` + ours + head + `}`,
	}
}

func TestImagesLeaveAnEntryAndComeBack(t *testing.T) {
	for name, line := range imageLines() {
		t.Run(name, func(t *testing.T) {
			entry, err := session.ParseEntry([]byte(line))
			if err != nil {
				t.Fatal(err)
			}
			slim, found := entry.WithoutImageData()
			if !found || bytes.Contains(slim.Raw, []byte(pixelData)) || !bytes.Contains(slim.Raw, []byte(pixelHash)) || slim.ID != "a" || slim.Seq != entry.Seq {
				t.Fatalf("%v %s", found, slim.Raw)
			}
			if strings.Contains(line, "details") && !bytes.Contains(slim.Raw, []byte(`"data":"kept"`)) {
				t.Error("what is no content was changed")
			}
			images := entry.Images()
			if len(images) == 0 || images[0].SHA256 != pixelHash || images[0].Size != 70 || images[0].Data != pixelData {
				t.Errorf("%+v", images)
			}
			whole, err := slim.WithImageData(func(hash string) (string, bool) { return pixelData, hash == pixelHash })
			if err != nil {
				t.Fatal(err)
			}
			if again, _ := whole.WithoutImageData(); !bytes.Equal(again.Raw, slim.Raw) || whole.Seq != entry.Seq {
				t.Errorf("%s", again.Raw)
			}
			if string(whole.Raw) != line {
				t.Errorf("it came back as\n%s, was\n%s", whole.Raw, line)
			}
			if _, twice := slim.WithoutImageData(); !twice {
				t.Error("an image without data is none any more")
			}
		})
	}
}

func TestEntriesWithoutImages(t *testing.T) {
	for _, line := range []string{
		`{"type":"message","id":"a","parentId":null,"timestamp":"","message":{"role":"user","content":"an \"image\" {\"type\":\"image\"}","timestamp":1}}`,
		`{"type":"message","id":"a","parentId":null,"timestamp":"","message":{"role":"user","content":[{"type":"text","text":"\"image\""}],"timestamp":1}}`,
		`{"type":"custom","customType":"other","data":{"type":"image","data":"AAAA"},"id":"a","parentId":null,"timestamp":""}`,
		`{"type":"message","id":"a","parentId":null,"timestamp":"","message":{"role":"user","content":{"type":"image"}}}`,
		`{"type":"message","id":"a","parentId":null,"timestamp":"","message":"image"}`,
	} {
		entry, err := session.ParseEntry([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		if slim, found := entry.WithoutImageData(); found || string(slim.Raw) != line || len(entry.Images()) > 0 {
			t.Errorf("%s became %s", line, slim.Raw)
		}
	}
}

// The hash and size that a line names are its own word: they name an image, and nothing
// is read by them.
func FuzzWithoutImageData(f *testing.F) {
	for _, line := range imageLines() {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		entry, err := session.ParseEntry(line)
		if err != nil {
			return
		}
		slim, found := entry.WithoutImageData()
		if slim.ID != entry.ID || slim.Type != entry.Type || slim.ParentID != entry.ParentID || !found && !bytes.Equal(slim.Raw, line) {
			t.Errorf("%s became %s", line, slim.Raw)
		}
		for _, image := range slim.Images() {
			if image.Data != "" || image.SHA256 == "" {
				t.Errorf("%s is left of %s", slim.Raw, line)
			}
		}
	})
}
