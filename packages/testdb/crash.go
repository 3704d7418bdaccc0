package testdb

import (
	"context"
	"io"
	"testing"
	"time"
)

// Server is a server of a test's own, with one database on it. What it said is
// stored is on disk.
type Server struct {
	DSN string // of the database

	t      testing.TB
	server *server
}

// Crashable starts a server that ends with the test. It is always the program of
// this machine: the process that is killed must be the one that writes.
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
		t.Fatalf("testdb: this test needs a %s of this machine (on Debian: %s): %v", kind, e.install, err)
	}
	c := &Server{t: t, server: s}
	t.Cleanup(c.end)
	if c.DSN, _, err = s.create(ctx); err != nil { // it goes with the server
		t.Fatal(err)
	}
	return c
}

// Kill ends the server's process with SIGKILL.
func (c *Server) Kill() {
	c.t.Helper()
	c.tell("kill")
}

// Start starts it again and returns when it answers. What is left of the killed one
// may be in the way for a moment, and the server then gives up: it is started anew.
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
	c.t.Fatalf("testdb: the killed server does not start again: %v", err)
}

func (c *Server) tell(command string) {
	c.t.Helper()
	if _, err := c.server.keeper.tell(command); err != nil {
		c.t.Fatalf("testdb: telling the keeper to %s: %v", command, err)
	}
}

// end closes the pipe, and waits until the keeper is gone: then so are the files.
func (c *Server) end() {
	k := c.server.keeper
	if err := k.pipe.Close(); err != nil {
		c.t.Errorf("testdb: %v", err)
	}
	_ = k.output.SetReadDeadline(time.Now().Add(queryTimeout))
	if _, err := io.Copy(io.Discard, k.lines); err != nil {
		c.t.Errorf("testdb: waiting for the server's end: %v", err)
	}
	_ = k.output.Close()
}
