package agent

import (
	"context"
	"strings"

	"github.com/scorel/scorel/packages/protocol/session"
)

// Room in the context window, in tokens.
const (
	bytesPerToken = 4      // a rough mean, for what no provider has counted yet
	imageTokens   = 1500   // of one image, and at most
	leastImage    = 85     // of a small one
	imagePixels   = 750    // that make one token
	keptOutput    = 40_000 // of the newest tool results, which pruning leaves alone
	minPruned     = 200    // a result of less is not worth a hole
	leastPart     = 20     // the first pruning frees at least this part of the window
)

// room is what a turn did to make its prompt fit.
type room struct {
	overflow  string // what the model said about the prompt's length in this call
	pruned    bool   // old results were left out
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
		r.pruneBatch()
	}
	if r.tokens() > limit {
		r.compact(ctx)
	}
}

// pruneBatch leaves old results out if that frees enough. Each time the prompt begins
// differently, and the provider reads all of it again: so many results go at once, and
// then none until as many have come.
func (r *runner) pruneBatch() {
	kept, least := r.keptOutput(), r.ContextWindow/leastPart
	if r.room.pruned {
		kept, least = kept/2, kept/2
	}
	if r.history.live >= kept+least {
		r.prune(kept)
	}
}

// keptOutput is how much of the newest results stays, in tokens.
func (r *runner) keptOutput() int {
	if r.ContextWindow > 0 {
		return min(keptOutput, r.ContextWindow/4)
	}
	return keptOutput
}

// shorten leaves something out after a call that did not fit; false when nothing
// is left to leave out.
func (r *runner) shorten(ctx context.Context) bool {
	if ctx.Err() != nil {
		return false
	}
	if r.prune(r.keptOutput()) || r.compact(ctx) {
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
	shorter, err := r.Compact(ctx, r.history.messages)
	if err != nil || len(shorter) == 0 { // the model's own words about the length are the better ones
		return false
	}
	r.history.replace(shorter)
	r.room.compacted = true
	return true
}

// explain says what to do where nothing is left to leave out.
func (r *room) explain(message *session.Message) {
	if r.compacted {
		message.ErrorMessage = strings.TrimSuffix(strings.TrimSpace(message.ErrorMessage), ".") + ". The session was already compacted, and what remains still does not fit."
	}
}

// prune leaves old tool results out; see history.prune.
func (r *runner) prune(kept int) bool {
	found := r.history.prune(kept)
	r.room.pruned = r.room.pruned || found
	return found
}

// tokens estimates the size of the next prompt: what the last answer reports, less
// what was left out since, and what came after it.
func (r *runner) tokens() int {
	size := r.history.size
	if size.reported > 0 {
		return size.reported + size.since
	}
	return size.all + len(r.System)/bytesPerToken
}

// imageSize estimates an image by its dimensions, where they are known.
func imageSize(block session.Block) int {
	if block.Width <= 0 || block.Height <= 0 {
		return imageTokens
	}
	return min(imageTokens, max(leastImage, block.Width*block.Height/imagePixels))
}

func contentTokens(content session.Content) int {
	sum := 0
	for _, block := range content {
		sum += (len(block.Text) + len(block.Thinking) + len(block.Arguments)) / bytesPerToken
		if block.Type == session.BlockImage {
			sum += imageSize(block)
		}
	}
	return sum
}
