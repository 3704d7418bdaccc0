package store

import (
	"context"
	"encoding/json"

	"github.com/scorel/scorel/packages/protocol/session"
)

// Every Append method hangs an entry on the leaf, stores it, and returns it. The
// errors are those of Log.Append, *session.PathError where the path to the leaf or
// a target is not there, and those of session.Writer.

// AppendMessage adds a message: a JSON object with a role.
func (s *Session) AppendMessage(ctx context.Context, mark Mark, message json.RawMessage) (session.Entry, error) {
	return s.add(ctx, mark, func(w *session.Writer, stamp session.Stamp) (json.RawMessage, error) {
		return w.Message(stamp, message)
	})
}

// AppendThinkingLevelChange says how much the model thinks from here on.
func (s *Session) AppendThinkingLevelChange(ctx context.Context, mark Mark, level string) (session.Entry, error) {
	return s.add(ctx, mark, func(w *session.Writer, stamp session.Stamp) (json.RawMessage, error) {
		return w.ThinkingLevelChange(stamp, level)
	})
}

// AppendModelChange says which model answers from here on.
func (s *Session) AppendModelChange(ctx context.Context, mark Mark, provider, modelID string) (session.Entry, error) {
	return s.add(ctx, mark, func(w *session.Writer, stamp session.Stamp) (json.RawMessage, error) {
		return w.ModelChange(stamp, provider, modelID)
	})
}

// AppendCompaction adds a summary that stands for all before an entry.
func (s *Session) AppendCompaction(ctx context.Context, mark Mark, c session.Compaction) (session.Entry, error) {
	return s.add(ctx, mark, func(w *session.Writer, stamp session.Stamp) (json.RawMessage, error) {
		return w.Compaction(stamp, c)
	})
}

// AppendBranchSummary moves the leaf to target, "" being the place before the
// first entry, and adds a summary of the branch that is left.
func (s *Session) AppendBranchSummary(ctx context.Context, mark Mark, target string, b session.BranchSummary) (session.Entry, error) {
	if err := s.movable(target); err != nil {
		return session.Entry{}, err
	}
	return s.store(ctx, s.freeID(), mark, func(w *session.Writer, stamp session.Stamp) (json.RawMessage, error) {
		return w.BranchSummary(stamp, target, b)
	})
}

// AppendLabel labels an entry anywhere in the session; nil and "" take the label off.
func (s *Session) AppendLabel(ctx context.Context, mark Mark, targetID string, label *string) (session.Entry, error) {
	return s.add(ctx, mark, func(w *session.Writer, stamp session.Stamp) (json.RawMessage, error) {
		return w.Label(stamp, targetID, label)
	})
}

// AppendSessionInfo names the session; "" takes the name off.
func (s *Session) AppendSessionInfo(ctx context.Context, mark Mark, name string) (session.Entry, error) {
	return s.add(ctx, mark, func(w *session.Writer, stamp session.Stamp) (json.RawMessage, error) {
		return w.SessionInfo(stamp, name)
	})
}

// AppendCustom adds state of a program, which no model sees; data may be nil.
func (s *Session) AppendCustom(ctx context.Context, mark Mark, customType string, data json.RawMessage) (session.Entry, error) {
	return s.add(ctx, mark, func(w *session.Writer, stamp session.Stamp) (json.RawMessage, error) {
		return w.Custom(stamp, customType, data)
	})
}

// CustomMessage is a message of a program, which the model sees.
type CustomMessage struct {
	CustomType string
	Content    json.RawMessage // a JSON string or a list of blocks
	Display    bool            // people see it too
	Details    json.RawMessage // nil: none
}

// AppendCustomMessage adds a message of a program.
func (s *Session) AppendCustomMessage(ctx context.Context, mark Mark, m CustomMessage) (session.Entry, error) {
	return s.add(ctx, mark, func(w *session.Writer, stamp session.Stamp) (json.RawMessage, error) {
		return w.CustomMessage(stamp, m.CustomType, m.Content, m.Display, m.Details)
	})
}

// Usage is tokens that were spent outside of a message.
type Usage struct {
	Kind, Provider, Model string
	Usage                 json.RawMessage
	Note                  string // "": none
}

// AppendUsage notes tokens that were spent outside of a message.
func (s *Session) AppendUsage(ctx context.Context, mark Mark, u Usage) (session.Entry, error) {
	return s.add(ctx, mark, func(w *session.Writer, stamp session.Stamp) (json.RawMessage, error) {
		return w.Usage(stamp, u.Kind, u.Provider, u.Model, u.Usage, u.Note)
	})
}

// AppendContextEdit changes what the model sees of an entry on the active path:
// content is a JSON string or a list of blocks, and nil leaves the entry out.
func (s *Session) AppendContextEdit(ctx context.Context, mark Mark, targetID string, content json.RawMessage) (session.Entry, error) {
	return s.add(ctx, mark, func(w *session.Writer, stamp session.Stamp) (json.RawMessage, error) {
		return w.ContextEdit(stamp, targetID, content)
	})
}

// AppendOther adds an entry of any type; members is an object with what it holds
// besides type, id, parentId and timestamp.
func (s *Session) AppendOther(ctx context.Context, t session.EntryType, members json.RawMessage) (session.Entry, error) {
	return s.add(ctx, Mark{}, func(w *session.Writer, stamp session.Stamp) (json.RawMessage, error) {
		stamp.Extra = members
		return w.Other(stamp, t)
	})
}
