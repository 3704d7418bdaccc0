package sqlite

import (
	"bufio"
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/relay/store"
	"github.com/scorel/scorel/apps/relay/store/archive"
	"github.com/scorel/scorel/packages/protocol/ident"
)

// crashFile names the database to the process that is killed.
const crashFile = "SCOREL_TEST_CRASH_FILE"

// writeUntilKilled binds and revokes without end and prints what is written down. It
// is a process of its own and never returns.
func writeUntilKilled(path string) {
	fail := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	db, err := Open(context.Background(), path)
	fail(err)
	for {
		device, err := ident.Generate(ident.KindDevice, rand.Reader)
		fail(err)
		client, err := ident.Generate(ident.KindClient, rand.Reader)
		fail(err)
		fail(db.Bind(context.Background(), partyOf(device), partyOf(client), time.Now()))
		fmt.Println("bound", device.ID(), client.ID())
		fail(db.Revoke(context.Background(), device.ID(), client.ID(), device.ID(), time.Now()))
		fmt.Println("revoked", device.ID(), client.ID())
	}
}

func partyOf(keys *ident.Private) store.Party {
	return store.Party{ID: keys.ID(), Public: keys.Public(), Label: "x"}
}

// A relay that is killed while it writes has all that it said it wrote, whole, and
// no revoked client comes back.
func TestAKilledWriterLosesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "relay.db")
	last := make(map[string]string) // what was said last of a pair
	for _, lines := range []int{1, 20, 63} {
		for _, line := range killedAfter(t, path, lines) {
			what, pair, ok := strings.Cut(line, " ")
			if !ok {
				t.Fatalf("the writer said %q", line)
			}
			last[pair] = what
		}
		db := open(t, path)
		report, err := archive.Check(t.Context(), db)
		if err != nil || len(report.Problems) > 0 {
			t.Errorf("after the kill: %v, %v", report.Problems, err)
		}
		for pair, what := range last {
			expectPair(t, db, pair, what)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

func expectPair(t *testing.T, db *DB, pair, what string) {
	t.Helper()
	device, client, _ := strings.Cut(pair, " ")
	id, err := ident.ParseDeviceID(device)
	if err != nil {
		t.Fatal(err)
	}
	bound, err := db.Bindings(t.Context(), id)
	switch {
	case err != nil:
		t.Error(err)
	case what == "revoked" && len(bound) > 0:
		t.Errorf("%s is bound although it was revoked", pair)
	case what == "bound" && len(bound) > 0 && bound[0].ID.String() != client:
		t.Errorf("%s is bound to %s", pair, bound[0].ID)
	}
	// The revocation may have been written before its line was: then no one is bound,
	// and the audit has both.
	if what == "bound" && len(bound) == 0 {
		events, err := db.Audit(t.Context(), 1000)
		if err != nil || !slices.ContainsFunc(events, func(e store.Event) bool { return e.Action == store.ActionRevoked && e.Device == id }) {
			t.Errorf("the binding of %s is lost: %v", pair, err)
		}
	}
}

// killedAfter runs a writer, kills it after so many lines, and returns all that it said.
func killedAfter(t *testing.T, path string, lines int) (said []string) {
	t.Helper()
	writer := exec.CommandContext(t.Context(), os.Args[0])
	writer.Env = append(os.Environ(), crashFile+"="+path)
	writer.Stderr = os.Stderr
	out, err := writer.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := writer.Start(); err != nil {
		t.Fatal(err)
	}
	read := bufio.NewScanner(out)
	for read.Scan() {
		if said = append(said, read.Text()); len(said) == lines {
			if err := writer.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if writer.Wait() == nil || len(said) < lines {
		t.Fatalf("the writer ended by itself after %d lines", len(said))
	}
	return said
}
