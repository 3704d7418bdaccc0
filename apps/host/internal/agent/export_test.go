package agent

import (
	"context"

	"github.com/scorel/scorel/packages/protocol/session"
)

// History is a turn's history, for tests.
type History struct{ h *history }

// HistoryOf begins one.
func HistoryOf(messages []session.Message) History { return History{newHistory(messages)} }

// Add takes in what a step brought.
func (h History) Add(messages ...session.Message) { h.h.add(messages...) }

// Replace is what a compaction does.
func (h History) Replace(messages []session.Message) { h.h.replace(messages) }

// Prune leaves out old results.
func (h History) Prune(kept int) bool { return h.h.prune(kept) }

// Messages are those of the history, as they are.
func (h History) Messages() []session.Message { return h.h.messages }

// Repaired is what a model is given.
func (h History) Repaired() []session.Message { return h.h.repaired() }

// Size is the estimate of the prompt, in tokens.
func (h History) Size() (all, reported, since int) {
	return h.h.size.all, h.h.size.reported, h.h.size.since
}

// Looked is how many messages were looked at.
func (h History) Looked() int { return h.h.looked + h.h.repairer.looked }

// Room makes room in a history as a turn does before each call.
type Room struct{ r *runner }

// RoomOf is that of a model with a context window, without a way to compact.
func RoomOf(h History, window int) Room {
	return Room{&runner{Turn: Turn{ContextWindow: window}, history: h.h}}
}

// Make makes room.
func (r Room) Make(ctx context.Context) { r.r.makeRoom(ctx) }
