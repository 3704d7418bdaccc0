package logfile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestALogIsBounded: every line that fits is in one of two files, in order, also when
// many write at once.
func TestALogIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "host.log")
	const limit = 1000
	log, err := Open(path, limit)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	line := func(i int) string { return fmt.Sprintf("line %04d\n", i) }
	for i := range 150 { // more than fits, before the home is known to be its own
		if _, err := log.Write([]byte(line(i))); err != nil {
			t.Fatal(err)
		}
	}
	log.Own()
	var writing sync.WaitGroup
	for range 4 {
		writing.Go(func() {
			for i := range 50 {
				if _, err := log.Write([]byte(line(i))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writing.Wait()
	for i := range 120 {
		if _, err := log.Write([]byte(line(i))); err != nil {
			t.Fatal(err)
		}
	}
	now, before := readText(t, path), readText(t, path+older)
	if len(now) > limit || len(before) > limit || now == "" {
		t.Errorf("the files have %d and %d bytes", len(now), len(before))
	}
	all := strings.SplitAfter(before+now, "\n")
	all = all[:len(all)-1]
	if len(all) < 100 {
		t.Fatalf("only %d lines are left", len(all))
	}
	for i, got := range all[len(all)-100:] {
		if want := line(20 + i); got != want {
			t.Fatalf("line %d is %q, want %q", i, got, want)
		}
	}
	if _, err := os.Stat(path + older + ".part"); err == nil {
		t.Error("a part is left")
	}
}

func readText(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
