package transcripts

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// TestBoundOfLines: a file that expands to more than the limit is refused at the limit.
func TestBoundOfLines(t *testing.T) {
	folder := t.TempDir()
	var packed bytes.Buffer
	z, err := zstd.NewWriter(&packed)
	if err == nil {
		_, err = z.Write(bytes.Repeat([]byte("{}\n"), 1<<20))
	}
	if err = errors.Join(err, z.Close(), os.WriteFile(filepath.Join(folder, "a.zst"), packed.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	lines, _, err := openLines(t.Context(), root, "a.zst", 3000)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for err == nil {
		_, err = lines.next()
		n++
	}
	if err := errors.Join(lines.close()); err != nil {
		t.Error(err)
	}
	if !errors.Is(err, ErrTooLarge) || n < 500 || n > 1001 {
		t.Errorf("%v after %d lines", err, n)
	}
}
