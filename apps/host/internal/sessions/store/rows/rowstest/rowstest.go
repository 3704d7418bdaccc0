// Package rowstest is what a provider on a database must hold beside the contract
// of storetest: several hosts on one database, connections that end, a server that
// is killed, rows that someone changed.
package rowstest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/rows"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/storetest"
	"github.com/scorel/scorel/packages/protocol/session"
	"github.com/scorel/scorel/packages/testdb"
)

// Database is a kind of database under test.
type Database struct {
	Kind testdb.Kind
	New  func(t testing.TB) (dsn string)
	Open func(ctx context.Context, dsn string, logger *slog.Logger) (*rows.Provider, error)
	// Exec runs a statement as a client that is not a host.
	Exec func(t *testing.T, dsn, statement string)
	// EndLocks ends the connections of all hosts on which locks are held.
	EndLocks func(t *testing.T, dsn string)
}

// Contract runs storetest, which every provider must hold.
func Contract(t *testing.T, d Database) {
	storetest.Run(t, func(t *testing.T) storetest.Open {
		dsn := d.New(t)
		return func(t *testing.T) store.Provider {
			p, err := d.Connect(t.Context(), dsn)
			check(t, err)
			return p
		}
	})
}

// Bench measures a provider on a server that syncs every commit to disk.
func Bench(b *testing.B, d Database) {
	storetest.Bench(b, d.Provider(b, testdb.Crashable(b, d.Kind).DSN))
}

// CheckAddresses is testdb.CheckAddresses of this kind.
func CheckAddresses(t *testing.T, d Database, cases map[string]testdb.BadAddress) {
	t.Helper()
	testdb.CheckAddresses(t, func(t *testing.T, address string) error {
		_, err := d.Connect(t.Context(), address)
		return err
	}, cases)
}

// Run runs the suite.
func Run(t *testing.T, d Database) {
	for name, test := range map[string]func(*testing.T, Database){
		"ManyStartAtOnce": testManyStartAtOnce,
		"Fenced":          testFenced,
		"LocksComeBack":   testLocksComeBack,
		"ConnectionsEnd":  testConnectionsEnd,
		"Unreachable":     testUnreachable,
		"NotKnown":        testNotKnown,
		"Killed":          testKilled,
		"ChangedRows":     testChangedRows,
		"SameIDTwice":     testSameIDTwice,
		"NewerTables":     testNewerTables,
		"LeftByACrash":    testLeftByACrash,
	} {
		t.Run(name, func(t *testing.T) { test(t, d) })
	}
}

// Connect opens a provider that logs nowhere.
func (d Database) Connect(ctx context.Context, dsn string) (*rows.Provider, error) {
	return d.Open(ctx, dsn, slog.New(slog.DiscardHandler))
}

// Provider is Connect for the length of a test.
func (d Database) Provider(t testing.TB, dsn string) store.Provider {
	t.Helper()
	p, err := d.Connect(t.Context(), dsn)
	check(t, err)
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
	})
	return p
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func create(t *testing.T, p store.Provider, id string) store.Log {
	t.Helper()
	header, err := session.EncodeHeader(session.Header{
		Type: session.TypeSession, Version: session.Version, ID: id, Timestamp: "2026-01-02T03:04:05.678Z", Cwd: "/x",
	})
	check(t, err)
	log, err := p.Create(t.Context(), "prj_1", header)
	check(t, err)
	return log
}

func line(id string) json.RawMessage {
	return json.RawMessage(`{"type":"message","id":"` + id + `","parentId":null,"timestamp":"2026-01-02T03:04:07.000Z","message":{"role":"user","content":"x"}}`)
}

// ids are the entries that a reader sees.
func ids(t *testing.T, p store.Provider, id string) []string {
	t.Helper()
	file, err := p.Read(t.Context(), id)
	check(t, err)
	if what := store.Damage(file); what != "" {
		t.Fatalf("damaged: %s", what)
	}
	list := []string{}
	for _, e := range file.Tree.Entries() {
		list = append(list, e.ID)
	}
	return list
}

func sees(t *testing.T, p store.Provider, id string, want ...string) {
	t.Helper()
	if got := ids(t, p, id); !slices.Equal(got, want) {
		t.Fatalf("a reader sees %v, want %v", got, want)
	}
}

// testManyStartAtOnce opens one fresh database from many hosts: one makes the
// tables, the others wait for it, all can use them.
func testManyStartAtOnce(t *testing.T, d Database) {
	dsn := d.New(t)
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			p, err := d.Connect(t.Context(), dsn)
			if err != nil {
				t.Errorf("opening: %v", err)
				return
			}
			log := create(t, p, fmt.Sprint("s", i))
			if err := errors.Join(log.Append(t.Context(), line("a")), log.Close(), p.Close()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	list, err := d.Provider(t, dsn).List(t.Context())
	if err != nil || len(list) != 6 {
		t.Errorf("%d sessions, %v", len(list), err)
	}
}

// testFenced: a host that lost its lock without knowing adds nothing once another
// one has the session, and learns who that is.
func testFenced(t *testing.T, d Database) {
	dsn := d.New(t)
	first, second := d.Provider(t, dsn), d.Provider(t, dsn)
	log := create(t, first, "s")
	check(t, log.Append(t.Context(), line("a")))
	d.EndLocks(t, dsn)
	check(t, log.Append(t.Context(), line("b"))) // no other host has taken it yet
	taken, err := second.Open(t.Context(), "s")
	check(t, err)
	if n := len(taken.File().Tree.Entries()); n != 2 {
		t.Errorf("the second host sees %d entries", n)
	}
	err = log.Append(t.Context(), line("c"))
	var inUse *store.InUseError
	if !errors.Is(err, store.ErrLost) || !errors.As(err, &inUse) || inUse.Holder.PID != os.Getpid() {
		t.Errorf("adding to what another host has: %v", err)
	}
	if err := log.Append(t.Context(), line("d")); !errors.Is(err, store.ErrLost) {
		t.Errorf("and again: %v", err)
	}
	check(t, taken.Append(t.Context(), line("e")))
	check(t, log.Close())
	check(t, taken.Append(t.Context(), line("f"))) // the other's close gave nothing free
	sees(t, first, "s", "a", "b", "e", "f")
	check(t, taken.Close())
	log, err = first.Open(t.Context(), "s")
	check(t, err)
	check(t, log.Close())
}

// testLocksComeBack: a lock that ended with its connection is acquired again as soon as
// the host notices.
func testLocksComeBack(t *testing.T, d Database) {
	dsn := d.New(t)
	first, second := d.Provider(t, dsn), d.Provider(t, dsn)
	log := create(t, first, "s")
	d.EndLocks(t, dsn)
	other := create(t, first, "other") // this is when it notices
	if _, err := second.Open(t.Context(), "s"); !errors.Is(err, store.ErrInUse) {
		t.Errorf("opening what the first host has: %v", err)
	}
	check(t, log.Append(t.Context(), line("a")))
	check(t, errors.Join(log.Close(), other.Close()))
	taken, err := second.Open(t.Context(), "s")
	check(t, err)
	check(t, taken.Close())
}

// testLeftByACrash: the row of a dead host blocks no other host.
func testLeftByACrash(t *testing.T, d Database) {
	dsn := d.New(t)
	first, second := d.Provider(t, dsn), d.Provider(t, dsn)
	check(t, create(t, first, "s").Close())
	d.Exec(t, dsn, `UPDATE scorel_sessions SET lease = 'gone', holder = '{"pid":1,"program":"scorel"}'`)
	log, err := second.Open(t.Context(), "s")
	check(t, err)
	check(t, log.Append(t.Context(), line("a")))
	check(t, log.Close())
	sees(t, first, "s", "a")
}

// testChangedRows: rows that are gone or do not read are reported as a file's lines
// are, and the session is not written to.
func testChangedRows(t *testing.T, d Database) {
	for name, test := range map[string]struct {
		statement string
		entries   int
	}{
		"a line that does not read":  {`UPDATE scorel_entries SET line = '{"type":' WHERE entry_seq = 2`, 2},
		"a line that nests too deep": {`UPDATE scorel_entries SET line = '{"type":"custom","id":"b","parentId":"a","data":` + strings.Repeat("[", 9995) + strings.Repeat("]", 9995) + `}' WHERE entry_seq = 2`, 3},
		"a line that is gone":        {`DELETE FROM scorel_entries WHERE entry_seq = 2`, 2},
		"the last line is gone":      {`DELETE FROM scorel_entries WHERE entry_seq = 3`, 2},
		"all lines are gone":         {`DELETE FROM scorel_entries`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			dsn := d.New(t)
			p := d.Provider(t, dsn)
			log := create(t, p, "s")
			check(t, log.Append(t.Context(), line("a"), line("b"), line("c")))
			check(t, log.Close())
			d.Exec(t, dsn, test.statement)
			file, err := p.Read(t.Context(), "s")
			check(t, err)
			if what := store.Damage(file); what == "" || len(file.Tree.Entries()) != test.entries {
				t.Errorf("damage %q, %d entries", what, len(file.Tree.Entries()))
			}
			log, err = p.Open(t.Context(), "s")
			check(t, err)
			if err := log.Append(t.Context(), line("d")); !errors.Is(err, store.ErrDamaged) {
				t.Errorf("adding to it: %v", err)
			}
			check(t, log.Close())
		})
	}
}

// testSameIDTwice: a file may have an id twice, and so may a session here.
func testSameIDTwice(t *testing.T, d Database) {
	p := d.Provider(t, d.New(t))
	log := create(t, p, "s")
	check(t, log.Append(t.Context(), line("a"), line("b"), line("a")))
	check(t, log.Append(t.Context(), line("c"), line("b")))
	check(t, log.Append(t.Context(), line("c")))
	check(t, log.Append(t.Context(), line("d")))
	check(t, log.Close())
	sees(t, p, "s", "a", "b", "a", "c", "b", "c", "d")
}

func testNewerTables(t *testing.T, d Database) {
	dsn := d.New(t)
	p, err := d.Connect(t.Context(), dsn)
	check(t, err)
	check(t, p.Close())
	d.Exec(t, dsn, `INSERT INTO scorel_session_versions (version_id, is_applied) VALUES (9999, true)`)
	if _, err := d.Connect(t.Context(), dsn); err == nil || !errors.Is(err, errNewer) {
		t.Errorf("opening a newer database: %v", err)
	}
}
