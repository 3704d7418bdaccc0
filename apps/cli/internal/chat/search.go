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

// search asks hosts for what was typed into a list.
type search struct {
	r      remote
	others func(open string) []Host // besides the open one; nil has none
	open   string                   // device of the open one

	serial  int                // of the last search; older answers are dropped
	waiting int                // hosts that have not answered it
	stop    context.CancelFunc // ends the last search; nil if none runs
}

// searched brings what one host has found.
type searched struct {
	picker *picker
	serial int
	rows   []row
	err    error
}

// searchPicker searches the text of all sessions on all devices.
func searchPicker(r remote, others func(open string) []Host, open string) *picker {
	p := newPicker("Search all devices", "Type what to search for", func(r row) tea.Msg { return r.value })
	p.hint = "Enter: open · type to search · Esc: close"
	p.search = &search{r: r, others: others, open: open}
	return p
}

// end ends the search that runs, if any.
func (s *search) end() {
	if s.stop != nil {
		s.stop()
		s.stop = nil
	}
}

// find asks all hosts at once. What one has found is shown when it answers, whatever becomes of
// the others.
func (p *picker) find(query string) tea.Cmd {
	s := p.search
	s.serial++
	p.problem, p.rows, s.waiting = problem{}, nil, 0
	s.end() // what was typed before is not searched for any more
	if query = strings.TrimSpace(query); query == "" {
		p.empty = "Type what to search for"
		return nil
	}
	p.empty = "Nothing found"
	ctx, cancel := context.WithTimeout(s.r.ctx, searchTimeout)
	asks := s.asks(ctx, api.SearchSessionsRequest{Query: query})
	s.stop, s.waiting = cancel, len(asks)
	return after(ctx, searchPause, eachHost(p, asks))
}

// asks has a function for each host.
func (s *search) asks(ctx context.Context, request api.SearchSessionsRequest) []func() ([]row, error) {
	r := s.r.within(ctx)
	asks := []func() ([]row, error){func() ([]row, error) {
		response, err := ask(r, api.SearchSessions, request)
		return hitRows(nil, response.Hits), err
	}}
	if s.others == nil {
		return asks
	}
	for _, other := range s.others(s.open) {
		asks = append(asks, func() ([]row, error) {
			response, err := searchHost(ctx, other, request)
			return hitRows(&other, response.Hits), notSearched(other.Name, err)
		})
	}
	return asks
}

// eachHost has a command for each host, which brings what it has found.
func eachHost(p *picker, asks []func() ([]row, error)) tea.BatchMsg {
	serial := p.search.serial
	var batch tea.BatchMsg
	for _, ask := range asks {
		batch = append(batch, func() tea.Msg {
			rows, err := ask()
			return searched{p, serial, rows, err}
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

// found appends what one host has found: rows that are shown keep their places.
func (p *picker) found(msg searched, e explainer) {
	if msg.serial != p.search.serial {
		return
	}
	p.rows = append(p.rows, msg.rows...)
	if p.search.waiting--; p.search.waiting == 0 {
		p.search.end()
	}
	if msg.err != nil && p.problem == (problem{}) {
		p.problem = e.problem(msg.err)
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
