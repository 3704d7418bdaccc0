package file

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// TestReadAll: a file is read whole, in however many stretches, and also where it
// stopped being as long as it was said to be.
func TestReadAll(t *testing.T) {
	random := rand.NewChaCha8([32]byte{})
	for _, size := range []int{0, 1, stretch - 1, 2 * stretch, 2*stretch + 1, 3*stretch + 12345} {
		want := make([]byte, size)
		_, _ = random.Read(want) // never fails
		path := filepath.Join(t.TempDir(), "log")
		if err := os.WriteFile(path, want, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := readAll(f)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes: got %d, %v", size, len(got), err)
		}
		if err := readStretches(f, make([]byte, size+1)); err == nil {
			t.Errorf("%d bytes: one more was read", size)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
