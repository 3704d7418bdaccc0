//go:build !windows

package terminal_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/dispatch/dispatchtest"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// alive reports whether a process runs; one that no one has waited for yet does not.
func alive(pid int) bool {
	if status, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil {
		_, state, _ := strings.Cut(string(status), ") ")
		return !strings.HasPrefix(state, "Z")
	}
	return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}

// each sends every request about a terminal, and returns their errors.
func each(t *testing.T, c *dispatchtest.Client, id string) map[string]error {
	_, list := client.Call(t.Context(), c.Client, api.ListTerminals, api.Empty{})
	_, attach := client.Call(t.Context(), c.Client, api.AttachTerminal, api.AttachTerminalRequest{TerminalID: id})
	_, ack := client.Call(t.Context(), c.Client, api.AckTerminal, api.AckTerminalRequest{TerminalID: id})
	_, write := client.Call(t.Context(), c.Client, api.WriteTerminal, api.WriteTerminalRequest{TerminalID: id, Data: typed("exit\n")})
	_, resize := client.Call(t.Context(), c.Client, api.ResizeTerminal, api.ResizeTerminalRequest{TerminalID: id, Cols: 9, Rows: 9})
	_, detach := client.Call(t.Context(), c.Client, api.DetachTerminal, api.TerminalRequest{TerminalID: id})
	_, closed := client.Call(t.Context(), c.Client, api.CloseTerminal, api.TerminalRequest{TerminalID: id})
	_, open := client.Call(t.Context(), c.Client, api.OpenTerminal, api.OpenTerminalRequest{ClientKey: "k", Cols: 80, Rows: 24})
	return map[string]error{
		"list_terminals": list, "attach_terminal": attach, "ack_terminal": ack, "write_terminal": write,
		"resize_terminal": resize, "detach_terminal": detach, "close_terminal": closed, "open_terminal": open,
	}
}

func kindOf(err error) api.Kind {
	var refused *api.Error
	if !errors.As(err, &refused) {
		return api.KindUnknown
	}
	return refused.Kind
}

// TestNoTerminalWithoutTheGrant: pairing gives every other grant, and none of the requests.
func TestNoTerminalWithoutTheGrant(t *testing.T) {
	w := newWorld(t)
	owner := w.connect("a")
	opened := owner.open("k")
	phone := w.Connect("a", append(api.AllGrants(), api.GrantRules)...) // even a connection of the same client
	for name, err := range each(t, phone, opened.ID) {
		if kindOf(err) != api.KindNotAllowed {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A connection that has the grant still is no use when the list of clients says no.
	w.revoke("b")
	dispatchtest.Refused(t, w.connect("b").Client, api.OpenTerminal, api.OpenTerminalRequest{ClientKey: "k", Cols: 80, Rows: 24}, api.KindNotAllowed)
}

// TestTerminalsOfOthersDoNotExist for a client, whatever it asks.
func TestTerminalsOfOthersDoNotExist(t *testing.T) {
	w := newWorld(t)
	owner := w.connect("a")
	opened := owner.open("k")
	owner.attach(opened.ID, 0)
	owner.shows("ready>")
	thief := w.connect("b")
	for name, err := range each(t, thief.Client, opened.ID) {
		switch name {
		case "list_terminals", "open_terminal", "detach_terminal": // about its own
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		default:
			if kindOf(err) != api.KindNotFound {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if list := dispatchtest.Call(t, thief.Client, api.ListTerminals, api.Empty{}).Terminals; len(list) != 1 || list[0].ID == opened.ID {
		t.Errorf("the other client sees %+v", list)
	}
	owner.write(opened.ID, "echo still'' here\n")
	owner.shows("still here")
	if thief.position() != 0 {
		t.Error("the other client got output")
	}
}

// TestARevokedClientLosesItsShells at once, and gets no byte that follows.
func TestARevokedClientLosesItsShells(t *testing.T) {
	w := newWorld(t)
	s, other := w.connect("a"), w.connect("b")
	opened, kept := s.open("k"), other.open("k")
	s.attach(opened.ID, 0)
	s.write(opened.ID, "trap 'echo too'' late' HUP; echo pid:$$:; cat\n")
	pid := s.pid()
	w.revoke("a")
	s.until("the end", func() bool { return s.last != nil && s.last.Ended != nil })
	if s.last.Ended.Reason != api.TerminalRevoked {
		t.Errorf("the end is %+v", s.last.Ended)
	}
	gone(t, pid)
	s.mu.Lock()
	if strings.Contains(string(s.text), "too late") {
		t.Error("it got output after it was revoked")
	}
	s.mu.Unlock()
	dispatchtest.Refused(t, s.Client, api.WriteTerminal, api.WriteTerminalRequest{TerminalID: opened.ID, Data: typed("x")}, api.KindNotFound)
	other.attach(kept.ID, 0)
	other.write(kept.ID, "echo st''ill\n")
	other.shows("still")
}

// TestForgedFieldsOfTerminals are refused, and the terminal works afterwards.
func TestForgedFieldsOfTerminals(t *testing.T) {
	w := newWorld(t)
	s := w.connect("a")
	id := s.open("k").ID
	s.attach(id, 0)
	s.shows("ready>")
	big := strings.Repeat("x", api.MaxTerminalInput+1)
	for name, send := range map[string]func() error{
		"attach beyond the end": func() error {
			_, err := client.Call(t.Context(), s.Client.Client, api.AttachTerminal, api.AttachTerminalRequest{TerminalID: id, Offset: 1 << 50})
			return err
		},
		"attach before the beginning": func() error {
			_, err := client.Call(t.Context(), s.Client.Client, api.AttachTerminal, api.AttachTerminalRequest{TerminalID: id, Offset: -1})
			return err
		},
		"acknowledge what was not sent": func() error {
			_, err := client.Call(t.Context(), s.Client.Client, api.AckTerminal, api.AckTerminalRequest{TerminalID: id, Offset: 1 << 50})
			return err
		},
		"type too much": func() error {
			_, err := client.Call(t.Context(), s.Client.Client, api.WriteTerminal, api.WriteTerminalRequest{TerminalID: id, Data: typed(big)})
			return err
		},
		"type no base64": func() error {
			_, err := client.Call(t.Context(), s.Client.Client, api.WriteTerminal, api.WriteTerminalRequest{TerminalID: id, Data: "\x1b[2J"})
			return err
		},
		"resize to nothing": func() error {
			_, err := client.Call(t.Context(), s.Client.Client, api.ResizeTerminal, api.ResizeTerminalRequest{TerminalID: id, Cols: 0, Rows: 9})
			return err
		},
		"resize beyond all bounds": func() error {
			_, err := client.Call(t.Context(), s.Client.Client, api.ResizeTerminal, api.ResizeTerminalRequest{TerminalID: id, Cols: 65536, Rows: 9})
			return err
		},
		"open one of no size": func() error {
			_, err := client.Call(t.Context(), s.Client.Client, api.OpenTerminal, api.OpenTerminalRequest{ClientKey: "x", Cols: 80, Rows: -1})
			return err
		},
	} {
		if err := send(); kindOf(err) != api.KindBadRequest {
			t.Errorf("%s: %v", name, err)
		}
	}
	s.write(id, "echo al''ive\n")
	s.shows("alive")
}

// TestTerminalsAreLimited: a client has so many, and its ended ones make room.
func TestTerminalsAreLimited(t *testing.T) {
	w := newWorld(t)
	s := w.connect("a")
	var first api.Terminal
	for i := range api.MaxTerminals {
		if opened := s.open(fmt.Sprint(i)); i == 0 {
			first = opened
		}
	}
	more := api.OpenTerminalRequest{ClientKey: "more", Cols: 80, Rows: 24}
	dispatchtest.Refused(t, s.Client, api.OpenTerminal, more, api.KindTooLarge)
	s.write(first.ID, "exit\n")
	waitEnded(t, s, first.ID)
	dispatchtest.Call(t, s.Client, api.OpenTerminal, more)
	for client := 1; client < api.MaxAllTerminals/api.MaxTerminals; client++ {
		other := w.connect(fmt.Sprint("other", client))
		for i := range api.MaxTerminals {
			other.open(fmt.Sprint(i))
		}
	}
	dispatchtest.Refused(t, w.connect("late").Client, api.OpenTerminal, more, api.KindTooLarge)
}

// TestInputThatNobodyReadsIsBounded: a program that does not read fills no memory, and ends.
func TestInputThatNobodyReadsIsBounded(t *testing.T) {
	w := newWorld(t)
	s := w.connect("a")
	id := s.open("k").ID
	s.attach(id, 0)
	s.write(id, "stty raw -echo; echo qui''et; exec sleep 600\n")
	s.shows("quiet")
	input := api.WriteTerminalRequest{TerminalID: id, Data: typed(strings.Repeat("x", api.MaxTerminalInput))}
	var err error
	for range 100 {
		if _, err = client.Call(t.Context(), s.Client.Client, api.WriteTerminal, input); err != nil {
			break
		}
	}
	if kindOf(err) != api.KindTooLarge {
		t.Errorf("it took everything: %v", err)
	}
	dispatchtest.Call(t, s.Client, api.CloseTerminal, api.TerminalRequest{TerminalID: id})
	s.until("the end", func() bool { return s.last != nil && s.last.Ended != nil })
}

// TestHostileOutputIsOnlyBytes: escape sequences mean nothing to the host, which passes them
// on unchanged, whatever they ask for.
func TestHostileOutputIsOnlyBytes(t *testing.T) {
	w := newWorld(t)
	s := w.connect("a")
	id := s.open("k").ID
	s.attach(id, 0)
	s.shows("ready>")
	s.write(id, `printf '\033]52;c;ZXZpbA==\a\033]8;;javascript:alert(1)\aclick\033]8;;\a\033]0;t\377\a\033[6n\033P+q544e\033\\done'; echo :en''d`+"\n")
	s.shows("\x1b]52;c;ZXZpbA==\a\x1b]8;;javascript:alert(1)\aclick\x1b]8;;\a\x1b]0;t\xff\a\x1b[6n\x1bP+q544e\x1b\\done:end")
}
