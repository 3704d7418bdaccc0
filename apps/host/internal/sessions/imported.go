package sessions

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/scorel/scorel/apps/host/internal/sessions/read"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Transcript is a conversation of another program, converted to entries. The same conversation
// always has the same ids, so that importing it again adds only what is new.
type Transcript struct {
	Header  session.Header // its ID is derived from the conversation
	Title   string         // stored by the program; "" is none
	Entries []TranscriptEntry
	Record  session.ImportRecord
}

// TranscriptEntry is an entry after the one with the id Parent, or at the beginning.
type TranscriptEntry struct {
	store.Given
	Parent string
}

// fill adds all of a conversation to an empty session.
func fill(ctx context.Context, s *store.Session, t Transcript) error {
	leaf := ""
	for _, entry := range t.Entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		if entry.Parent != leaf {
			if err := moveTo(ctx, s, store.Mark{Seq: s.LastSeq() + 1}, entry.Parent); err != nil {
				return err
			}
		}
		if _, err := s.AppendGiven(ctx, store.Mark{Seq: s.LastSeq() + 1, Step: true}, entry.Given); err != nil {
			return err
		}
		leaf = entry.ID
	}
	if t.Title != "" {
		if _, err := s.AppendSessionInfo(ctx, store.Mark{Seq: s.LastSeq() + 1}, t.Title); err != nil {
			return err
		}
	}
	if err := appendRecord(ctx, s, session.CustomImported, recordOf(t)); err != nil || t.Header.ChildOf != "" {
		return err
	}
	return appendRecord(ctx, s, session.CustomBackend, ownSession(t))
}

// ownSession names the agent's own session, which has all that comes before, and in which the
// agent can continue. Subagents have none that it can load.
func ownSession(t Transcript) session.BackendRecord {
	return session.BackendRecord{Kind: session.BackendSession, Backend: t.Record.Source, AgentSession: t.Record.SessionID}
}

func moveTo(ctx context.Context, s *store.Session, mark store.Mark, id string) error {
	var err error
	if id == "" {
		_, err = s.ResetLeaf(ctx, mark)
	} else {
		_, err = s.SwitchLeaf(ctx, mark, id)
	}
	return err
}

func recordOf(t Transcript) session.ImportRecord {
	t.Record.Title, t.Record.Entries, t.Record.ImportedAt = t.Title, len(t.Entries), time.Now().UnixMilli()
	return t.Record
}

// transcriptStep bounds the entries that are added at once, so that a long import does not keep
// the session from other work.
const transcriptStep = 64

// addTranscript adds what is new. It may be repeated after an error: what was added stays.
func (s *Session) addTranscript(ctx context.Context, clientID string, t Transcript) (outcome api.TranscriptOutcome, added int, err error) {
	outcome = api.TranscriptUnchanged
	for more := true; more && err == nil; {
		var n int
		err = s.change(ctx, func() (err error) {
			n, more, err = s.history.addTranscript(ctx, clientID, t)
			return err
		})
		if added += n; added > 0 {
			outcome = api.TranscriptExtended
		}
	}
	if errors.Is(err, errContinued) {
		return api.TranscriptContinued, 0, nil
	}
	return outcome, added, err
}

// errContinued means that the session has entries of its own after those of the transcript.
var errContinued = &api.Error{Kind: api.KindConflict, Message: "the session was continued here after its import, so that the transcript cannot be added to it"}

func (h *history) addTranscript(ctx context.Context, clientID string, t Transcript) (added int, more bool, err error) {
	tree := h.log.Tree()
	var missing []TranscriptEntry
	has := make(map[string]bool, len(t.Entries))
	for _, entry := range t.Entries {
		has[entry.ID] = true
		if _, known := tree.Get(entry.ID); !known {
			missing = append(missing, entry)
		}
	}
	if len(missing) == 0 {
		return 0, false, nil
	}
	if err := h.summaries.checkIdle(); err != nil {
		return 0, false, err
	}
	leaf, rewritten, continued := lastOf(tree, has)
	if continued {
		return 0, false, errContinued
	}
	if rewritten {
		leaf = notAnID
	}
	for _, entry := range missing[:min(len(missing), transcriptStep)] {
		if err := h.appendTranscript(clientID, entry, leaf); err != nil {
			return added, false, err
		}
		leaf = entry.ID
		added++
	}
	if added < len(missing) {
		return added, true, ctx.Err()
	}
	err = h.endTranscript(clientID, t)
	h.updateSummary()
	return added, false, err
}

// notAnID differs from the ids of all entries.
const notAnID = "?"

// lastOf returns the last entry of the path to the leaf that is in the transcript. rewritten
// reports whether messages follow it that were in the transcript before, and continued whether
// the session's own do. All before the record of an import came from transcripts.
func lastOf(tree *session.Tree, has map[string]bool) (id string, rewritten, continued bool) {
	own := map[string]bool{}
	for _, e := range slices.Backward(tree.Entries()) {
		if e.Type == session.TypeCustom && e.CustomType == session.CustomImported {
			break
		}
		own[e.ID] = isOwn(e)
	}
	id = tree.Leaf()
	for range tree.Entries() {
		e, ok := tree.Get(id)
		if !ok || has[e.ID] {
			return id, rewritten, continued
		}
		continued = continued || own[e.ID]
		rewritten = rewritten || isSaid(e)
		id = e.ParentID
	}
	return "", rewritten, continued
}

// isSaid reports whether a model sees an entry.
func isSaid(e session.Entry) bool {
	return slices.Contains([]session.EntryType{session.TypeMessage, session.TypeCustomMessage, session.TypeCompaction, session.TypeBranchSummary}, e.Type)
}

// isOwn reports whether a model sees an entry that no transcript contains.
func isOwn(e session.Entry) bool {
	if e.Type == session.TypeMessage {
		message, ok := e.AsMessage()
		return ok && (message.TurnID != "" || message.ClientID != "")
	}
	return isSaid(e)
}

func (h *history) appendTranscript(clientID string, entry TranscriptEntry, leaf string) error {
	if entry.Parent != leaf {
		_, err := h.append(store.Mark{ClientID: clientID}, func(ctx context.Context, mark store.Mark) (session.Entry, error) {
			if entry.Parent == "" {
				return h.log.ResetLeaf(ctx, mark)
			}
			return h.log.SwitchLeaf(ctx, mark, entry.Parent)
		})
		if err != nil {
			return err
		}
	}
	_, err := h.append(store.Mark{Step: true}, func(ctx context.Context, mark store.Mark) (session.Entry, error) {
		return h.log.AppendGiven(ctx, mark, entry.Given)
	})
	return err
}

// endTranscript names the session as the program does, unless a person renamed it, and records
// the import.
func (h *history) endTranscript(clientID string, t Transcript) error {
	var before session.ImportRecord
	read.LastCustom(h.log.Tree(), session.CustomImported, &before)
	var err error
	if t.Title != "" && t.Title != h.digest.Name && cmp.Or(h.digest.Name, before.Title) == before.Title {
		_, err = h.append(store.Mark{ClientID: clientID}, func(ctx context.Context, mark store.Mark) (session.Entry, error) {
			return h.log.AppendSessionInfo(ctx, mark, t.Title)
		})
	}
	err = errors.Join(err, h.appendCustom(session.CustomImported, recordOf(t), clientID))
	if t.Header.ChildOf == "" {
		err = errors.Join(err, h.appendCustom(session.CustomBackend, ownSession(t), clientID))
	}
	return err
}
