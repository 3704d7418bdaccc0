package sessions

import (
	"context"
	"errors"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/process"
	"github.com/scorel/scorel/apps/host/internal/sessions/index"
	"github.com/scorel/scorel/apps/host/internal/sessions/read"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// runner runs turns, each in a goroutine of its own, which reaches the state of the session
// only through functions that it sends to the session's goroutine.
type runner struct {
	*core
	turns      *turns
	judge      *judge
	hooks      *hooks
	approvals  *approvals
	questions  *questions
	prompts    *prompts
	summaries  *summaries
	notes      *notes
	setup      *setup
	operations *operations
	tools      agent.Toolset
}

// start runs the turn that has just been announced, and has the session's goroutine call ended
// after it.
func (r *runner) start(ctx context.Context, prompt session.QueuedPrompt, ended func(agent.Outcome)) {
	running := r.turns.running
	hooked := &turnHooks{hooks: r.hooks, judge: r.judge, turnID: running.id, person: prompt.ClientKey != "" && !r.turns.isTask(prompt)}
	turn, work, err := r.prepare(hooked)
	turn.Resume = running.resumed && !running.inSetup()
	task := r.turns.isTask(prompt)
	working := r.working()
	go func() {
		text := prompt.Text
		if running.resumed { // what waits keeps the prompt without it
			text = lastText(turn.Messages)
		}
		if task { // a model wrote its text, which calls no skill
			text = ""
		}
		outcome := r.run(ctx, hooked, turn, work, text, err)
		if task { // its background jobs would be unreachable
			r.tools.StopJobs()
		}
		working()
		r.deliver(func() { ended(outcome) })
	}()
}

// working notes that a turn runs until the returned function is called.
func (r *runner) working() (ended func()) {
	if r.deps.Working == nil {
		return func() {}
	}
	return r.deps.Working()
}

// lastText returns the text of the last message, if that is a prompt.
func lastText(messages []session.Message) string {
	if len(messages) == 0 || messages[len(messages)-1].Role != session.RoleUser {
		return ""
	}
	return messages[len(messages)-1].Content.Plain()
}

// prepare makes the turn of the agent, but for its tools and system prompt, and returns what
// works on it; nil is scorel's own loop.
func (r *runner) prepare(hooked *turnHooks) (agent.Turn, agent.Runner, error) {
	if r.summary.Backend != "" {
		return r.prepareForeign(hooked)
	}
	model, info, err := r.deps.Models.Model(r.summary.Model)
	if err != nil {
		return agent.Turn{}, nil, err
	}
	now := read.Context(r.log.Tree())
	now.Messages = inOrder(now.Messages)
	r.tools.Began(now.Shown)
	j := journal{r, r.turns.running.id, info, hooked}
	turn := agent.Turn{
		Model:    model,
		Journal:  j,
		Steer:    j.Steer,
		Tell:     j.Tell,
		Spent:    j.Spent,
		Gate:     gate{r.approvals, hooked},
		After:    hooked.after,
		Afford:   func() error { return r.others.afford(r.id) },
		People:   people{r.questions},
		Sink:     sink{r.core},
		Messages: now.Messages,
		Cwd:      r.project.Path,
		Provider: info.Provider,
		ModelID:  info.ID,
		MaxSteps: r.deps.MaxSteps,
		Images:   info.Images,

		Thinking: agent.ThinkingLevel(r.summary.Thinking), CacheKey: r.id, ContextWindow: info.ContextWindow,
	}
	if share := r.deps.Summaries.Share; share > 0 {
		turn.RoomAt = int(share * float64(info.ContextWindow))
		turn.Compact = j.Compact
	}
	return turn, nil, nil
}

// run equips the turn and has work, or the own agent, work on it. text is that of its prompt; err
// is why it could not be prepared.
func (r *runner) run(ctx context.Context, hooked *turnHooks, turn agent.Turn, work agent.Runner, text string, err error) agent.Outcome {
	ctx = process.WithSink(ctx, r.operations.sink)
	outcome := agent.Outcome{StopReason: session.StopError}
	if err == nil {
		err = r.enterWorktree(ctx, hooked.turnID, &turn)
	}
	if err == nil {
		defer r.record(ctx, &turn)()
	}
	if err == nil && work == nil { // another program has tools and skills of its own
		err = r.setup.equip(ctx, &turn)
	}
	if err == nil {
		hooked.load(turn.Cwd)
		turn.Tools = hooked.hookedTools(turn.Tools)
	}
	if err == nil && !turn.Resume && work == nil {
		err = r.activate(ctx, &turn, text)
	}
	if err == nil && !turn.Resume && hooked.person {
		var messages []session.Message
		messages, err = r.mentioned(ctx, turn.Tell, text)
		turn.Messages = append(turn.Messages, messages...)
	}
	if err == nil && !turn.Resume && hooked.person {
		err = hooked.begin(ctx, &turn, text)
	}
	switch {
	case err == nil && work != nil:
		outcome = work.Run(ctx, turn)
	case err == nil && r.deps.Observe != nil:
		outcome = agent.RunTurn(ctx, observed(turn))
	case err == nil:
		outcome = agent.RunTurn(ctx, turn)
	case errors.Is(err, agent.ErrSuspended):
		outcome.Suspended = true
	case ctx.Err() != nil:
		outcome.StopReason = session.StopAborted
	default:
		outcome.Error = err.Error()
	}
	if outcome.StopReason == session.StopAborted {
		r.tools.Canceled()
	}
	return outcome
}

// record calls Deps.Began while the turn asks its model; the tools wait for it. stop ends it.
func (r *runner) record(ctx context.Context, turn *agent.Turn) (stop func()) {
	if r.deps.Began == nil || r.parent != "" {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	recorded := make(chan struct{})
	go func() {
		defer close(recorded)
		r.deps.Began(ctx, r.id, r.project)
	}()
	turn.Ready = recorded
	return func() {
		cancel()
		<-recorded
	}
}

// activate gives the turn the skill that its prompt calls by name. A prompt that calls none is
// just text.
func (r *runner) activate(ctx context.Context, turn *agent.Turn, text string) error {
	message, ok, err := activated(ctx, r.tools, turn.Tell, text)
	if ok && err == nil {
		turn.Messages = append(turn.Messages, message)
	}
	return err
}

func activated(
	ctx context.Context, tools agent.Toolset, tell func(context.Context, session.Note) (session.Message, error), text string,
) (message session.Message, ok bool, err error) {
	name, args, ok := slashWord(text)
	if !ok {
		return message, false, nil
	}
	note, ok := tools.Activate(name, args)
	if !ok {
		return message, false, nil
	}
	message, err = tell(context.WithoutCancel(ctx), note)
	return message, true, err
}

// mentioned gives the turn what a person's prompt names of MCP servers. Text from outside in it names
// nothing.
func (r *runner) mentioned(
	ctx context.Context, tell func(context.Context, session.Note) (session.Message, error), text string,
) (messages []session.Message, err error) {
	if strings.Contains(text, "<<<outside-") {
		return nil, nil
	}
	may, err := inside(ctx, &r.owner, func() (agent.Mentions, error) { return r.judge.mentions(), nil })
	if err != nil {
		return nil, err
	}
	for _, note := range r.tools.Mentioned(ctx, text, may) {
		message, err := tell(context.WithoutCancel(ctx), note)
		if err != nil {
			return messages, err
		}
		messages = append(messages, message)
	}
	return messages, nil
}

// sink publishes what of a turn is not in the log. It implements agent.Sink.
type sink struct{ *core }

// Emit implements agent.Sink.
func (k sink) Emit(event api.Event) { k.deliver(func() { k.publish(event) }) }

// journal is how a turn reads and writes the log. It implements agent.Journal.
type journal struct {
	*runner
	turnID string
	model  api.Model
	hooks  *turnHooks
}

var _ agent.Journal = journal{}

// Append implements agent.Journal. What has happened is stored however long the session is busy:
// each entry has its own bound.
func (j journal) Append(ctx context.Context, message session.Message) error {
	if message.Timestamp == 0 {
		message.Timestamp = nowMillis()
	}
	return j.change(context.WithoutCancel(ctx), func() error {
		_, err := j.appendMessage(store.Mark{TurnID: j.turnID}, message)
		j.updateSummary()
		return err
	})
}

// Tell implements agent.Turn.Tell. It waits as Append does.
func (j journal) Tell(ctx context.Context, note session.Note) (message session.Message, err error) {
	return inside(context.WithoutCancel(ctx), &j.owner, func() (session.Message, error) { return j.notes.write(j.turnID, note) })
}

// Spent implements agent.Turn.Spent: it records the usage of an attempt whose message is not
// kept. It waits as Append does.
func (j journal) Spent(ctx context.Context, usage session.Usage) {
	err := j.do(context.WithoutCancel(ctx), func() {
		j.appendUsage(index.UsageAttempt, &session.Message{Provider: j.model.Provider, Model: j.model.ID, Usage: &usage})
		j.updateSummary()
	})
	if err != nil {
		j.logger.Error("storing the usage of an attempt", "session", j.id, "error", err)
	}
}

// Steer implements agent.Turn.Steer: it gives the turn the notes that wait and the steering
// prompts, with the skills that these call.
func (j journal) Steer(ctx context.Context) (messages []session.Message, err error) {
	messages, err = inside(ctx, &j.owner, func() ([]session.Message, error) {
		noted, err := j.notes.writeAll(j.turnID)
		if err != nil {
			return noted, err
		}
		prompts, err := j.prompts.takeSteering(j.turnID)
		return append(noted, prompts...), err
	})
	if err != nil {
		return messages, err
	}
	var out []session.Message
	for _, message := range messages {
		out = append(out, message)
		if !message.Steer {
			continue
		}
		added, err := j.steered(ctx, message.Content.Plain())
		out = append(out, added...)
		if err != nil {
			return out, err
		}
		skill, ok, err := activated(ctx, j.tools, j.Tell, message.Content.Plain())
		if err != nil {
			return out, err
		}
		if ok {
			out = append(out, skill)
		}
		notes, err := j.mentioned(ctx, j.Tell, message.Content.Plain())
		out = append(out, notes...)
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// steered runs the hooks of a prompt that was sent to the turn, and returns what they add.
func (j journal) steered(ctx context.Context, text string) (messages []session.Message, err error) {
	notes, err := j.hooks.steered(ctx, text)
	for _, note := range notes {
		message, tellErr := j.Tell(context.WithoutCancel(ctx), note)
		if tellErr != nil {
			return messages, tellErr
		}
		messages = append(messages, message)
	}
	return messages, err
}
