package sessions

import (
	"context"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/gate"
	"github.com/scorel/scorel/apps/host/internal/sessions/read"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// maxWakes is how many turns in a row background jobs may begin; then a person is
// waited for.
const maxWakes = 10

// keepNote puts a note on disk and returns it as the model is given it.
func (s *Session) keepNote(turnID string, note session.Note) (session.Message, error) {
	content, err := session.Encode(note.Text)
	if err != nil {
		return session.Message{}, err
	}
	details, err := session.Encode(session.NoteRecord{Kind: note.Kind, Paths: note.Paths, Jobs: note.Jobs})
	if err != nil {
		return session.Message{}, err
	}
	entry, err := s.keep(store.Mark{TurnID: turnID}, func(ctx context.Context, mark store.Mark) (session.Entry, error) {
		return s.log.AppendCustomMessage(ctx, mark, store.CustomMessage{
			CustomType: session.CustomNote, Content: content, Display: true, Details: details,
		})
	})
	if err != nil {
		return session.Message{}, err
	}
	message, _ := read.PromptMessage(entry.ContextMessage())
	return message, nil
}

// Tell implements agent.Turn.Tell.
func (j journal) Tell(ctx context.Context, note session.Note) (message session.Message, err error) {
	doErr := j.s.do(ctx, func() { message, err = j.s.keepNote(j.turnID, note) })
	if doErr != nil {
		return message, refuse(doErr)
	}
	return message, refuse(err)
}

// tellWaiting keeps what the tools have to say. What cannot be kept waits.
func (s *Session) tellWaiting(turnID string) ([]session.Message, error) {
	if s.noter != nil {
		s.unsaid = append(s.unsaid, s.noter.Notes()...)
	}
	var messages []session.Message
	for len(s.unsaid) > 0 {
		message, err := s.keepNote(turnID, s.unsaid[0])
		if err != nil {
			return messages, err
		}
		s.unsaid = s.unsaid[1:]
		messages = append(messages, message)
	}
	return messages, nil
}

// remind puts back what a compaction must not lose.
func (s *Session) remind(turnID string) {
	if s.noter == nil {
		return
	}
	for _, note := range s.noter.Compacted(read.Context(s.log.Tree()).Shown) {
		if _, err := s.keepNote(turnID, note); err != nil {
			s.deps.Logger.Error("keeping a reminder", "session", s.id, "error", err)
		}
	}
}

// nudge lets the session look whether its tools want a turn. It may be called from any
// goroutine.
func (s *Session) nudge() {
	select {
	case s.nudged <- struct{}{}:
	default: // it is going to look anyway
	}
}

// heed begins a turn that no person asked for, where the tools want one and nothing
// else is to be done.
func (s *Session) heed(ctx context.Context) {
	if s.noter == nil || !s.noter.Waking() || s.wakes >= maxWakes || s.turn != nil || s.work != nil || s.closing {
		return
	}
	if err := s.wake(ctx); err != nil {
		s.deps.Logger.Error("opening a session for a job that ended", "session", s.id, "error", err)
		return
	}
	if s.turn != nil || s.work != nil || len(s.live.Queue) > 0 || s.log.Damage() != "" || s.compactIfDue() {
		return // the end of what runs comes back here
	}
	turnID := newTurnID()
	messages, err := s.tellWaiting(turnID)
	if err != nil {
		s.deps.Logger.Error("telling of a job that ended", "session", s.id, "error", err)
	}
	if len(messages) == 0 {
		return
	}
	s.wakes++
	s.begin(turnID, session.QueuedPrompt{ClientID: "host", MaxMode: string(s.lowest)}, false)
}

// lower notes the highest mode that a prompt may have.
func (s *Session) lower(most string) {
	switch {
	case most == "":
	case s.lowest == "":
		s.lowest = api.Mode(most)
	default:
		s.lowest = gate.Lower(s.lowest, api.Mode(most))
	}
}

// missJobs lets the model know at its next step which jobs are lost.
func (s *Session) missJobs() {
	jobs := read.LostJobs(s.log.Tree())
	if len(jobs) == 0 {
		return
	}
	s.unsaid = append(s.unsaid, session.Note{
		Kind: session.NoteJobs, Jobs: jobs,
		Text: "This session does not have these background jobs any more, because the host was started anew or the session is a copy: " +
			strings.Join(jobs, ", ") + ". Their names may be given again. Start again what is still needed.",
	})
}

var _ agent.Journal = journal{}
