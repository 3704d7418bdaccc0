package sessions

import (
	"context"
	"slices"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/sessions/read"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/protocol/session"
)

// notes writes what the tools have to tell the model into the log, such as jobs that ended.
// The session's goroutine owns it.
type notes struct {
	*core
	tools   agent.Toolset
	waiting []session.Note // that are not in the log yet
	// started is how many turns in a row background jobs have started.
	started int
}

// maxStarted is how many turns in a row background jobs may start. After these, the next turn
// needs a person.
const maxStarted = 10

// write writes a note into the log and returns it as the model receives it.
func (n *notes) write(turnID string, note session.Note) (session.Message, error) {
	custom, err := noteMessage(note)
	if err != nil {
		return session.Message{}, err
	}
	entry, err := n.append(store.Mark{TurnID: turnID}, func(ctx context.Context, mark store.Mark) (session.Entry, error) {
		return n.log.AppendCustomMessage(ctx, mark, custom)
	})
	if err != nil {
		return session.Message{}, err
	}
	message, _ := read.PromptMessage(entry.ContextMessage())
	return message, nil
}

// noteMessage is a note as the log keeps it.
func noteMessage(note session.Note) (store.CustomMessage, error) {
	content, err := session.Encode(note.Text)
	if err != nil {
		return store.CustomMessage{}, err
	}
	details, err := session.Encode(session.NoteRecord{Kind: note.Kind, Paths: note.Paths, Jobs: note.Jobs, Wakes: note.Wakes})
	return store.CustomMessage{CustomType: session.CustomNote, Content: content, Display: true, Details: details}, err
}

// collect takes over the notes of the tools; false if no note waits then.
func (n *notes) collect() bool {
	n.waiting = append(n.waiting, n.tools.Notes()...)
	return len(n.waiting) > 0
}

// writeAll writes the notes of the tools into the log. Those that cannot be written wait.
func (n *notes) writeAll(turnID string) ([]session.Message, error) {
	n.collect()
	var messages []session.Message
	for len(n.waiting) > 0 {
		message, err := n.write(turnID, n.waiting[0])
		if err != nil {
			return messages, err
		}
		n.waiting = n.waiting[1:]
		messages = append(messages, message)
	}
	return messages, nil
}

// restoreCompacted writes again what a compaction must not lose.
func (n *notes) restoreCompacted(turnID string) {
	for _, note := range n.tools.Compacted(read.Context(n.log.Tree()).Shown) {
		if _, err := n.write(turnID, note); err != nil {
			n.logger.Error("storing a reminder", "session", n.id, "error", err)
		}
	}
}

// wantTurn reports whether a note waits that is worth a turn of its own, and may have one.
func (n *notes) wantTurn() bool {
	wakes := slices.ContainsFunc(n.waiting, func(note session.Note) bool { return note.Wakes }) || n.tools.Waking()
	return wakes && n.started < maxStarted
}

// writeForTurn writes the notes that start a turn, and counts the turn; false if there is
// none. The first note says in the log that the turn begins.
func (n *notes) writeForTurn(turnID string) bool {
	if !n.collect() {
		return false
	}
	n.waiting[0].Wakes = true
	messages, err := n.writeAll(turnID)
	if err != nil {
		n.logger.Error("notifying the agent of a job that ended", "session", n.id, "error", err)
	}
	if len(messages) == 0 {
		return false
	}
	n.started++
	return true
}

// restore reads from the log how many turns jobs have started, and which jobs are lost. The
// model receives a note about these at its next step, or in a turn of its own if the end of one
// of them was to start a turn.
func (n *notes) restore() {
	tree := n.log.Tree()
	n.started = read.Wakes(tree)
	jobs := read.LostJobs(tree)
	if len(jobs) == 0 {
		return
	}
	note := lostNote(jobs)
	note.Wakes = n.parent == "" && n.digest.Wants(jobs)
	n.waiting = append(n.waiting, note)
}

// lostNote reports the background jobs that a session has lost.
func lostNote(jobs []string) session.Note {
	return session.Note{
		Kind: session.NoteJobs, Jobs: jobs,
		Text: "This session no longer has these background jobs, because the host was restarted or the session is a copy: " +
			strings.Join(jobs, ", ") + ". Their names may be reused. Restart what is still needed.",
	}
}
