package store

import (
	"context"
	"encoding/json"

	"github.com/scorel/scorel/packages/protocol/session"
)

// Each Append method makes an entry a child of the leaf, stores it, and returns it. The errors
// are those of Log.Append, *session.PathError if the path to the leaf or a target is missing,
// and those of session.Writer.

// AppendMessage adds a message: a JSON object with a role.
func (s *Session) AppendMessage(ctx context.Context, mark Mark, message json.RawMessage) (session.Entry, error) {
	return s.add(ctx, mark, func(w *session.Writer, stamp session.Stamp) (json.RawMessage, error) {
		return w.Message(stamp, message)
	})
}

// AppendThinkingLevelChange sets the thinking level from here on.
func (s *Session) AppendThinkingLevelChange(ctx context.Context, mark Mark, level string) (session.Entry, error) {
	return s.add(ctx, mark, func(w *session.Writer, stamp session.Stamp) (json.RawMessage, error) {
		return w.ThinkingLevelChange(stamp, level)
	})
}

// AppendModelChange sets the model from here on.
func (s *Session) AppendModelChange(ctx context.Context, mark Mark, provider, modelID string) (session.Entry, error) {
	return s.add(ctx, mark, func(w *session.Writer, stamp session.Stamp) (json.RawMessage, error) {
		return w.ModelChange(stamp, provider, modelID)
	})
}

// AppendCompaction adds a summary that replaces everything before an entry.
func (s *Session) AppendCompaction(ctx context.Context, mark Mark, c session.Compaction) (session.Entry, error) {
	return s.add(ctx, mark, func(w *session.Writer, stamp session.Stamp) (json.RawMessage, error) {
		return w.Compaction(stamp, c)
	})
}

// AppendBranchSummary moves the leaf to target ("" means before the first entry) and adds a
// summary of the branch that it leaves.
func (s *Session) AppendBranchSummary(ctx context.Context, mark Mark, target string, b session.BranchSummary) (session.Entry, error) {
	if err := s.movable(target); err != nil {
		return session.Entry{}, err
	}
	return s.store(ctx, s.freeID(), mark, func(w *session.Writer, stamp session.Stamp) (json.RawMessage, error) {
		return w.BranchSummary(stamp, target, b)
	})
}

// AppendLabel labels any entry of the session; nil and "" remove the label.
func (s *Session) AppendLabel(ctx context.Context, mark Mark, targetID string, label *string) (session.Entry, error) {
	return s.add(ctx, mark, func(w *session.Writer, stamp session.Stamp) (json.RawMessage, error) {
		return w.Label(stamp, targetID, label)
	})
}

// AppendSessionInfo names the session; "" removes the name.
func (s *Session) AppendSessionInfo(ctx context.Context, mark Mark, name string) (session.Entry, error) {
	return s.add(ctx, mark, func(w *session.Writer, stamp session.Stamp) (json.RawMessage, error) {
		return w.SessionInfo(stamp, name)
	})
}

// AppendCustom adds a program's own state, which no model sees; data may be nil.
func (s *Session) AppendCustom(ctx context.Context, mark Mark, customType string, data json.RawMessage) (session.Entry, error) {
	return s.add(ctx, mark, func(w *session.Writer, stamp session.Stamp) (json.RawMessage, error) {
		return w.Custom(stamp, customType, data)
	})
}

// CustomMessage is a message of a program that the model sees.
type CustomMessage struct {
	CustomType string
	Content    json.RawMessage // a JSON string or a list of blocks
	Display    bool            // also shown to people
	Details    json.RawMessage // nil means none
}

// AppendCustomMessage adds a message of a program.
func (s *Session) AppendCustomMessage(ctx context.Context, mark Mark, m CustomMessage) (session.Entry, error) {
	return s.add(ctx, mark, func(w *session.Writer, stamp session.Stamp) (json.RawMessage, error) {
		return w.CustomMessage(stamp, m.CustomType, m.Content, m.Display, m.Details)
	})
}

// Usage is tokens used outside a message.
type Usage struct {
	Kind, Provider, Model string
	Usage                 json.RawMessage
	Note                  string // "" means none
}

// AppendUsage records tokens used outside a message.
func (s *Session) AppendUsage(ctx context.Context, mark Mark, u Usage) (session.Entry, error) {
	return s.add(ctx, mark, func(w *session.Writer, stamp session.Stamp) (json.RawMessage, error) {
		return w.Usage(stamp, u.Kind, u.Provider, u.Model, u.Usage, u.Note)
	})
}

// AppendOther adds an entry of any type; members is an object with its members besides type,
// id, parentId and timestamp.
func (s *Session) AppendOther(ctx context.Context, t session.EntryType, members json.RawMessage) (session.Entry, error) {
	return s.add(ctx, Mark{}, func(w *session.Writer, stamp session.Stamp) (json.RawMessage, error) {
		stamp.Extra = members
		return w.Other(stamp, t)
	})
}
