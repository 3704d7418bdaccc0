// Package agent is the turn loop. It knows neither storage nor network nor UI:
// it calls a Model, runs Tools behind a Gate, and hands every finished step to a
// Journal before anyone is notified of it.
//
// RunTurn returns once, with how the turn ended; every tool call that the model
// made has exactly one result in the journal by then, also after a cancel. A
// failed model call is data (StopError), not a Go error.
package agent

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Model streams one assistant message.
type Model interface {
	// Stream calls the model once. It reports what arrives through emit, in order
	// and from the calling goroutine, and returns the message. It does not return
	// a Go error: a failure is a message with StopError and an errorMessage for
	// people; an ended ctx is StopAborted with what had arrived. In both, a tool
	// call that is not complete is dropped, and so is a thinking block whose
	// signature did not arrive where the provider needs one.
	Stream(ctx context.Context, req Request, emit func(Delta)) session.Message
}

// Request is what one model call sees. The model may keep it and changes nothing in it:
// the next request shares its beginning.
type Request struct {
	System   string
	Messages []session.Message
	Tools    []ToolSpec
	// Thinking is how much the model thinks; "" is what the configuration says.
	Thinking ThinkingLevel
	// CacheKey is the same for all calls of a session and for no other, so that a
	// provider finds the beginning of the prompt again; "" for none.
	CacheKey string
	// NoTools forbids calls. The tools stay in the request, so that it begins as the
	// ones before it did.
	NoTools bool
}

// ThinkingLevel is how much a model thinks before it answers. Each provider has
// its own measure for it, and some models know fewer levels.
type ThinkingLevel string

// The levels, as they are written in config.toml and in session files. ThinkingOff
// is as little as the model allows.
const (
	ThinkingOff     ThinkingLevel = "off"
	ThinkingMinimal ThinkingLevel = "minimal"
	ThinkingLow     ThinkingLevel = "low"
	ThinkingMedium  ThinkingLevel = "medium"
	ThinkingHigh    ThinkingLevel = "high"
)

// ToolSpec describes a tool to a model.
type ToolSpec struct {
	Name        string
	Description string          // Markdown
	Parameters  json.RawMessage // JSON Schema of an object
}

// DeltaKind tells deltas apart.
type DeltaKind int

const (
	DeltaStart DeltaKind = iota // a block begins: Block, and for a tool call ID and Name
	DeltaText                   // the block grows by Text
	DeltaReset                  // forget all blocks: the attempt failed and is made again; Text says why
	// DeltaOverflow says, before a message with StopError, that the prompt is larger
	// than the model takes: a shorter one may pass.
	DeltaOverflow
)

// Delta is a piece of a streaming message.
type Delta struct {
	Kind  DeltaKind
	Index int // of the block in the message
	Block session.BlockType
	ID    string
	Name  string
	Text  string
	// Retry is the attempt that follows a DeltaReset; nil if the model does not say.
	Retry *Retry
	// Usage is what a failed attempt cost, with DeltaReset and where the provider said
	// it; nil else.
	Usage *session.Usage
}

// Retry describes the attempt that follows a failed one.
type Retry = api.ModelRetry

// Tool is something that the model can do.
type Tool interface {
	Spec() ToolSpec
	// Risk tells how a call must be treated.
	Risk() Risk
	// Describe says what the call would do, for the person who approves it.
	Describe(call Call) Description
	// Run does it. It does not return a Go error: a failure is a Result with
	// IsError whose text the model can act on. An ended ctx stops it with all its
	// children, and Run still returns what there is. progress may be called with
	// pieces of output until Run returns; they go to people, not to the model.
	Run(ctx context.Context, call Call, progress func(string)) Result
}

// Risk sorts tools by what they can break.
type Risk int

const (
	RiskRead  Risk = iota // changes nothing; may run beside others
	RiskWrite             // changes something: asks first, runs alone
	RiskAlone             // changes nothing, but runs alone, as a question to people does
	// RiskNote saves a note for later sessions: it is judged like RiskWrite, but asks only
	// where a rule does.
	RiskNote
)

// Changes reports whether calls change something, so that they are judged and run alone.
func (r Risk) Changes() bool { return r == RiskWrite || r == RiskNote }

// Call is one tool call.
type Call struct {
	ID        string
	Name      string
	Arguments json.RawMessage // as the model wrote them; may be invalid
	Cwd       string          // absolute; relative paths are relative to it
	Images    bool            // the model takes images, so a result may hold some
	// Ask asks the people who watch; see People. nil if no one is there to ask.
	Ask func(ctx context.Context, question Question) (Reply, error)
	// Follow says why the call may not continue to an address that it is redirected to; nil
	// follows.
	Follow func(ctx context.Context, from, to string) error
}

// Description is what an approval shows.
type Description struct {
	Title  string // one line
	Detail string // the command, or what is to be written
	IsDiff bool   // Detail is a unified diff
	// Insist says that a person is to decide, also where rules would allow the call: the
	// loop makes it again and again.
	Insist bool
	// Foreign says that a program other than the host carries the call out: what it does is
	// not known. ReadOnly is what that program says of itself.
	Foreign, ReadOnly bool
	// Paths are the files that the call would change, absolute or relative to its
	// working folder, for tools whose arguments do not name just one.
	Paths []string
	// Command is the command line that the call runs, for tools whose arguments do
	// not hold it: it is judged as one of bash is.
	Command string
	// As are further tools whose rules are about the call, which is none of the host's own. They
	// change nothing about what people are shown.
	As []string `json:"-"`
	// Choices are the answers of the program that asks, in place of allow and deny; nil has none.
	Choices []api.ApprovalChoice `json:",omitempty"`
}

// Result is the outcome of a call.
type Result struct {
	Content session.Content // for the model
	Details json.RawMessage // for people and programs; may be nil
	IsError bool
	// Closing ends the turn once every call of the message has its result: it is the last
	// message of the assistant then. "" continues.
	Closing string
}

// Journal keeps finished steps.
type Journal interface {
	// Append puts the message on disk and tells the entries, in this order. An
	// error ends the turn.
	Append(ctx context.Context, message session.Message) error
}

// Gate decides whether a call may run.
type Gate interface {
	// Ask blocks until someone decides or ctx ends. No answer means no: the zero
	// Decision and every error deny; a *Refusal says what the model reads, and
	// ErrSuspended ends the turn without a result for the call.
	Ask(ctx context.Context, call Call, what Description) (api.Decision, error)
}

// Follower is a Gate that also judges where an allowed call is redirected to.
type Follower interface {
	// Follow returns why the call may not go from one address to another, or nil.
	Follow(ctx context.Context, call Call, from, to string) error
}

// Refusal is the error of a Gate that tells the model why.
type Refusal struct{ Text string }

func (r *Refusal) Error() string { return r.Text }

// ErrSuspended is the error of a Gate whose host ends while a call waits: the turn
// can be taken up again with Turn.Resume.
var ErrSuspended = errors.New("agent: the turn waits for the next start of the host")

// Sink receives what is not in the journal: deltas, tools that start, output.
type Sink interface {
	// Emit hands over one event. It returns when the receiver has queued it: a receiver
	// that is storing an entry makes the turn wait once its queue is full, for as long
	// as the store may take.
	Emit(event api.Event)
}

// ProjectContext is what the model is given about the folder of a session: instructions, skills
// and environment. It is read once, except for Later.
type ProjectContext struct {
	Instructions session.Instructions
	Skills       session.Skills
	// MayDelegate tells which agents the session may give tasks to; nil is all.
	MayDelegate func(name string) bool
	Memory      session.Memory
	Environment session.Environment // without a date: the session is from before there was one
	// Later are skills that the session did not have when it began. No prompt and no
	// tool names them, so that both stay the same; people may call them.
	Later []session.SkillInfo
	// Off reports whether people disabled a skill; nil disables none.
	Off func(skill string) bool
}

// WithoutSkillsOff returns the context without the skills that people disabled.
func (p ProjectContext) WithoutSkillsOff() ProjectContext {
	if p.Off == nil {
		return p
	}
	off := func(info session.SkillInfo) bool { return p.Off(info.Name) }
	p.Skills.Skills = slices.DeleteFunc(slices.Clone(p.Skills.Skills), off)
	p.Later = slices.DeleteFunc(slices.Clone(p.Later), off)
	return p
}
