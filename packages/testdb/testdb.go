// Package testdb provides tests with a real PostgreSQL and a real MariaDB. A test
// process starts one server of each kind on first use, and every call creates a new
// empty database on it:
//
//	dsn := testdb.Postgres(t) // postgres://...
//	dsn := testdb.MariaDB(t)  // mysql://...
//
// The server is a container if a Docker daemon answers, otherwise a program of this
// machine. If neither works the test fails: it never skips. SCOREL_TESTDB=container
// allows only a container, SCOREL_TESTDB=local only the program.
//
// Crashable starts a separate server for a test that syncs as in production and can
// be killed and restarted.
//
// The server ends with the test process, however that ends: a keeper process holds
// the other end of a pipe, and stops the server and removes its files when the pipe
// breaks. So TestMain has nothing to stop and no goroutine is left.
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
	// startTimeout limits the start of a server, including the pull of an image.
	startTimeout = 3 * time.Minute
	// queryTimeout limits creating or dropping a database.
	queryTimeout = 30 * time.Second
	// readyTimeout limits the start of a server whose files exist.
	readyTimeout = 30 * time.Second
)

// whereEnv chooses between a container and the program of this machine.
const whereEnv = "SCOREL_TESTDB"

var errLocalOnly = errors.New("containers are disabled by " + whereEnv)

// Kind is a kind of database server.
type Kind string

const (
	KindPostgres Kind = "PostgreSQL"
	KindMariaDB  Kind = "MariaDB"
)

// engine describes how a kind of server is started and used.
type engine struct {
	kind    Kind
	install string // command that installs it
	image   string // name of the kind for testdb-container
	local   func(ctx context.Context, e *engine, durable bool) (*server, error)
	exec    func(ctx context.Context, address, statement string) error
	// create follows "CREATE DATABASE name", drop "DROP DATABASE name".
	create, drop string
}

var (
	postgresEngine = engine{
		kind: KindPostgres, install: "apt-get install postgresql", image: "postgres", local: startPostgres, exec: execPostgres,
		create: " TEMPLATE template0", // template0 has no sessions that could interfere
		drop:   " WITH (FORCE)",
	}
	mariaEngine = engine{
		kind: KindMariaDB, install: "apt-get install mariadb-server", image: "mariadb", local: startMariaDB, exec: execMySQL,
		create: " CHARACTER SET utf8mb4",
	}
)

// The process's servers, one of each kind. They are the only state of the package:
// a separate server for each test would cost a second each.
var (
	sharedPostgres = sync.OnceValues(postgresEngine.start)
	sharedMariaDB  = sync.OnceValues(mariaEngine.start)
)

// server is a running server whose superuser may connect.
type server struct {
	engine *engine
	keeper *keeper      // ends the server with this process
	made   atomic.Int64 // databases created so far
	logs   string       // the file with its log; "" for a container

	mu    sync.Mutex
	admin *url.URL // address of a database that always exists
}

// Postgres returns the URL of a new, empty database that is dropped at the end of
// the test.
func Postgres(t testing.TB) string {
	t.Helper()
	return forTest(t, sharedPostgres)
}

// MariaDB is Postgres for MariaDB; the URL begins with mysql://.
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

// Create is Postgres for callers without a testing.TB. drop ends the connections to
// the database and removes it.
func Create(ctx context.Context) (dsn string, drop func() error, err error) {
	return create(ctx, sharedPostgres)
}

// CreateMariaDB is Create for MariaDB.
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

// address returns where the superuser connects. A restarted container may have
// another address.
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

// start starts the server in a container or as a program.
func (e *engine) start() (*server, error) { return e.startWithin(startTimeout, startTimeout) }

// startWithin tries Docker first and this machine's own program second. Each has
// its own timeout, so that a hanging daemon leaves the program its full time.
func (e *engine) startWithin(docker, local time.Duration) (*server, error) {
	where := os.Getenv(whereEnv)
	noContainer := errLocalOnly
	if where != "local" {
		var s *server
		if s, noContainer = e.tryContainer(docker); noContainer == nil {
			return s, nil
		} // a daemon without images must not prevent use of the program
	}
	if where == "container" {
		return nil, fmt.Errorf("testdb: %s is %s: %w", whereEnv, where, noContainer)
	}
	ctx, cancel := context.WithTimeout(context.Background(), local)
	defer cancel()
	s, err := e.local(ctx, e, false)
	if err != nil {
		return nil, fmt.Errorf("testdb: tests need %s: start Docker, or install it (on Debian: %s): %w", e.kind, e.install, errors.Join(noContainer, err))
	}
	return s, nil
}

func (e *engine) tryContainer(patience time.Duration) (*server, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	host := dockerHost(os.Getenv)
	if err := ping(ctx, host); err != nil {
		return nil, err
	}
	return e.startContainer(ctx, host)
}
