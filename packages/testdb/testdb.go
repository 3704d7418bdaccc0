// Package testdb gives tests a real PostgreSQL and a real MariaDB. A test process
// starts one server of a kind at first use, and every call gets an empty database
// of its own on it:
//
//	dsn := testdb.Postgres(t) // postgres://...
//	dsn := testdb.MariaDB(t)  // mysql://...
//
// The server is a container where a Docker daemon answers, else the program of
// this machine. Where neither works the test fails: it never skips.
//
// Crashable starts a server of the test's own that writes as it would for people,
// and can be killed and started again.
//
// The server ends with the test process, however that ends: a keeper process
// holds the other end of a pipe, and closes the server and removes its files when
// the pipe breaks. So there is nothing to stop in TestMain and no goroutine left.
package testdb

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const (
	// startTimeout bounds the start of a server, with the pull of an image.
	startTimeout = 3 * time.Minute
	// queryTimeout bounds making or dropping a database.
	queryTimeout = 30 * time.Second
	// readyTimeout bounds the start of a server whose files are made.
	readyTimeout = 30 * time.Second
)

// Kind is a kind of database server.
type Kind string

const (
	KindPostgres Kind = "PostgreSQL"
	KindMariaDB  Kind = "MariaDB"
)

// engine is how a kind is started and spoken to.
type engine struct {
	kind    Kind
	install string // how people get it
	image   string // name of the kind for testdb-container
	local   func(ctx context.Context, e *engine, durable bool) (*server, error)
	exec    func(ctx context.Context, address, statement string) error
	// create follows "CREATE DATABASE name", drop "DROP DATABASE name".
	create, drop string
}

var (
	postgresEngine = engine{
		kind: KindPostgres, install: "apt-get install postgresql", image: "postgres", local: startPostgres, exec: execPostgres,
		create: " TEMPLATE template0", // it has no sessions that could be in the way
		drop:   " WITH (FORCE)",
	}
	mariaEngine = engine{
		kind: KindMariaDB, install: "apt-get install mariadb-server", image: "mariadb", local: startMariaDB, exec: execMySQL,
		create: " CHARACTER SET utf8mb4",
	}
)

// The process's servers, one of a kind. They are the only state of the package: a
// server of its own for each test would cost a second each.
var (
	sharedPostgres = sync.OnceValues(postgresEngine.start)
	sharedMariaDB  = sync.OnceValues(mariaEngine.start)
)

// server is a running server whose superuser may connect.
type server struct {
	engine *engine
	keeper *keeper      // ends the server with this process
	made   atomic.Int64 // databases so far

	mu    sync.Mutex
	admin *url.URL // of a database that is always there
}

// Postgres returns the URL of a new, empty database that is dropped at the end of
// the test.
func Postgres(t testing.TB) string {
	t.Helper()
	return forTest(t, sharedPostgres)
}

// MariaDB is Postgres for the other kind; the URL begins with mysql://.
func MariaDB(t testing.TB) string {
	t.Helper()
	return forTest(t, sharedMariaDB)
}

func forTest(t testing.TB, shared func() (*server, error)) string {
	t.Helper()
	dsn, drop, err := create(t.Context(), shared)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := drop(); err != nil {
			t.Error(err)
		}
	})
	return dsn
}

// Create is Postgres for those who have no testing.TB. drop ends the connections
// to the database and removes it.
func Create(ctx context.Context) (dsn string, drop func() error, err error) {
	return create(ctx, sharedPostgres)
}

// CreateMariaDB is Create for the other kind.
func CreateMariaDB(ctx context.Context) (dsn string, drop func() error, err error) {
	return create(ctx, sharedMariaDB)
}

func create(ctx context.Context, shared func() (*server, error)) (dsn string, drop func() error, err error) {
	s, err := shared()
	if err != nil {
		return "", nil, err
	}
	return s.create(ctx)
}

func (s *server) create(ctx context.Context) (dsn string, drop func() error, err error) {
	name := fmt.Sprintf("scorel_test_%d", s.made.Add(1))
	if err := s.exec(ctx, "CREATE DATABASE "+name+s.engine.create); err != nil {
		return "", nil, err
	}
	database := s.address()
	database.Path = "/" + name
	return database.String(), func() error {
		return s.exec(context.Background(), "DROP DATABASE "+name+s.engine.drop)
	}, nil
}

// address is where the superuser connects. A container may come back elsewhere.
func (s *server) address() url.URL {
	s.mu.Lock()
	defer s.mu.Unlock()
	return *s.admin
}

func (s *server) exec(ctx context.Context, statement string) error {
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	admin := s.address()
	if err := s.engine.exec(ctx, admin.String(), statement); err != nil {
		return fmt.Errorf("testdb: %s: %w", statement, err)
	}
	return nil
}

// start tries Docker first and this machine's own program second.
func (e *engine) start() (*server, error) {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	noContainer := ping(ctx, dockerHost(os.Getenv))
	if noContainer == nil {
		s, err := e.startContainer(ctx)
		if err == nil {
			return s, nil
		}
		noContainer = err // a daemon without images must not stop those who have the program
	}
	s, err := e.local(ctx, e, false)
	if err != nil {
		return nil, fmt.Errorf("testdb: tests need %s: start Docker, or install it (on Debian: %s): %w", e.kind, e.install, errors.Join(noContainer, err))
	}
	return s, nil
}
