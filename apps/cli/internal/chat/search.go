package chat

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/scorel/scorel/apps/cli/internal/chat/feed"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// hit is a found entry on a host; nil is the one that is open.
type hit struct {
	host *Host
	api.SearchHit
}

// searchPause is how long typing must rest before a search begins.
const searchPause = 200 * time.Millisecond

// searchTimeout bounds how long a host may take to answer.
const searchTimeout = 10 * time.Second

// pickSearch searches the text of all sessions on all devices.
func (m *Model) pickSearch() tea.Cmd {
	p := newPicker("Search all devices", "Type what to search for", func(r row) tea.Cmd { return m.openHit(r.value.(hit)) })
	p.search = func(query string) tea.Cmd { return m.search(p, strings.TrimSpace(query)) }
	m.show(p)
	return nil
}

func (m *Model) search(p *picker, query string) tea.Cmd {
	p.serial++
	p.problem = ""
	if p.stop != nil {
		p.stop() // what was typed before is not searched for any more
	}
	ctx, cancel := context.WithTimeout(m.ctx, searchTimeout)
	p.stop = cancel
	if query == "" {
		cancel()
		p.loading, p.rows, p.empty = false, nil, "Type what to search for"
		return nil
	}
	p.loading, p.empty = true, "Nothing found"
	serial, f := p.serial, m.feed
	var others []Host
	if m.cfg.Others != nil {
		others = m.cfg.Others(m.cfg.Host.device())
	}
	return func() tea.Msg {
		defer cancel()
		timer := time.NewTimer(searchPause)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return nil
		}
		rows, err := searchAll(ctx, f, others, api.SearchSessionsRequest{Query: query})
		return picked{p, serial, rows, err}
	}
}

// searchAll asks all hosts at once. One that cannot be reached does not hide what others have
// found.
func searchAll(ctx context.Context, f *feed.Feed, others []Host, request api.SearchSessionsRequest) ([]row, error) {
	lists := make([][]row, len(others)+1)
	errs := make([]error, len(others)+1)
	var all sync.WaitGroup
	all.Go(func() {
		response, err := feed.Do(ctx, f, api.SearchSessions, request)
		lists[0], errs[0] = hitRows(nil, response.Hits), err
	})
	for i, other := range others {
		all.Go(func() {
			response, err := searchHost(ctx, other, request)
			lists[i+1], errs[i+1] = hitRows(&other, response.Hits), err
		})
	}
	all.Wait()
	var rows []row
	for _, list := range lists {
		rows = append(rows, list...)
	}
	return rows, cmp.Or(errs...)
}

func searchHost(ctx context.Context, host Host, request api.SearchSessionsRequest) (api.SearchSessionsResponse, error) {
	transport, err := host.Dial(ctx)
	if err != nil {
		return api.SearchSessionsResponse{}, err
	}
	c := client.New(transport, nil)
	defer func() { _ = c.Close() }() // everything was received
	return client.Call(ctx, c, api.SearchSessions, request)
}

func hitRows(host *Host, hits []api.SearchHit) []row {
	var rows []row
	for _, h := range hits {
		var text strings.Builder
		for _, part := range h.Snippet {
			text.WriteString(part.Text)
		}
		detail := cmp.Or(h.Name, "Untitled")
		if host != nil {
			detail += " · " + host.Name
		}
		rows = append(rows, row{title: strings.Join(strings.Fields(text.String()), " "), detail: detail, value: hit{host, h}})
	}
	return rows
}

// openHit opens the session of a hit at its entry, on another host if it is there.
func (m *Model) openHit(h hit) tea.Cmd {
	var cmd tea.Cmd
	switch {
	case h.host != nil:
		cmd = m.switchTo(*h.host, h.SessionID)
	case h.SessionID != m.session.Summary.ID || m.opening != "":
		m.open(h.SessionID)
	}
	m.seek = sought{sessionID: h.SessionID, entryID: h.EntryID}
	m.showSought()
	return cmd
}

// sought is the entry that a search found, until it is on the screen.
type sought struct {
	sessionID, entryID string
	pages              int // of earlier entries that were loaded for it
}

// seekPages bounds how many pages of earlier entries are loaded to reach an entry.
const seekPages = 100

// goesOn reports whether earlier entries of a session are to be loaded.
func (s sought) goesOn(sessionID string) bool {
	return s.entryID != "" && s.sessionID == sessionID && s.pages < seekPages
}

// showSought shows the entry that a search found once it is loaded. The result of a call is a part
// of its card.
func (m *Model) showSought() {
	if m.seek.entryID == "" || m.seek.sessionID != m.session.Summary.ID {
		return
	}
	path := m.session.Path
	at := slices.IndexFunc(path, func(entry session.Entry) bool { return entry.ID == m.seek.entryID })
	switch {
	case at >= 0:
		for ; at >= 0 && !m.transcript.Show(path[at].ID); at-- {
		}
	case m.session.Before == 0:
		m.say("The result is on another branch: /branches shows it")
	case m.seek.pages >= seekPages:
		m.say("The result is further up: scroll up to load more")
	default:
		return
	}
	m.seek = sought{}
}
