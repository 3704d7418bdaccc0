package mcp_test

import (
	"context"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/mcp"
	"github.com/scorel/scorel/apps/host/internal/state"
)

// TestAttachNeedsConsent connects a channel to a server of a project only after a person allowed
// exactly this configuration.
func TestAttachNeedsConsent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.inFile(t, "one", "plain")
	if _, err := w.Attach(t.Context(), w.folder, "one"); err == nil || !strings.Contains(err.Error(), "not allowed yet") {
		t.Fatalf("without consent: %v", err)
	}
	if _, err := w.Decide(w.folder, "one", w.status(t, "one").Hash, true, "test"); err != nil {
		t.Fatal(err)
	}
	link, err := w.Attach(t.Context(), w.folder, "one")
	if err != nil {
		t.Fatal(err)
	}
	if link.ServerName() != "test" || len(link.Tools()) == 0 {
		t.Errorf("connected to %q with %d tools", link.ServerName(), len(link.Tools()))
	}
	if _, err := w.Attach(t.Context(), w.folder, "one"); err == nil || !strings.Contains(err.Error(), "another channel") {
		t.Errorf("a second channel: %v", err)
	}
	if _, err := w.Decide(w.folder, "one", w.status(t, "one").Hash, false, "test"); err != nil {
		t.Fatal(err)
	}
	<-link.Done()
	link.Close(false)
	if _, err := w.Attach(t.Context(), w.folder, "one"); err == nil || !strings.Contains(err.Error(), "denied") {
		t.Errorf("after it was denied: %v", err)
	}
}

// TestAttachRunsOnce checks that a channel's server runs in one folder, and again everywhere when it
// is no channel any more.
func TestAttachRunsOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *mcp.Options) {
		o.Servers = map[string]state.MCPServer{"one": child(t, "plain"), "far": {URL: "http://127.0.0.1:1"}}
	})
	other := t.TempDir()
	link, err := w.Attach(t.Context(), w.folder, "one")
	if err != nil {
		t.Fatal(err)
	}
	if here, there := names(w.Tools(t.Context(), w.folder)), names(w.Tools(t.Context(), other)); len(here) == 0 || len(there) != 0 {
		t.Errorf("tools are %q here and %q elsewhere", here, there)
	}
	link.Close(true)
	if there := names(w.Tools(t.Context(), other)); len(there) == 0 {
		t.Error("it does not run elsewhere afterwards")
	}
	if _, err := w.Attach(t.Context(), w.folder, "far"); err == nil || !strings.Contains(err.Error(), "HTTP") {
		t.Errorf("over HTTP: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if link, err := w.Attach(ended, w.folder, "one"); err == nil {
		link.Close(true)
	}
}
