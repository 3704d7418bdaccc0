package schedule

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/scorel/scorel/apps/host/internal/outside"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/visible"
)

// Times and limits of looks at GitHub.
const (
	askEvery   = time.Minute
	maxPause   = 16 * time.Minute // after failures
	askTimeout = 2 * time.Minute
	// overlap is how far each look goes back: lists may show an item late, and shift while
	// they are read.
	overlap  = 10 * time.Minute
	pageSize = 100
	maxPages = 50
	maxReply = 16 << 20 // bytes of one page
)

// GH runs the gh program, which has its own login.
type GH struct {
	Program string // "" is gh in PATH
	Environ func() []string
}

// Get returns the answer of GitHub's REST API to a GET.
func (g GH) Get(ctx context.Context, path string) ([]byte, error) {
	program := cmp.Or(g.Program, "gh")
	cmd := exec.CommandContext(ctx, program, "api", "--method", "GET", "-H", "Accept: application/vnd.github+json", path)
	cmd.Env = append(g.Environ(), "GH_PROMPT_DISABLED=1", "GH_NO_UPDATE_NOTIFIER=1", "NO_COLOR=1")
	cmd.WaitDelay = time.Second
	var out, problem limited
	out.most, problem.most = maxReply, 4<<10
	cmd.Stdout, cmd.Stderr = &out, &problem
	err := cmd.Run()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return nil, errors.New("gh is not installed on this machine: install it and log in with `gh auth login`")
	case err != nil:
		line, _, _ := strings.Cut(strings.TrimSpace(outside.Clean(problem.String())), "\n")
		return nil, fmt.Errorf("gh failed: %s", cmp.Or(line, err.Error()))
	case out.Len() >= maxReply:
		return nil, errors.New("gh returned too much")
	}
	return out.Bytes(), nil
}

// limited keeps the first bytes of what is written to it.
type limited struct {
	bytes.Buffer
	most int
}

func (l *limited) Write(p []byte) (int, error) {
	l.Buffer.Write(p[:min(len(p), max(l.most-l.Len(), 0))])
	return len(p), nil
}

// item is an issue, a pull request or a comment.
type item struct {
	ID        int64     `json:"id"`
	CreatedAt time.Time `json:"created_at"`
	Title     string    `json:"title"`
	Body      string    `json:"body"`
	URL       string    `json:"html_url"`
	User      struct {
		Login string `json:"login"`
	} `json:"user"`
	kind string
}

func (i item) key() string { return fmt.Sprintf("github:%s:%d", i.kind, i.ID) }

// lists are what is read of a repository. Issues include pull requests.
func lists() []string { return []string{"issues", "issues/comments", "pulls/comments"} }

// ask reads what is new on GitHub for a schedule.
func (s *Scheduler) ask(id string) {
	r := s.records[id]
	g := *r.Spec.When.GitHub
	from := time.UnixMilli(r.Handled)
	if cursor, err := time.Parse(time.RFC3339, r.Cursor); err == nil && cursor.Add(-overlap).After(from) {
		from = cursor.Add(-overlap)
	}
	s.goTo(func(ctx context.Context) func() {
		ctx, cancel := context.WithTimeout(ctx, askTimeout)
		defer cancel()
		items, err := readNew(ctx, s.GitHub, g.Repository, from.Truncate(time.Second))
		return func() { s.asked(id, r, items, err) }
	})
}

// readNew returns what was created since a time, oldest first.
func readNew(ctx context.Context, get func(context.Context, string) ([]byte, error), repository string, from time.Time) ([]item, error) {
	var all []item
	for _, kind := range lists() {
		query := "sort=created&direction=desc"
		if kind == "issues" {
			query += "&state=all"
		}
		items, err := readList(ctx, get, fmt.Sprintf("repos/%s/%s?%s", repository, kind, query), from)
		if err != nil {
			return nil, err
		}
		for i := range items {
			items[i].kind = kind
		}
		all = append(all, items...)
	}
	slices.SortStableFunc(all, func(a, b item) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return all, nil
}

func readList(ctx context.Context, get func(context.Context, string) ([]byte, error), path string, from time.Time) ([]item, error) {
	var items []item
	for page := 1; page <= maxPages; page++ {
		data, err := get(ctx, fmt.Sprintf("%s&per_page=%d&page=%d", path, pageSize, page))
		if err != nil {
			return nil, err
		}
		var found []item
		if err := json.Unmarshal(data, &found); err != nil {
			return nil, errors.New("gh returned no list: update it")
		}
		for _, one := range found {
			if one.CreatedAt.Before(from) {
				return items, nil
			}
			items = append(items, one)
		}
		if len(found) < pageSize {
			return items, nil
		}
	}
	return nil, fmt.Errorf("there are more than %d new items in the repository: save the schedule again to begin from now", maxPages*pageSize)
}

// asked runs the schedule for new items of its authors that have its phrase. asking is the
// schedule as it was when the look began.
func (s *Scheduler) asked(id string, asking record, items []item, err error) {
	delete(s.polling, id)
	if !s.looksOn(id, asking) {
		return
	}
	g := *asking.Spec.When.GitHub
	s.failures[id]++
	if err == nil {
		delete(s.failures, id)
	}
	pause := askEvery
	if n := s.failures[id]; n > 1 {
		pause = min(askEvery<<min(n-1, 4), maxPause)
	}
	s.polls[id] = s.Now().Add(pause)
	if s.problem(id, err); err != nil || len(items) == 0 {
		return
	}
	for _, one := range items {
		if !wanted(g, one) {
			continue
		}
		if r := s.records[id]; r.full() && !r.saw(one.key()) {
			return // the next look finds it again
		}
		event := newRun(api.CauseGitHub, one.key(), s.Now().UnixMilli())
		event.Source = "GitHub"
		event.Text = clip(strings.TrimSpace(fmt.Sprintf("%s wrote in %s:\n\n%s\n\n%s", one.User.Login, one.URL, one.Title, one.Body)))
		if !s.fire(id, event) {
			return
		}
	}
	last := items[len(items)-1].CreatedAt.UTC().Format(time.RFC3339)
	if s.records[id].Cursor != last {
		s.change(id, func(r *record) { r.Cursor = last })
	}
}

// wanted reports whether an author of the list wrote the phrase.
func wanted(g api.ScheduleGitHub, one item) bool {
	listed := slices.ContainsFunc(g.Authors, func(login string) bool { return strings.EqualFold(login, one.User.Login) })
	return listed && strings.Contains(strings.ToLower(one.Title+"\n"+one.Body), strings.ToLower(g.Phrase))
}

// clip bounds a text from outside.
func clip(text string) string {
	if len(text) <= MaxDelivery {
		return text
	}
	return visible.Head(text, MaxDelivery) + "\n(the rest is left out)"
}
