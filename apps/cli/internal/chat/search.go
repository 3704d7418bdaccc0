package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
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
	p.hint = "Enter: open · type to search · Esc: close"
	p.search = func(query string) tea.Cmd { return m.search(p, strings.TrimSpace(query)) }
	m.show(p)
	return nil
}

// search asks all hosts at once. What one has found is shown when it answers, whatever becomes of
// the others.
func (m *Model) search(p *picker, query string) tea.Cmd {
	p.serial++
	p.problem, p.rows, p.waiting = problem{}, nil, 0
	p.end() // what was typed before is not searched for any more
	if query == "" {
		p.empty = "Type what to search for"
		return nil
	}
	ctx, cancel := context.WithTimeout(m.conn.ctx, searchTimeout)
	p.stop, p.empty = cancel, "Nothing found"
	r, request := m.conn.remote().within(ctx), api.SearchSessionsRequest{Query: query}
	asks := []func() ([]row, error){func() ([]row, error) {
		response, err := ask(r, api.SearchSessions, request)
		return hitRows(nil, response.Hits), err
	}}
	if m.cfg.Others != nil {
		for _, other := range m.cfg.Others(m.conn.to.device()) {
			asks = append(asks, func() ([]row, error) {
				response, err := searchHost(ctx, other, request)
				return hitRows(&other, response.Hits), notSearched(other.Name, err)
			})
		}
	}
	p.waiting = len(asks)
	return after(ctx, searchPause, eachHost(p, asks))
}

// eachHost has a command for each host, which brings what it has found.
func eachHost(p *picker, asks []func() ([]row, error)) tea.BatchMsg {
	serial := p.serial
	var batch tea.BatchMsg
	for _, ask := range asks {
		batch = append(batch, func() tea.Msg {
			rows, err := ask()
			return picked{p, serial, rows, err, true}
		})
	}
	return batch
}

// notSearched names the host that an error is about.
func notSearched(host string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s is not searched: it did not answer in time", host)
	}
	return fmt.Errorf("%s is not searched: %w", host, err)
}

// after brings a message when a time has passed, unless ctx ends before that.
func after(ctx context.Context, pause time.Duration, msg tea.Msg) tea.Cmd {
	return func() tea.Msg {
		timer := time.NewTimer(pause)
		defer timer.Stop()
		select {
		case <-timer.C:
			return msg
		case <-ctx.Done():
			return nil
		}
	}
}

// tookSearched appends what one host has found: rows that are shown keep their places.
func (m *Model) tookSearched(msg picked) {
	p := msg.picker
	p.rows = append(p.rows, msg.rows...)
	if p.waiting--; p.waiting == 0 {
		p.end()
	}
	if msg.err != nil && p.problem == (problem{}) {
		p.problem = m.notice.problem(msg.err)
	}
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
	case h.SessionID != m.session.Summary.ID || m.session.opening != "":
		m.open(h.SessionID)
	}
	m.session.find(h.SessionID, h.EntryID)
	return cmd
}
