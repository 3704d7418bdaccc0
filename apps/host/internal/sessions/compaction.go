package sessions

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/scorel/scorel/apps/host/internal/sessions/compact"
	"github.com/scorel/scorel/apps/host/internal/sessions/read"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

const summarySystem = compact.System

// Compact replaces the older part of the session by a summary in what the model is given. It
// returns at once; WorkEnded announces the end.
func (w *summaries) Compact(ctx context.Context, clientID string, r api.CompactSessionRequest) (response api.CompactSessionResponse, err error) {
	if err := checkKey(r.ClientKey); err != nil {
		return response, err
	}
	if len(r.Instructions) > api.MaxFocus {
		return response, api.Errorf(api.KindTooLarge, "the instructions have %d bytes, the limit is %d", len(r.Instructions), api.MaxFocus)
	}
	return inside(ctx, &w.owner, func() (api.CompactSessionResponse, error) { return w.compactNow(clientID, r) })
}

func (w *summaries) compactNow(clientID string, r api.CompactSessionRequest) (api.CompactSessionResponse, error) {
	if id, done := w.done[r.ClientKey]; done {
		return api.CompactSessionResponse{EntryID: id}, nil
	}
	if w.running != nil && w.running.key == r.ClientKey {
		return api.CompactSessionResponse{}, nil
	}
	if err := w.checkIdle(); err != nil {
		return api.CompactSessionResponse{}, err
	}
	if what := w.log.Damage(); what != "" {
		return api.CompactSessionResponse{}, &store.DamageError{What: what}
	}
	mark := store.Mark{ClientID: clientID, ClientKey: r.ClientKey}
	if !w.startCompaction(mark, strings.TrimSpace(r.Instructions)) {
		return api.CompactSessionResponse{}, w.nothingToCompact()
	}
	return api.CompactSessionResponse{}, nil
}

func (w *summaries) nothingToCompact() error {
	return api.Errorf(api.KindBadRequest, "there is nothing to compact: the session is shorter than the %d tokens that a compaction keeps", w.keepTokens())
}

// keepTokens returns how much a compaction keeps: in a small window no more than a
// quarter of it.
func (w *summaries) keepTokens() int {
	keep := cmp.Or(w.deps.Summaries.KeepTokens, compact.DefaultKeepTokens)
	if window := w.window(); window > 0 {
		keep = min(keep, window/4)
	}
	return keep
}

// startIfDue starts a compaction if the context has outgrown its share of the window; true if
// it did. Without one, what waits for it starts all the same: a turn says why it cannot run.
func (w *summaries) startIfDue() bool {
	limit := int(w.deps.Summaries.Share * float64(w.window()))
	if w.log == nil || w.log.Damage() != "" || !compact.Due(w.log.Tree(), limit) {
		return false
	}
	if w.refused.recently(w.log) || w.others.afford(w.id) != nil {
		return false
	}
	return w.startCompaction(store.Mark{}, "")
}

// refusal is a compaction that could not be stored, as on a full disk. Its model call was paid
// for, and the next one would be too.
type refusal struct {
	at  time.Time // zero if there was none
	seq uint64    // the newest entry of the log then
}

// recently reports whether the log would refuse a compaction again: it has stored nothing since,
// or hardly any time has passed.
func (r refusal) recently(log *store.Session) bool {
	return !r.at.IsZero() && (log.LastSeq() == r.seq || time.Since(r.at) < retryWaiting)
}

// startCompaction is false if there is nothing to leave out.
func (w *summaries) startCompaction(mark store.Mark, focus string) bool {
	plan, ok := compact.Prepare(w.log.Tree(), w.keepTokens())
	if !ok {
		return false
	}
	work := runningSummary{kind: api.WorkCompaction, key: mark.ClientKey}
	w.start(work, func(most int) string { return plan.Request(focus, most) }, func(summary string) error {
		return w.appendCompaction(mark, plan, summary)
	})
	return true
}

// appendCompaction stores the compaction. A summary that is no shorter than what it replaces
// is itself replaced by an extract.
func (w *summaries) appendCompaction(mark store.Mark, plan compact.Plan, summary string) error {
	if strings.TrimSpace(summary) != "" {
		summary = plan.Finish(summary)
	}
	if strings.TrimSpace(summary) == "" || compact.TextTokens(len([]rune(summary))) >= plan.TokensCut {
		summary = plan.Extract()
	}
	_, err := w.append(mark, func(ctx context.Context, mark store.Mark) (session.Entry, error) {
		return w.log.AppendCompaction(ctx, mark, session.Compaction{
			Summary: summary, FirstKeptEntryID: plan.FirstKept, TokensBefore: plan.TokensBefore, Details: plan.Details(),
		})
	})
	if err != nil {
		w.refused = refusal{time.Now(), w.log.LastSeq()}
		return err
	}
	w.notes.restoreCompacted(mark.TurnID)
	return nil
}

// leaveBranch starts a summary of what lies between the leaf and the new place, and moves the
// leaf with it; false if nothing lies there.
func (w *summaries) leaveBranch(m move, p read.Place) (bool, error) {
	from := w.log.Tree().Leaf()
	branch, err := compact.Left(w.log.Tree(), from, p.Leaf)
	if err != nil || len(branch.Messages) == 0 {
		return false, err
	}
	mark := store.Mark{ClientID: m.clientID, ClientKey: m.clientKey}
	w.start(runningSummary{kind: api.WorkBranchSummary, key: m.clientKey}, branch.Request, func(summary string) error {
		if strings.TrimSpace(summary) == "" {
			summary = branch.Extract()
		} else {
			summary = branch.Finish(summary)
		}
		_, err := w.append(mark, func(ctx context.Context, mark store.Mark) (session.Entry, error) {
			return w.log.AppendBranchSummary(ctx, mark, p.Leaf, session.BranchSummary{Summary: summary, FromID: from, Details: branch.Details()})
		})
		return err
	})
	return true, nil
}
