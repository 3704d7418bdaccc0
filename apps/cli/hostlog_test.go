package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestTheLogOfAHostIsBounded: every line that fits is in one of two files, in order, also when
// many write at once.
func TestTheLogOfAHostIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "host.log")
	const limit = 1000
	log, err := openHostLog(path, limit)
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
	log.own()
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
	now, older := readText(t, filepath.Dir(path), "host.log"), readText(t, filepath.Dir(path), "host.log"+olderLog)
	if len(now) > limit || len(older) > limit || now == "" {
		t.Errorf("the files have %d and %d bytes", len(now), len(older))
	}
	all := strings.SplitAfter(older+now, "\n")
	all = all[:len(all)-1]
	if len(all) < 100 {
		t.Fatalf("only %d lines are left", len(all))
	}
	for i, got := range all[len(all)-100:] {
		if want := line(20 + i); got != want {
			t.Fatalf("line %d is %q, want %q", i, got, want)
		}
	}
	if _, err := os.Stat(path + olderLog + ".part"); err == nil {
		t.Error("a part is left")
	}
}
