package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/packages/loopback"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
	"github.com/scorel/scorel/packages/protocol/visible"
)

// Bounds of what a server may ask people during one call.
const (
	maxElicitations = 8
	maxMessage      = 2000 // characters
)

// askings are the calls of a server during which it may ask people: elicitation. What it asks
// is a question of the session that made the call. A server of an older revision does not say
// which call a question belongs to: it may ask only while it has a single call.
type askings struct {
	mu    sync.Mutex
	calls map[*asking]struct{}
}

// asking is one call. Its time limit does not count while people are asked.
type asking struct {
	call   agent.Call
	server *server
	clock  clock
	stop   context.CancelFunc

	mu    sync.Mutex // held while people are asked: one question at a time
	count int
	notes []string // why people were not asked, for the model
}

type askingKey struct{}

// begin registers a call and returns its context, which ends after the server's time limit.
func (a *askings) begin(ctx context.Context, call agent.Call, s *server) (context.Context, *asking) {
	limited, stop := context.WithCancel(ctx)
	one := &asking{call: call, server: s, stop: stop}
	one.clock.start(s.spec.call, stop)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.calls == nil {
		a.calls = map[*asking]struct{}{}
	}
	a.calls[one] = struct{}{}
	return context.WithValue(limited, askingKey{}, one), one
}

func (a *askings) end(one *asking) {
	one.clock.stop()
	one.stop()
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.calls, one)
}

// elicit answers a server that asks people. Without a call that it belongs to, no one is asked.
func (a *askings) elicit(ctx context.Context, request *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
	one, ok := ctx.Value(askingKey{}).(*asking)
	if !ok {
		a.mu.Lock()
		for only := range a.calls {
			one = only
		}
		if len(a.calls) != 1 {
			one = nil
		}
		a.mu.Unlock()
	}
	if one == nil {
		return &sdk.ElicitResult{Action: "decline"}, nil
	}
	return one.elicit(ctx, request.Params), nil
}

// elicit asks people what a server wants to know.
func (a *asking) elicit(ctx context.Context, p *sdk.ElicitParams) *sdk.ElicitResult {
	a.mu.Lock()
	defer a.mu.Unlock()
	defer a.clock.pause()()
	decline := func(why string, args ...any) *sdk.ElicitResult {
		a.notes = append(a.notes, fmt.Sprintf("The server %s wanted to ask the user something. ", a.server.spec.name)+fmt.Sprintf(why, args...))
		return &sdk.ElicitResult{Action: "decline"}
	}
	if a.count++; a.count > maxElicitations {
		if a.count > maxElicitations+1 { // said once
			return &sdk.ElicitResult{Action: "decline"}
		}
		return decline("It was declined, because the server had asked %d times during this call, which is the limit.", maxElicitations)
	}
	if a.call.Ask == nil {
		return decline("It was declined, because no one can be asked here.")
	}
	form, err := formOf(p)
	if err != nil {
		return decline("It was declined, because %v.", err)
	}
	content, outcome := form.ask(ctx, a)
	switch outcome {
	case agent.Answered:
		return &sdk.ElicitResult{Action: "accept", Content: content}
	case agent.Skipped:
		return decline("The user declined.")
	case "":
		return decline("It was declined, because no one who may answer is present.")
	}
	return &sdk.ElicitResult{Action: "cancel"}
}

// put asks one question.
func (a *asking) put(ctx context.Context, q agent.Question) agent.Reply {
	q.Server = a.server.spec.name
	reply, err := a.call.Ask(ctx, q)
	if err != nil {
		return agent.Reply{Outcome: agent.CancelledQuestion}
	}
	return reply
}

// opened reports whether a call failed because people must open pages first, and they did. It is
// how servers of the revision 2025-11-25 ask for that.
func (a *asking) opened(ctx context.Context, err error) bool {
	var refused *jsonrpc.Error
	if !errors.As(err, &refused) || refused.Code != sdk.CodeURLElicitationRequired {
		return false
	}
	var data struct {
		Elicitations []*sdk.ElicitParams `json:"elicitations"`
	}
	if json.Unmarshal(refused.Data, &data) != nil || len(data.Elicitations) == 0 {
		return false
	}
	for _, p := range data.Elicitations {
		if p == nil || p.URL == "" || a.elicit(ctx, p).Action != "accept" {
			return false
		}
	}
	return true
}

// noted adds to a result why people were not asked.
func (a *asking) noted(result agent.Result) agent.Result {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, note := range a.notes {
		result.Content = append(result.Content, session.Text("["+note+"]"))
	}
	return result
}

// form is what a server wants to know: fields, a page to open, or neither, which is a yes.
type form struct {
	message string
	url     string
	fields  []field
}

// formOf reads a request of a server. The error is the end of a sentence.
func formOf(p *sdk.ElicitParams) (form, error) {
	f := form{message: visible.Shorten(strings.TrimSpace(strings.ToValidUTF8(p.Message, "\uFFFD")), maxMessage)}
	if p.Mode == "url" || p.Mode == "" && p.URL != "" {
		u, err := url.Parse(p.URL)
		local := err == nil && u.Scheme == "http" && loopback.Is(u.Host)
		if err != nil || len(p.URL) > 4096 || u.Hostname() == "" || u.User != nil || u.Scheme != "https" && !local {
			return f, errors.New("the page to open has no address that begins with https://")
		}
		f.url = u.String()
		return f, nil
	}
	if p.RequestedSchema == nil {
		return f, nil
	}
	var err error
	f.fields, err = fieldsOf(p.RequestedSchema)
	return f, err
}

const (
	choiceOpened = "I opened the page and finished there"
	choiceAccept = "Accept"
)

// ask asks all of a form. The outcome is agent.Answered if all is answered.
func (f form) ask(ctx context.Context, a *asking) (content map[string]any, outcome api.QuestionOutcome) {
	if f.url != "" {
		u, _ := url.Parse(f.url) // formOf has parsed it
		text := fmt.Sprintf("%s\n\nOpen this page at %s?\n%s", f.message, u.Host, f.url)
		return nil, a.put(ctx, agent.Question{Text: strings.TrimSpace(text), Choices: []string{choiceOpened}, URL: f.url}).Outcome
	}
	content = map[string]any{}
	if len(f.fields) == 0 {
		return content, a.put(ctx, agent.Question{Text: f.message, Choices: []string{choiceAccept}}).Outcome
	}
	for i, field := range f.fields {
		problem := ""
		for try := 0; ; try++ {
			reply := a.put(ctx, field.question(f.message, i, len(f.fields), problem))
			if reply.Outcome != agent.Answered {
				return nil, reply.Outcome
			}
			value, err := field.parse(reply.Answer)
			if err != nil && try < maxTries {
				problem = err.Error()
				continue
			}
			if err != nil {
				return nil, agent.CancelledQuestion
			}
			if value != nil {
				content[field.name] = value
			}
			break
		}
	}
	return content, agent.Answered
}

// clock is a time limit that can be paused.
type clock struct {
	mu     sync.Mutex
	timer  *time.Timer
	left   time.Duration
	since  time.Time
	paused int
	over   bool
}

func (c *clock) start(limit time.Duration, end func()) {
	c.left, c.since = limit, time.Now()
	c.timer = time.AfterFunc(limit, end)
}

// pause stops the clock until resume is called.
func (c *clock) pause() (resume func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.paused++; c.paused == 1 && c.timer.Stop() {
		c.left -= time.Since(c.since)
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.paused--; c.paused == 0 && !c.over {
			c.since = time.Now()
			c.timer.Reset(max(c.left, time.Millisecond))
		}
	}
}

func (c *clock) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	c.timer.Stop()
}
