package atomicfile_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/scorel/scorel/packages/atomicfile"
)

// TestLock: changes that read before they write are not lost.
func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "count")
	if err := atomicfile.Write(path, []byte("0"), 0o600); err != nil {
		t.Fatal(err)
	}
	const writers, each = 8, 10
	add := func() error {
		unlock, err := atomicfile.Lock(path)
		if err != nil {
			return err
		}
		defer unlock()
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		n, err := strconv.Atoi(string(data))
		if err != nil {
			return err
		}
		return atomicfile.Write(path, fmt.Append(nil, n+1), 0o600)
	}
	var running sync.WaitGroup
	for range writers {
		running.Go(func() {
			for range each {
				if err := add(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	running.Wait()
	if got := read(t, path); got != fmt.Sprint(writers*each) {
		t.Errorf("%s of %d changes are left", got, writers*each)
	}
	if _, err := atomicfile.Lock(filepath.Join(t.TempDir(), "missing", "file")); err == nil {
		t.Error("a lock in a missing folder was taken")
	}
}
