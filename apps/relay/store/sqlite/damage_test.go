package sqlite

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A file that was cut off anywhere does not open: what is left of it would be served as if
// it were all. The error names the file and says what to do.
func TestATruncatedStoreIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "relay.db")
	db := open(t, path)
	if _, err := db.db.Exec(`CREATE TABLE filler (text TEXT); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200) INSERT INTO filler SELECT hex(randomblob(500)) FROM n`); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{0, 1, 50, 100, 4095, 4096, 2 * 4096, len(whole) / 2, len(whole)/2/4096*4096 + 1, len(whole) - 4096, len(whole) - 1} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			cut := filepath.Join(t.TempDir(), "cut.db")
			if err := os.WriteFile(cut, whole[:size], 0o600); err != nil {
				t.Fatal(err)
			}
			opened, err := Open(t.Context(), cut)
			if err == nil {
				_ = opened.Close()
			}
			if err == nil || !strings.Contains(err.Error(), cut) || !strings.Contains(strings.ToLower(err.Error()), "restore it from a backup") {
				t.Errorf("%d of %d bytes: %v", size, len(whole), err)
			}
			if after, readErr := os.ReadFile(cut); readErr != nil || len(after) != size {
				t.Errorf("%d of %d bytes: the file was changed: %d bytes, %v", size, len(whole), len(after), readErr)
			}
		})
	}
	again := open(t, path)
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}
