// Package testdb gives tests a real PostgreSQL. A test process starts one server
// at first use, and every call gets an empty database of its own on it:
//
//	dsn := testdb.Postgres(t)
//
// The server is a container where a Docker daemon answers, else the postgres of
// this machine. Where neither works the test fails: it never skips.
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

	"github.com/jackc/pgx/v5"
)

const (
	// startTimeout bounds the start of a server, with the pull of an image.
	startTimeout = 3 * time.Minute
	// readyTimeout bounds the start of a server whose files are made.
	readyTimeout = 30 * time.Second
	// queryTimeout bounds making or dropping a database.
	queryTimeout = 30 * time.Second
)

// shared starts the process's one server. It is the only state of the package:
// a server of its own for each test would cost a second each.
var shared = sync.OnceValues(start)

// server is a running PostgreSQL whose superuser may connect.
type server struct {
	keeper *keeper      // ends the server with this process
	made   atomic.Int64 // databases so far

	mu    sync.Mutex
	admin *url.URL // of the database named postgres
}

// Postgres returns the URL of a new, empty database that is dropped at the end of
// the test.
func Postgres(t testing.TB) string {
	t.Helper()
	dsn, drop, err := Create(t.Context())
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
	s, err := shared()
	if err != nil {
		return "", nil, fmt.Errorf("testdb: tests need PostgreSQL: start Docker, or install it (on Debian: apt-get install postgresql): %w", err)
	}
	name := fmt.Sprintf("scorel_test_%d", s.made.Add(1))
	// template0 has no sessions that could be in the way.
	if err := s.exec(ctx, "CREATE DATABASE "+name+" TEMPLATE template0"); err != nil {
		return "", nil, err
	}
	database := s.address()
	database.Path = "/" + name
	return database.String(), func() error {
		return s.exec(context.Background(), "DROP DATABASE "+name+" WITH (FORCE)")
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
	conn, err := pgx.Connect(ctx, admin.String())
	if err != nil {
		return fmt.Errorf("testdb: %w", err)
	}
	_, err = conn.Exec(ctx, statement)
	if err = errors.Join(err, conn.Close(ctx)); err != nil {
		return fmt.Errorf("testdb: %s: %w", statement, err)
	}
	return nil
}

// start tries Docker first and this machine's own PostgreSQL second.
func start() (*server, error) {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	noContainer := ping(ctx, dockerHost(os.Getenv))
	if noContainer == nil {
		s, err := startContainer(ctx)
		if err == nil {
			return s, nil
		}
		noContainer = err // a daemon without images must not stop those who have the program
	}
	s, err := startLocal(ctx)
	if err != nil {
		return nil, errors.Join(noContainer, err)
	}
	return s, nil
}
