package testdb

import (
	"context"
	"net"
	"net/url"
	"path/filepath"
	"testing"
	"time"
)

// Stop ends this process's PostgreSQL as a crash would: connections break, new ones
// are refused, and there is no orderly shutdown. All databases of the process are
// unavailable until Restart, which the end of the test calls at the latest.
func Stop(t testing.TB) {
	t.Helper()
	s, err := sharedPostgres()
	if err == nil {
		_, err = s.keeper.tell("stop")
	}
	if err != nil {
		t.Fatalf("testdb: stopping the server: %v", err)
	}
	t.Cleanup(func() { Restart(t) })
}

// Restart starts the server again after Stop and waits until it answers. The data
// is unchanged; Target may have changed. Restarting a running server is harmless.
func Restart(t testing.TB) {
	t.Helper()
	s, err := sharedPostgres()
	if err == nil {
		err = s.restart()
	}
	if err != nil {
		t.Fatalf("testdb: starting the server again: %v", err)
	}
}

// Target returns the server's current address, as net.Dial takes it, for a proxy in
// front of it.
func Target() (network, address string, err error) {
	s, err := sharedPostgres()
	if err != nil {
		return "", "", err
	}
	admin := s.address()
	if socket := admin.Query().Get("host"); socket != "" {
		return "unix", filepath.Join(socket, ".s.PGSQL.5432"), nil
	}
	return "tcp", admin.Host, nil
}

// Through returns the URL of a database at another TCP address, such as that of a
// proxy.
func Through(dsn, address string) (string, error) {
	u, err := url.Parse(dsn)
	if err != nil {
		return "", err
	}
	if _, _, err := net.SplitHostPort(address); err != nil {
		return "", err
	}
	query := u.Query()
	query.Del("host")
	query.Set("sslmode", "disable")
	u.Host, u.RawQuery = address, query.Encode()
	return u.String(), nil
}

// restart starts a stopped server.
func (s *server) restart() error {
	answer, err := s.keeper.tell("start")
	if err != nil {
		return err
	}
	if u, err := url.Parse(answer); err == nil && u.Scheme != "" {
		s.mu.Lock()
		s.admin = u
		s.mu.Unlock()
	}
	return s.awaitReady(context.Background())
}

// awaitReady waits until the server answers.
func (s *server) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	return poll(ctx, 5*time.Millisecond, s.answer)
}

func (s *server) answer(ctx context.Context) error {
	admin := s.address()
	return s.engine.exec(ctx, admin.String(), "SELECT 1")
}
