package follow

import (
	"bytes"
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/protocol/api"
)

// TestTextFilesArePartOfThePrompt in the form that the web UI reads; all others are stored.
func TestTextFilesArePartOfThePrompt(t *testing.T) {
	t.Parallel()
	text := File{"a.txt", []byte("one\ntwo\n")}
	code := File{"b.md", []byte("````\nx\n````")}
	binary := File{"c.bin", []byte{0xff, 0}}
	nul := File{"d.txt", []byte("a\x00b")}
	large := File{"e.log", bytes.Repeat([]byte("x"), MaxTextFile+1)}
	got, others := WithTextFiles("look", []File{text, binary, code, nul, large})
	want := "look\n\nAttached file: a.txt\n```\none\ntwo\n```\n\nAttached file: b.md\n`````\n````\nx\n````\n`````"
	if got != want {
		t.Errorf("the prompt is %q, not %q", got, want)
	}
	var names []string
	for _, file := range others {
		names = append(names, file.Name)
	}
	if strings.Join(names, " ") != "c.bin d.txt e.log" {
		t.Errorf("%q are stored", names)
	}
	if got, _ := WithTextFiles(" ", []File{text}); !strings.HasPrefix(got, "Attached file: ") {
		t.Errorf("without a prompt, the text begins with %q", got[:20])
	}
	half := File{"half", bytes.Repeat([]byte("x"), MaxTextFile)}
	if _, others := WithTextFiles("", []File{half, half, half}); len(others) != 1 {
		t.Errorf("of three text files that are too large together, %d are stored", len(others))
	}
	long := strings.Repeat("y", api.MaxPrompt-100)
	if got, others := WithTextFiles(long, []File{half}); len(others) != 1 || len(got) > api.MaxPrompt {
		t.Errorf("a prompt of %d bytes has %d stored files", len(got), len(others))
	}
}

func TestFileNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"a\nb.txt": "a b.txt", " x ": "x", "\xff.txt": "�.txt", strings.Repeat("é", 300): strings.Repeat("é", maxFileName),
	} {
		if got := FileName(name); got != want {
			t.Errorf("%q becomes %q, not %q", name, got, want)
		}
	}
}
