package agent

import (
	"context"

	"github.com/scorel/scorel/packages/protocol/session"
)

// Toolset is the tools of one session and their lifecycle. It exists as long as the
// session is known, also while the session's log is closed, because background jobs may
// run. Its methods may be called from any goroutine. The session calls Listen once, then
// for each turn Began, Prepare and Tools, Notes between model calls, and at the end
// Canceled or StopJobs where they apply; Close is the last call.
//
// A toolset that has no use for most of this embeds Stateless.
type Toolset interface {
	// Listen sets the function to call when Waking may have become true. The function
	// does not block and may be called from any goroutine.
	Listen(wake func())
	// Began starts a turn. shown are the absolute paths of the files whose text the
	// model's context holds as notes; others may be shown again.
	Began(shown []string)
	// Prepare loads what the tools of a turn depend on, before Tools. cwd is the absolute
	// working folder; project is the same in every turn of a session, except for Later.
	// Prepare returns when ctx ends, and within seconds in any case.
	Prepare(ctx context.Context, cwd string, project ProjectContext)
	// Tools returns the tools of the turn that was prepared last.
	Tools() []Tool
	// Notes returns what the model has to read before its next call, each note once.
	Notes() []session.Note
	// Waking reports whether a note is worth a turn of its own.
	Waking() bool
	// Compacted reports that a summary replaced old messages, and which files are still
	// shown. It returns the notes that the model must not lose.
	Compacted(shown []string) []session.Note
	// Activate returns the skill that a person calls by name, with the text after the name.
	// It returns false if no skill has that name.
	Activate(name, args string) (session.Note, bool)
	// Mentioned returns what a prompt names of MCP servers, resources and prompts, as far as its
	// sender may attach them. It returns when ctx ends, and within seconds in any case.
	Mentioned(ctx context.Context, text string, may Mentions) []session.Note
	// Canceled reports that a person canceled the turn. It returns when everything that
	// ends with the turn has ended.
	Canceled()
	// StopJobs ends the background jobs that run, and waits for them.
	StopJobs()
	// Close ends every process that the tools started, and waits for them.
	Close()
}

// Mentions says what the sender of a prompt may attach of MCP servers.
type Mentions struct {
	// Listed: only resources that a server lists. It answers calls for others without approval.
	Listed bool
	// Denied reports whether rules deny all tools whose names begin so; nil denies none.
	Denied func(beginning string) bool
}

// Stateless implements the methods of a Toolset, except Tools, for tools that share no
// state and start nothing in the background.
type Stateless struct{}

// Listen implements Toolset.
func (Stateless) Listen(func()) {}

// Began implements Toolset.
func (Stateless) Began([]string) {}

// Prepare implements Toolset.
func (Stateless) Prepare(context.Context, string, ProjectContext) {}

// Notes implements Toolset.
func (Stateless) Notes() []session.Note { return nil }

// Waking implements Toolset.
func (Stateless) Waking() bool { return false }

// Compacted implements Toolset.
func (Stateless) Compacted([]string) []session.Note { return nil }

// Activate implements Toolset.
func (Stateless) Activate(string, string) (session.Note, bool) { return session.Note{}, false }

// Mentioned implements Toolset.
func (Stateless) Mentioned(context.Context, string, Mentions) []session.Note { return nil }

// Canceled implements Toolset.
func (Stateless) Canceled() {}

// StopJobs implements Toolset.
func (Stateless) StopJobs() {}

// Close implements Toolset.
func (Stateless) Close() {}

// Fixed is a Toolset of tools that are always the same.
type Fixed struct {
	Stateless
	List []Tool
}

// Tools implements Toolset.
func (f Fixed) Tools() []Tool { return f.List }
