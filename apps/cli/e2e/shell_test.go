//go:build !windows

package e2e

import (
	"encoding/base64"
	"errors"
	"regexp"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// shellClient is a paired client that may open terminals.
type shellClient struct {
	w      *world
	e      *entry
	c      *client.Client
	events chan api.EventEnvelope
}

func newShellClient(t *testing.T) *shellClient {
	// The shell is none of the tester's own, and reads no settings of theirs.
	t.Setenv("SHELL", "/bin/sh")
	t.Setenv("HOME", t.TempDir())
	s := &shellClient{w: newWorld(t), events: make(chan api.EventEnvelope, 1024)}
	s.e = s.w.pairEntry(t)
	s.c = s.w.open(t, s.e, func(event api.EventEnvelope) { s.events <- event })
	return s
}

func (s *shellClient) grant(t *testing.T, by *client.Client, given bool) error {
	_, err := client.Call(t.Context(), by, api.SetGrant, api.SetGrantRequest{ClientID: s.e.keys.ID(), Grant: api.GrantShell, Given: given})
	return err
}

func (s *shellClient) refused(t *testing.T, when string) {
	t.Helper()
	if _, err := client.Call(t.Context(), s.c, api.OpenTerminal, s.request("refused")); kindOf(err) != api.KindNotAllowed {
		t.Errorf("%s: %v", when, err)
	}
}

func (s *shellClient) request(key string) api.OpenTerminalRequest {
	return api.OpenTerminalRequest{ClientKey: key, ProjectID: s.w.project.ID, Cols: 80, Rows: 24}
}

var pidShown = regexp.MustCompile(`pid:(\d+):`)

// open opens a terminal and returns the process of its shell, which ignores a hangup.
func (s *shellClient) open(t *testing.T, key string) (pid int) {
	t.Helper()
	id := ask(t, s.c, api.OpenTerminal, s.request(key)).Terminal.ID
	ask(t, s.c, api.AttachTerminal, api.AttachTerminalRequest{TerminalID: id})
	ask(t, s.c, api.WriteTerminal, api.WriteTerminalRequest{TerminalID: id, Data: base64.StdEncoding.EncodeToString([]byte("trap '' HUP; echo pid:$$:\n"))})
	var shown []byte
	for {
		found := pidShown.FindSubmatch(shown)
		if found != nil {
			pid, _ = strconv.Atoi(string(found[1]))
			return pid
		}
		if output, ok := s.next(t).(api.TerminalOutput); ok && output.TerminalID == id {
			data, err := base64.StdEncoding.DecodeString(output.Data)
			if err != nil {
				t.Fatal(err)
			}
			shown = append(shown, data...)
		}
	}
}

func (s *shellClient) next(t *testing.T) api.Event {
	t.Helper()
	select {
	case event := <-s.events:
		return event.Event
	case <-t.Context().Done():
		t.Fatal("no event came")
		return nil
	}
}

// ended waits until the client was told that its shell was taken away.
func (s *shellClient) ended(t *testing.T) {
	t.Helper()
	for {
		if changed, ok := s.next(t).(api.TerminalChanged); ok && changed.Terminal.Ended != nil {
			if changed.Terminal.Ended.Reason != api.TerminalRevoked {
				t.Errorf("the shell ended as %+v", changed.Terminal.Ended)
			}
			return
		}
	}
}

// gone waits until a process has ended. It is no child of the test, so nothing but a look
// shows its end.
func gone(t *testing.T, pid int) {
	t.Helper()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		<-look.C
	}
}

// TestTheShellGrant: a paired client gets a shell only with the grant for it, which it cannot
// give itself, and loses the shell with the grant.
func TestTheShellGrant(t *testing.T) {
	s := newShellClient(t)
	s.refused(t, "after pairing")
	if err := s.grant(t, s.c, true); kindOf(err) != api.KindNotAllowed {
		t.Errorf("a paired client gave itself a shell: %v", err)
	}
	if err := s.grant(t, s.w.local, true); err != nil {
		t.Fatal(err)
	}
	pid := s.open(t, "k")
	if err := s.grant(t, s.w.local, false); err != nil {
		t.Fatal(err)
	}
	s.ended(t)
	gone(t, pid)
	s.refused(t, "without the grant again")
}

// TestShellsEndWithTheirPairing: a client that pairs again begins with the grants of pairing,
// and its shells end; so do those of a client that is revoked.
func TestShellsEndWithTheirPairing(t *testing.T) {
	s := newShellClient(t)
	if err := s.grant(t, s.w.local, true); err != nil {
		t.Fatal(err)
	}
	first := s.open(t, "1")
	s.w.pair(t, s.e)
	gone(t, first)
	s.c = s.w.open(t, s.e, func(event api.EventEnvelope) { s.events <- event })
	s.refused(t, "paired again")
	if err := s.grant(t, s.w.local, true); err != nil {
		t.Fatal(err)
	}
	if left := ask(t, s.c, api.ListTerminals, api.Empty{}).Terminals; len(left) > 0 {
		t.Errorf("left are %+v", left)
	}
	second := s.open(t, "2")
	ask(t, s.w.local, api.RevokeClient, api.RevokeClientRequest{ClientID: s.e.keys.ID()})
	gone(t, second)
	<-s.c.Done()
}

// TestTerminalsEndWhenAccessExpires: a shell does not outlive the access of its client, also
// when the client is not connected.
func TestTerminalsEndWhenAccessExpires(t *testing.T) {
	s := newShellClient(t)
	if err := s.grant(t, s.w.local, true); err != nil {
		t.Fatal(err)
	}
	pid := s.open(t, "k")
	if err := s.c.Close(); err != nil {
		t.Fatal(err)
	}
	s.w.expireSoon(t, s.e)
	gone(t, pid)
}
