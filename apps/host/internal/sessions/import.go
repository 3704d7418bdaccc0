package sessions

import (
	"context"
	"sync"

	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// importer stores sessions and conversations that were made elsewhere.
type importer struct {
	*pool
	announcer *announcer
	finder    *finder

	importing sync.Mutex // held while a transcript of another program becomes a session
}

// Import stores the session of a file and lists it. It starts nothing by itself and asks for no
// less than others: see sanitized.
func (i *importer) Import(ctx context.Context, projectID, id string, data []byte) (api.SessionSummary, error) {
	data, err := sanitized(ctx, data, true)
	if err == nil {
		err = i.provider.Import(ctx, projectID, data)
	}
	if err != nil {
		return api.SessionSummary{}, clientError(err)
	}
	ctx = context.WithoutCancel(ctx) // the session exists now

	if i.deps.Worktrees != nil { // of a session with this id that was deleted without this host
		i.deps.Worktrees.Forget(ctx, id)
	}
	if err := i.finder.take(ctx, store.Info{Header: session.Header{ID: id}, ProjectID: projectID}); err != nil {
		return api.SessionSummary{}, clientError(err)
	}
	return i.announcer.announceNew(id), nil
}

// ImportTranscript stores a conversation of another program as a session, or adds to an earlier
// import what is new. What was rewritten becomes another branch. A session that was continued
// here is not changed: its entries and those of the other program exclude each other.
func (i *importer) ImportTranscript(ctx context.Context, projectID, clientID string, t Transcript) (api.TranscriptOutcome, int, error) {
	outcome, added, err := i.importNew(ctx, projectID, t)
	if err != nil || outcome == api.TranscriptImported {
		return outcome, added, clientError(err)
	}
	s, err := i.Open(t.Header.ID)
	if err != nil {
		return "", 0, err
	}
	return s.addTranscript(ctx, clientID, t)
}

// importNew stores a conversation that was not imported before.
func (i *importer) importNew(ctx context.Context, projectID string, t Transcript) (api.TranscriptOutcome, int, error) {
	i.importing.Lock()
	defer i.importing.Unlock()
	if _, known := i.ProjectOf(t.Header.ID); known {
		return api.TranscriptUnchanged, 0, nil
	}
	header, err := session.EncodeHeader(t.Header)
	if err != nil {
		return "", 0, err
	}
	data, err := extended(append(header, '\n'), i.deps.Sign, func(s *store.Session) error { return fill(ctx, s, t) })
	if err == nil {
		data, err = sanitized(ctx, data, false)
	}
	if err == nil {
		err = i.provider.Import(ctx, projectID, data)
	}
	if err != nil {
		return "", 0, err
	}
	if err := i.finder.take(ctx, store.Info{Header: session.Header{ID: t.Header.ID}, ProjectID: projectID}); err != nil {
		return "", 0, err
	}
	i.announcer.announceNew(t.Header.ID)
	return api.TranscriptImported, len(t.Entries), nil
}
