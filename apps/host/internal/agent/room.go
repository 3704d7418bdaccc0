package agent

import (
	"context"
	"fmt"
	"strings"

	"github.com/scorel/scorel/packages/protocol/session"
)

// Room in the context window, in tokens.
const (
	bytesPerToken = 4      // a rough mean, for what no provider has counted yet
	imageTokens   = 1500   // of one image
	keptOutput    = 40_000 // of the newest tool results, which pruning leaves alone
	minPruned     = 200    // a result of less is not worth a hole
)

// room is what a turn did to make its prompt fit.
type room struct {
	overflow  string // what the model said about the prompt's length in this call
	pruned    bool   // the usage that earlier answers report is too high by now
	tight     bool   // all results but those of the last answer were pruned
	tried     bool   // to compact, which is done once
	compacted bool   // with success
}

// makeRoom shortens the history before a call that would not fit.
func (r *runner) makeRoom(ctx context.Context) {
	if r.ContextWindow <= 0 {
		return
	}
	limit := r.ContextWindow - r.ContextWindow/10
	if r.RoomAt > 0 {
		limit = min(limit, r.RoomAt)
	}
	if r.tokens() > limit {
		r.prune(min(keptOutput, r.ContextWindow/4))
	}
	if r.tokens() > limit {
		r.compact(ctx)
	}
}

// shorten leaves something out after a call that did not fit; false when nothing
// is left to leave out.
func (r *runner) shorten(ctx context.Context) bool {
	if ctx.Err() != nil {
		return false
	}
	kept := keptOutput
	if r.ContextWindow > 0 {
		kept = min(kept, r.ContextWindow/4)
	}
	if r.prune(kept) || r.compact(ctx) {
		return true
	}
	if r.room.tight {
		return false
	}
	r.room.tight = true
	return r.prune(0)
}

func (r *runner) compact(ctx context.Context) bool {
	if r.Compact == nil || r.room.tried {
		return false
	}
	r.room.tried = true
	shorter, err := r.Compact(ctx, r.messages)
	if err != nil || len(shorter) == 0 { // the model's own words about the length are the better ones
		return false
	}
	r.messages = append([]session.Message(nil), shorter...)
	r.room.pruned, r.room.compacted = true, true
	return true
}

// explain says what to do where nothing is left to leave out.
func (r *room) explain(message *session.Message) {
	if r.compacted {
		message.ErrorMessage = strings.TrimSuffix(strings.TrimSpace(message.ErrorMessage), ".") + ". The session was compacted already, and what is left still does not fit."
	}
}

// prune puts a short text in the place of old tool results, newest first left
// alone up to kept tokens, and those of the last answer in any case. The log keeps
// them. It tells whether there were any.
func (r *runner) prune(kept int) bool {
	last := len(r.messages)
	for last > 0 && r.messages[last-1].Role != session.RoleAssistant {
		last--
	}
	found, sum := false, 0
	for i := last - 1; i >= 0; i-- {
		message := &r.messages[i]
		if message.Role != session.RoleToolResult {
			continue
		}
		size := contentTokens(message.Content)
		if sum += size; sum <= kept || size < minPruned {
			continue
		}
		message.Content = session.Content{session.Text(fmt.Sprintf(
			"[This result of about %d tokens was left out to make room. Make the call again if it is needed.]", size))}
		found = true
	}
	r.room.pruned = r.room.pruned || found
	return found
}

// tokens estimates the size of the next prompt: what the last answer reports, and
// what came since.
func (r *runner) tokens() int {
	sum := 0
	for i := len(r.messages) - 1; i >= 0; i-- {
		message := r.messages[i]
		if u := message.Usage; u != nil && u.TotalTokens > 0 && !r.room.pruned {
			return sum + u.TotalTokens
		}
		sum += contentTokens(message.Content)
	}
	return sum + len(r.System)/bytesPerToken
}

func contentTokens(content session.Content) int {
	sum := 0
	for _, block := range content {
		sum += (len(block.Text) + len(block.Thinking) + len(block.Arguments)) / bytesPerToken
		if block.Type == session.BlockImage {
			sum += imageTokens
		}
	}
	return sum
}
