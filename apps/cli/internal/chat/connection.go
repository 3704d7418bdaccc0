package chat

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/scorel/scorel/apps/cli/internal/chat/feed"
	"github.com/scorel/scorel/apps/cli/internal/sanitize"
	"github.com/scorel/scorel/packages/protocol/api"
)

// remote is the host that requests go to, for as long as its feed is followed.
type remote struct {
	ctx       context.Context
	feed      *feed.Feed
	connected bool // when it was asked for
}

// within bounds requests by another context.
func (r remote) within(ctx context.Context) remote {
	r.ctx = ctx
	return r
}

// ask sends a request and waits for its answer.
func ask[Request, Response any](r remote, to api.Definition[Request, Response], request Request) (Response, error) {
	return feed.Do(r.ctx, r.feed, to, request)
}

// said is the outcome of a request that changes nothing here.
type said struct {
	text string // shown after success; "" shows nothing
	err  error
}

// order sends a request whose answer only matters if it fails.
func order[Request, Response any](r remote, done string, to api.Definition[Request, Response], request Request) tea.Cmd {
	return func() tea.Msg {
		_, err := ask(r, to, request)
		return said{done, err}
	}
}

// connection follows one session on one host, and knows how the host is reached.
type connection struct {
	ctx   context.Context
	wake  chan struct{} // holds one token when the feed has something
	watch bool          // no grant is used

	to       Host
	feed     *feed.Feed
	stop     context.CancelFunc // ends the feed
	feeds    sync.WaitGroup     // of all feeds so far
	switched bool               // the host is not the one of the command

	host      api.HostInfo
	connected bool
	ever      bool // a connection was there
	lost      error
	retryAt   time.Time
}

// follow follows a session on a host, and nothing else from then on.
func (c *connection) follow(to Host, sessionID string) {
	if c.stop != nil {
		c.stop()
		c.switched = true
	}
	ctx, cancel := context.WithCancel(c.ctx)
	f := feed.New(feed.Config{
		Dial: to.Dial, Follow: to.Follow, Lost: to.Lost, After: to.After, Wait: to.Wait, Unattended: c.watch, Guest: to.Guest,
		Notify: func() {
			select {
			case c.wake <- struct{}{}:
			default:
			}
		},
	}, sessionID)
	c.to, c.feed, c.stop = to, f, cancel
	c.connected, c.ever, c.lost = false, false, nil
	c.feeds.Go(func() { f.Run(ctx) })
}

// remote is the host that is followed.
func (c *connection) remote() remote { return remote{c.ctx, c.feed, c.connected} }

// opened notes a new connection, and reports whether it is the first one.
func (c *connection) opened(host api.HostInfo) (first bool) {
	first = !c.ever
	c.host, c.connected, c.ever, c.lost = host, true, true, nil
	return first
}

// broke notes the loss of the connection.
func (c *connection) broke(u feed.Disconnected) {
	c.connected, c.lost, c.retryAt = false, u.Err, u.Next
}

// moved notes that the session is on another device now, which the feed reaches by itself.
func (c *connection) moved(name string) {
	c.to.Name, c.switched, c.connected = name, true, false
}

// may reports whether this connection has a grant, and uses it.
func (c *connection) may(grant api.Grant) bool {
	return !c.watch && slices.Contains(c.host.Grants, grant)
}

// path names the path in use, for people; "" if that is not known.
func (c *connection) path() string {
	if c.to.Path == nil || !c.connected {
		return ""
	}
	return sanitize.Line(c.to.Path())
}

// loss says that the host is away, and when the next attempt is.
func (c *connection) loss(e explainer, now time.Time) problem {
	wait := max(c.retryAt.Sub(now).Round(time.Second), 0)
	p := e.problem(c.lost)
	p.text = fmt.Sprintf("Disconnected, trying again in %s: %s", wait, p.text)
	return p
}

// demo reports whether a model of the host is no AI.
func (c *connection) demo(model string) bool {
	return slices.ContainsFunc(c.host.Models, func(m api.Model) bool { return m.Name == model && m.Demo })
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

// drawEvery is how often new events are taken over: 30 times a second, whatever the rate of
// the model.
const drawEvery = 33 * time.Millisecond

// woken means that the feed has something.
type woken struct{}

// listen waits for the feed, but not less than a pause.
func (c *connection) listen(pause time.Duration) tea.Cmd {
	return func() tea.Msg {
		timer := time.NewTimer(pause)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-c.ctx.Done():
			return nil
		}
		select {
		case <-c.wake:
			return woken{}
		case <-c.ctx.Done():
			return nil
		}
	}
}
