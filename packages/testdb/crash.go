package testdb

import (
	"bytes"
	"context"
	"io"
	"os"
	"testing"
	"time"
)

// Server is a server of one test, with one database. Acknowledged writes are on
// disk.
type Server struct {
	DSN string // address of the database

	t      testing.TB
	server *server
}

// Crashable starts a server that ends with the test. It is always a program of this
// machine: the process that is killed must be the one that writes.
func Crashable(t testing.TB, kind Kind) *Server {
	t.Helper()
	e := &postgresEngine
	if kind == KindMariaDB {
		e = &mariaEngine
	}
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	s, err := e.local(ctx, e, true)
	if err != nil {
		t.Fatalf("testdb: this test needs %s installed on this machine (on Debian: %s): %v", kind, e.install, err)
	}
	c := &Server{t: t, server: s}
	t.Cleanup(c.end)
	if c.DSN, _, err = s.create(ctx); err != nil { // it is removed with the server
		t.Fatal(err)
	}
	return c
}

// Kill ends the server's processes with SIGKILL.
func (c *Server) Kill() {
	c.t.Helper()
	c.tell("kill")
}

// Start starts the server again and returns when it answers. Leftovers of the
// killed one may get in the way for a moment, and the server then gives up: it is
// started again.
func (c *Server) Start() {
	c.t.Helper()
	var err error
	for patience := 200 * time.Millisecond; patience < time.Minute; patience *= 2 {
		c.tell("kill")
		c.tell("start")
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		err = c.server.awaitReady(ctx)
		cancel()
		if err == nil {
			return
		}
	}
	c.t.Fatalf("testdb: the killed server does not restart: %v\n%s", err, c.server.log())
}

// log returns what the server said, or why that cannot be read.
func (s *server) log() []byte {
	log, err := os.ReadFile(s.logs)
	if err != nil {
		return []byte(err.Error())
	}
	return bytes.TrimSpace(log)
}

func (c *Server) tell(command string) {
	c.t.Helper()
	if _, err := c.server.keeper.tell(command); err != nil {
		c.t.Fatalf("testdb: telling the keeper to %s: %v", command, err)
	}
}

// end closes the pipe and waits until the keeper has ended, and with it the files
// are gone.
func (c *Server) end() {
	k := c.server.keeper
	if err := k.pipe.Close(); err != nil {
		c.t.Errorf("testdb: %v", err)
	}
	_ = k.output.SetReadDeadline(time.Now().Add(queryTimeout))
	if _, err := io.Copy(io.Discard, k.lines); err != nil {
		c.t.Errorf("testdb: waiting for the server to exit: %v", err)
	}
	_ = k.output.Close()
}
