package chat

import (
	"context"
	"errors"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/scorel/scorel/packages/client"
)

// TestASearchWaitsForNoHost: what one host has found is shown while another does not answer, and
// one that cannot be searched is named.
func TestASearchWaitsForNoHost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	silent := Host{Name: "the silent one", Dial: func(ctx context.Context) (client.Transport, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	broken := Host{Name: "the broken one", Dial: func(context.Context) (client.Transport, error) { return nil, errors.New("it burns") }}
	w.open(80, 24, func(cfg *Config) { cfg.Others = func(string) []Host { return []Host{silent, broken} } })
	w.prompt("hello from here")
	w.idle()
	w.key('g', tea.ModCtrl)
	w.write("here")
	w.await("the broken one is not searched: it burns")
	w.until("the result", func(string) bool { return w.model.picker != nil && len(w.model.picker.rows) > 0 })
	if w.model.picker.search.waiting != 1 {
		t.Errorf("the search waits for %d hosts, not for the silent one", w.model.picker.search.waiting)
	}
	w.key(tea.KeyEnter, 0)
	if w.model.picker != nil {
		t.Error("no result can be chosen while a host does not answer")
	}
}

// TestSessionsWithoutAFolder: who attaches to a host without sessions can begin one there.
func TestSessionsWithoutAFolder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.importLong(2)
	w.open(80, 24, func(cfg *Config) { cfg.Folder = "" })
	w.await("New session")
	w.await("message 1 of the session")
	w.key(tea.KeyDown, 0)
	w.key(tea.KeyEnter, 0)
	w.await("Project of the new session")
	w.until("the project", func(string) bool { return w.model.picker != nil && len(w.model.picker.rows) == 1 })
	w.key(tea.KeyEnter, 0)
	w.prompt("hello")
	w.await("❯ hello")
	w.idle()
}
