package sessions

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/scorel/scorel/apps/host/internal/permission"
	"github.com/scorel/scorel/apps/host/internal/sessions/index"
	"github.com/scorel/scorel/apps/host/internal/sessions/read"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Moves knows the sessions that move to or from this host. Its methods do not block.
type Moves interface {
	// Paused returns the error with which a session refuses changes while it is being moved
	// away, or nil.
	Paused(sessionID string) error
	// Gone reports whether a session belongs to another host now. It is not listed any more,
	// even if its log is still there.
	Gone(sessionID string) bool
}

// Handover lets sessions leave for other hosts, and arrive from them.
type Handover struct {
	sessions  *pool
	announcer *announcer
	finder    *finder
}

// Leaving returns the content of a paused session's file, followed by an entry that hands it
// over. That entry is signed by this host and is not in the log here.
func (h *Handover) Leaving(ctx context.Context, id string, record session.MovedRecord) ([]byte, error) {
	_, data, err := h.sessions.provider.Export(ctx, id)
	if err != nil {
		return nil, clientError(err)
	}
	return extended(data, h.sessions.deps.Sign, func(s *store.Session) error { return appendRecord(ctx, s, session.CustomMoved, record) })
}

// Remove removes sessions that belong to another host now. Repeating it changes nothing.
func (h *Handover) Remove(ctx context.Context, ids []string) error {
	var errs []error
	for _, id := range slices.Backward(ids) {
		if err := h.removeMoved(ctx, id); err != nil {
			errs = append(errs, fmt.Errorf("removing the moved session %s: %w", clip(id), err))
		}
	}
	return errors.Join(errs...)
}

func (h *Handover) removeMoved(ctx context.Context, id string) error {
	h.sessions.mu.Lock()
	_, known := h.sessions.known[id]
	h.sessions.mu.Unlock()
	remove := func() error {
		if err := h.sessions.provider.Delete(ctx, id); err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		return nil
	}
	if !known { // the host was restarted in between: it does not list the session any more
		if err := remove(); err != nil {
			return err
		}
		h.announcer.unregister(id)
		if h.sessions.deps.Worktrees != nil {
			h.sessions.deps.Worktrees.Forget(ctx, id)
		}
		if h.sessions.deps.Processes != nil {
			return h.sessions.deps.Processes.Remove(id)
		}
		return nil
	}
	s, err := h.sessions.Open(id)
	if err != nil {
		return err
	}
	askErr := s.ask(ctx, func() {
		if s.log != nil {
			err = s.log.Close()
		}
		if err = errors.Join(err, remove()); err != nil {
			s.lost = s.log != nil
			return
		}
		s.closing = true
		if err := s.operations.sink.Discard(); err != nil {
			s.logger.Error("removing the process logs of a session", "session", s.id, "error", err)
		}
		h.announcer.unregister(id)
	})
	if err = errors.Join(askErr, err); err == nil && h.sessions.deps.Worktrees != nil {
		h.sessions.deps.Worktrees.Forget(ctx, id)
	}
	return err
}

// Arrival is the log of a session that another host handed over.
type Arrival struct {
	SessionID string
	Read      func() ([]byte, error) // returns the log, which ends with the entry that hands it over
}

// Arrive stores sessions that were handed over to this host, in this order, and continues them.
// What they would do without asking is not taken over. Repeating it changes nothing.
func (h *Handover) Arrive(ctx context.Context, projectID string, logs []Arrival, record session.MovedRecord, note string) error {
	for _, log := range logs {
		if err := h.storeArrival(ctx, projectID, log, record, note); err != nil {
			return clientError(err)
		}
	}
	for _, log := range logs {
		if _, known := h.sessions.ProjectOf(log.SessionID); known {
			continue
		}
		if err := h.finder.take(ctx, store.Info{Header: session.Header{ID: log.SessionID}, ProjectID: projectID}); err != nil {
			return clientError(err)
		}
		h.announcer.announceNew(log.SessionID)
	}
	return nil
}

func (h *Handover) storeArrival(ctx context.Context, projectID string, log Arrival, record session.MovedRecord, note string) error {
	received, err := log.Read()
	if err != nil {
		return err
	}
	switch _, have, err := h.sessions.provider.Export(ctx, log.SessionID); {
	case err == nil && bytes.HasPrefix(have, received):
		return nil // before a crash
	case err == nil:
		return api.Errorf(api.KindConflict, "another session with the id %s was stored here while this one was being moved: delete it, so that the moved one can be stored", clip(log.SessionID))
	case !errors.Is(err, store.ErrNotFound):
		return err
	}
	data, err := extended(received, h.sessions.deps.Sign, func(s *store.Session) error { return welcome(ctx, s, record, note) })
	if err != nil {
		return err
	}
	return h.sessions.provider.Import(ctx, projectID, data)
}

// extended returns the content of a session's file with the entries that add appends.
func extended(data []byte, sign store.Signer, add func(*store.Session) error) ([]byte, error) {
	parts, err := store.Split(data)
	if err != nil {
		return nil, err
	}
	data = parts.Bytes()
	file, err := session.ReadFile(data)
	if err != nil {
		return nil, err
	}
	log := &gathered{file: file}
	if err := add(store.NewSession(log, store.WithSigner(sign))); err != nil {
		return nil, fmt.Errorf("sessions: extending a moved session: %w", err)
	}
	for _, line := range log.lines {
		data = append(append(data, line...), '\n')
	}
	return data, nil
}

func appendRecord(ctx context.Context, s *store.Session, customType string, data any) error {
	raw, err := session.Encode(data)
	if err == nil {
		_, err = s.AppendCustom(ctx, store.Mark{Seq: s.LastSeq() + 1}, customType, raw)
	}
	return err
}

// welcome adds the first entries of this host to a session that arrived. Its queue and what
// waits for a person stay. Permissions belong to one host: prompts that were allowed everything,
// and a mode that asks less than "ask", are lowered. So are the options of other programs, by the
// first entry: see read.Backend. Background jobs stayed behind.
func welcome(ctx context.Context, s *store.Session, record session.MovedRecord, note string) error {
	record.Arrived = true
	err := appendRecord(ctx, s, session.CustomMoved, record)
	tree := s.Tree()
	digest := index.DigestOf(s.Header(), tree.Entries())
	foreign := digest.Backend != ""
	if waits := read.WaitingPrompts(tree, nil, nil); foreign && len(waits) > 0 || slices.ContainsFunc(waits, allowsMore) {
		items := slices.Clone(waits)
		for i := range items {
			items[i] = unallowed(items[i])
			if foreign { // the mode of the session does not have its program ask
				items[i].MaxMode = string(permission.Lower(api.ModeAsk, modeOf(items[i].MaxMode)))
			}
		}
		err = errors.Join(err, appendRecord(ctx, s, session.CustomQueue, session.Queue{Items: items}))
	}
	var mode session.ModeRecord
	if read.LastCustom(tree, session.CustomMode, &mode) && permission.Lower(modeOf(mode.Mode), api.ModeAsk) == api.ModeAsk && mode.Mode != string(api.ModeAsk) {
		err = errors.Join(err, appendRecord(ctx, s, session.CustomMode, session.ModeRecord{Mode: string(api.ModeAsk)}))
	}
	if jobs := digest.Jobs; len(jobs) > 0 {
		err = errors.Join(err, addLostNote(ctx, s, jobs))
	}
	if note == "" || read.Interrupted(tree) { // a call waits, whose result comes next
		return err
	}
	message, noteErr := noteMessage(session.Note{Kind: session.NoteMoved, Text: note})
	if noteErr == nil {
		_, noteErr = s.AppendCustomMessage(ctx, store.Mark{Seq: s.LastSeq() + 1}, message)
	}
	return errors.Join(err, noteErr)
}

func allowsMore(p session.QueuedPrompt) bool { return p.AllowAll || len(p.AllowRules) > 0 }

func unallowed(p session.QueuedPrompt) session.QueuedPrompt {
	p.AllowAll, p.AllowRules = false, nil
	return p
}
