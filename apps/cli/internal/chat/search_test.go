package chat

import (
	"context"
	"errors"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
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

func TestSearchFindsOnOtherHosts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.open(80, 24, nil)
	w.prompt("hello from afar")
	w.idle()
	id := w.model.session.Summary.ID
	other := Host{Name: "the server", Dial: w.dial, Lost: func(error) bool { return true }}
	near := newWorld(t)
	near.open(80, 24, func(cfg *Config) { cfg.Others = func(string) []Host { return []Host{other} } })
	near.until("the project", func(string) bool { return near.model.next.project.ID != "" })
	near.key('g', tea.ModCtrl)
	near.write("afar")
	near.await("the server")
	near.key(tea.KeyEnter, 0)
	near.until("the session of the other host", func(string) bool { return near.model.session.Summary.ID == id })
	near.await("❯ hello from afar")
}

// TestAHitOpensAtItsEntry, however far up it is, and again in the session that is open.
func TestAHitOpensAtItsEntry(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.importLong(2000)
	w.indexed(`"message 700 of"`)
	w.open(80, 24, nil)
	w.until("the project", func(string) bool { return w.model.next.project.ID != "" })
	for _, text := range []string{"message 700 of", "message 1301 of"} {
		w.key('g', tea.ModCtrl)
		w.await("Search all devices")
		w.write(`"` + text + `"`)
		w.until("the result", func(string) bool { return len(w.model.picker.rows) == 1 && !w.model.picker.loading })
		w.key(tea.KeyEnter, 0)
		w.until(text, func(screen string) bool {
			return w.model.picker == nil && strings.Contains(screen, text+" the session")
		})
		if w.model.session.Summary.ID != id || w.model.session.seek.entryID != "" {
			t.Errorf("the session is %s, sought is %+v", w.model.session.Summary.ID, w.model.session.seek)
		}
	}
}

// indexed waits until a search finds something.
func (w *world) indexed(query string) {
	w.t.Helper()
	c := w.client()
	defer func() { _ = c.Close() }() // everything was received
	for {
		found, err := client.Call(w.t.Context(), c, api.SearchSessions, api.SearchSessionsRequest{Query: query})
		if err != nil {
			w.t.Fatal(err)
		}
		if len(found.Hits) > 0 && found.Behind == 0 {
			return
		}
	}
}
