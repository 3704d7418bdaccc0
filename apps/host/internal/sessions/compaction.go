package sessions

import (
	"cmp"
	"context"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/sessions/compact"
	"github.com/scorel/scorel/apps/host/internal/sessions/read"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

const summarySystem = compact.System

// Compact lets a summary stand for the older part of the session. The answer comes
// at once; WorkEnded tells of the end.
func (s *Session) Compact(ctx context.Context, clientID string, r api.CompactSessionRequest) (response api.CompactSessionResponse, err error) {
	if err := checkKey(r.ClientKey); err != nil {
		return response, err
	}
	if len(r.Instructions) > api.MaxFocus {
		return response, api.Errorf(api.KindTooLarge, "the instructions have %d bytes, the limit is %d", len(r.Instructions), api.MaxFocus)
	}
	doErr := s.do(ctx, func() { response, err = s.compactNow(clientID, r) })
	if doErr != nil {
		return response, refuse(doErr)
	}
	return response, refuse(err)
}

func (s *Session) compactNow(clientID string, r api.CompactSessionRequest) (api.CompactSessionResponse, error) {
	if id, done := s.done[r.ClientKey]; done {
		return api.CompactSessionResponse{EntryID: id}, nil
	}
	if s.work != nil && s.work.key == r.ClientKey {
		return api.CompactSessionResponse{}, nil
	}
	if err := s.idle(); err != nil {
		return api.CompactSessionResponse{}, err
	}
	if what := s.log.Damage(); what != "" {
		return api.CompactSessionResponse{}, &store.DamageError{What: what}
	}
	mark := store.Mark{ClientID: clientID, ClientKey: r.ClientKey}
	if !s.startCompaction(mark, strings.TrimSpace(r.Instructions)) {
		return api.CompactSessionResponse{}, api.Errorf(api.KindBadRequest,
			"there is nothing to compact: the session is shorter than the %d tokens that a compaction keeps", s.keepTokens())
	}
	return api.CompactSessionResponse{}, nil
}

// window returns the context window of the model that answers next; 0 is not known.
func (s *Session) window() int {
	_, model, err := s.deps.Models.Model(s.summary.Model)
	if err != nil {
		return 0
	}
	return model.ContextWindow
}

// keepTokens returns how much a compaction keeps: in a small window no more than a
// quarter of it.
func (s *Session) keepTokens() int {
	keep := cmp.Or(s.deps.Summaries.KeepTokens, compact.DefaultKeepTokens)
	if window := s.window(); window > 0 {
		keep = min(keep, window/4)
	}
	return keep
}

// compactIfDue starts a compaction where the context has grown over its share of
// the window; true where it did.
func (s *Session) compactIfDue() bool {
	limit := int(s.deps.Summaries.Share * float64(s.window()))
	if s.log == nil || s.log.Damage() != "" || !compact.Due(s.log.Tree(), limit) {
		return false
	}
	return s.startCompaction(store.Mark{}, "")
}

// startCompaction is false where there is nothing to leave out.
func (s *Session) startCompaction(mark store.Mark, focus string) bool {
	plan, ok := compact.Prepare(s.log.Tree(), s.keepTokens())
	if !ok {
		return false
	}
	work := runningWork{kind: api.WorkCompaction, key: mark.ClientKey}
	s.startWork(work, plan.Request(focus, s.deps.Summaries.most()), func(summary string) error {
		return s.keepCompaction(mark, plan, summary)
	})
	return true
}

// keepCompaction stores the compaction. A summary that is no shorter than what it
// stands for is not taken.
func (s *Session) keepCompaction(mark store.Mark, plan compact.Plan, summary string) error {
	if strings.TrimSpace(summary) != "" {
		summary = plan.Finish(summary)
	}
	if strings.TrimSpace(summary) == "" || compact.TextTokens(len([]rune(summary))) >= plan.TokensCut {
		summary = plan.Extract()
	}
	_, err := s.keep(mark, func(ctx context.Context, mark store.Mark) (session.Entry, error) {
		return s.log.AppendCompaction(ctx, mark, session.Compaction{
			Summary: summary, FirstKeptEntryID: plan.FirstKept, TokensBefore: plan.TokensBefore,
		})
	})
	if err != nil {
		return err
	}
	s.remind(mark.TurnID)
	return nil
}

// leaveBranch starts a summary of what lies between the leaf and the new place, and
// moves the leaf with it; false where nothing lies there.
func (s *Session) leaveBranch(m move, p read.Place) (bool, error) {
	from := s.log.Tree().Leaf()
	branch, err := compact.Left(s.log.Tree(), from, p.Leaf)
	if err != nil || len(branch.Messages) == 0 {
		return false, err
	}
	mark := store.Mark{ClientID: m.clientID, ClientKey: m.clientKey}
	s.startWork(runningWork{kind: api.WorkBranchSummary, key: m.clientKey}, branch.Request(s.deps.Summaries.most()), func(summary string) error {
		if strings.TrimSpace(summary) == "" {
			summary = branch.Extract()
		} else {
			summary = branch.Finish(summary)
		}
		_, err := s.keep(mark, func(ctx context.Context, mark store.Mark) (session.Entry, error) {
			return s.log.AppendBranchSummary(ctx, mark, p.Leaf, session.BranchSummary{Summary: summary, FromID: from})
		})
		return err
	})
	return true, nil
}
