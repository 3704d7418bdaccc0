package agent

import (
	"context"
	"errors"
	"strings"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// How a question ended, for tools, which know nothing of what travels.
const (
	Answered          = api.OutcomeAnswered
	Skipped           = api.OutcomeSkipped
	TimedOut          = api.OutcomeTimedOut
	CancelledQuestion = api.OutcomeCancelled
)

// MaxChoices is how many answers a question may offer.
const MaxChoices = api.MaxChoices

// Question is what a tool asks people.
type Question struct {
	Text    string
	Choices []string // to choose from; other answers are as good
	Server  string   // MCP server that asks; "" is the agent
	URL     string   // page that the server asks a person to open
}

// Reply is what came of a question.
type Reply struct {
	Outcome api.QuestionOutcome // "" if no one who may answer was there: it was not asked
	Answer  string              // with api.OutcomeAnswered
	By      string              // client id, token id, or "host"
}

// People answer questions of tools.
type People interface {
	// Question blocks until someone answers, its time is up, or ctx ends, which
	// is a Reply too. ErrSuspended ends the turn without a result for the call.
	Question(ctx context.Context, call Call, question Question) (Reply, error)
}

// asking gives a call its way to the people.
func (r *runner) asking(call Call) Call {
	asked := call
	if follower, ok := r.Gate.(Follower); ok {
		call.Follow = func(ctx context.Context, from, to string) error { return follower.Follow(ctx, asked, from, to) }
	}
	if r.People == nil {
		return call
	}
	call.Ask = func(ctx context.Context, question Question) (Reply, error) {
		reply, err := r.People.Question(ctx, asked, question)
		if errors.Is(err, ErrSuspended) {
			r.suspended.Store(true)
		}
		return reply, err
	}
	return call
}

// close ends the turn with what the results of a message left to say; false when it
// continues.
func (r *runner) close(ctx context.Context) (closed bool, err error) {
	if len(r.closing) == 0 {
		return false, nil
	}
	text := strings.Join(r.closing, "\n\n")
	return true, r.append(ctx, r.tidy(ctx, session.Message{Content: session.Content{session.Text(text)}}))
}
