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

// Family returns the id of a session and those of the sessions of its subagents, and theirs.
func (m *Manager) Family(id string) ([]string, error) {
	if _, known := m.ProjectOf(id); !known {
		_, err := m.Open(id)
		return nil, err
	}
	family := []string{id}
	for i := 0; i < len(family); i++ {
		for _, child := range m.children(family[i]) {
			if !slices.Contains(family, child) {
				family = append(family, child)
			}
		}
	}
	return family, nil
}

// Pause has sessions begin nothing new, and returns when none of them works. From then on they
// refuse changes with why, and can be read. A turn that waits for a person is suspended: it
// continues after Resume, or on the host that has the session then. Without wait, a session
// that works is a conflict.
func (m *Manager) Pause(ctx context.Context, ids []string, why error, wait bool) error {
	for i, id := range ids {
		s, err := m.Open(id)
		if err == nil {
			err = s.pause(ctx, why, wait)
		}
		if err != nil {
			m.Resume(context.WithoutCancel(ctx), ids[:i]) // the last one is not paused, or by another move
			if i > 0 {
				err = ofSubagent(id, err)
			}
			return err
		}
	}
	return nil
}

// PauseFamily is Pause for a session and those of its subagents, whose ids it returns. A turn
// that ends first may begin more of them.
func (m *Manager) PauseFamily(ctx context.Context, id string, why error, wait bool) (paused []string, err error) {
	for {
		family, err := m.Family(id)
		more := slices.DeleteFunc(family, func(id string) bool { return slices.Contains(paused, id) })
		if err == nil && len(more) == 0 {
			return paused, nil
		}
		if err == nil {
			err = m.Pause(ctx, more, why, wait)
		}
		if err != nil {
			m.Resume(context.WithoutCancel(ctx), paused)
			return nil, err
		}
		paused = append(paused, more...)
	}
}

// Resume ends what Pause began. Sessions that were not paused go on as before.
func (m *Manager) Resume(ctx context.Context, ids []string) {
	for _, id := range ids {
		s, err := m.Open(id)
		if err != nil {
			continue // it is gone, or the host ends
		}
		err = s.do(ctx, func() { s.unpause(ctx, s.pausing) })
		if err != nil {
			m.deps.Logger.Error("resuming a session that was not moved", "session", id, "error", err)
		}
	}
}

// pauseRequest has a session pause as soon as it rests.
type pauseRequest struct {
	why    error
	paused chan struct{} // closed when it has
	asked  bool          // the turn that waits for a person was asked to suspend
}

func (s *Session) pause(ctx context.Context, why error, wait bool) error {
	request := &pauseRequest{why: why, paused: make(chan struct{})}
	err := s.change(ctx, func() error {
		switch {
		case s.pausing != nil:
			return api.Errorf(api.KindConflict, "the session is being moved already: wait until that has ended, or cancel it")
		case s.log.Damage() != "":
			return &store.DamageError{What: s.log.Damage()}
		case !wait && !s.rests() && !s.waitsForPerson():
			return s.busyError()
		}
		s.pausing = request
		s.pauseAtRest()
		return nil
	})
	if err != nil {
		return err
	}
	select {
	case <-request.paused:
		return nil
	case <-s.stopped:
		return clientError(ErrClosed)
	case <-ctx.Done():
		err := s.do(context.WithoutCancel(ctx), func() { s.unpause(ctx, request) })
		return clientError(errors.Join(context.Cause(ctx), err))
	}
}

// unpause ends what a pause request began, unless another one has taken its place.
func (s *Session) unpause(ctx context.Context, request *pauseRequest) {
	if request != nil && s.pausing == request {
		s.pausing, s.paused = nil, nil
		s.recover(context.WithoutCancel(ctx))
	}
}

func (s *Session) busyError() error {
	if s.turns.running == nil && !s.working() {
		return api.Errorf(api.KindConflict, "background commands of the session are running: wait until they end, or stop them, then try again")
	}
	return api.Errorf(api.KindConflict, "a turn is running: wait until it ends or cancel it, then try again")
}

// rests reports whether nothing of the session runs.
func (s *Session) rests() bool { return !s.working() && len(s.operations.sink.Running()) == 0 }

// waitsForPerson reports whether a turn runs that does nothing but wait for an answer, so that
// it can be suspended.
func (s *Session) waitsForPerson() bool {
	return s.turns.running != nil && !s.turns.taskRuns() && s.approvals.waiting.Len()+s.questions.waiting.Len() > 0 &&
		s.summaries.running == nil && s.titles.cancel == nil && len(s.operations.sink.Running()) == 0
}

// pauseAtRest does what a pause request asks once the session allows it. The session's
// goroutine calls it after each change.
func (s *Session) pauseAtRest() {
	s.tellWaiters()
	request := s.pausing
	switch {
	case request == nil || s.paused != nil:
	case s.rests():
		s.paused = request.why
		close(request.paused)
	case s.waitsForPerson() && !request.asked:
		request.asked = true
		s.turns.running.cancel()
	}
}

// Leaving returns the content of a paused session's file, followed by an entry that hands it
// over. That entry is signed by this host and is not in the log here.
func (m *Manager) Leaving(ctx context.Context, id string, record session.MovedRecord) ([]byte, error) {
	_, data, err := m.provider.Export(ctx, id)
	if err != nil {
		return nil, clientError(err)
	}
	return extended(data, m.deps.Sign, func(s *store.Session) error { return appendRecord(ctx, s, session.CustomMoved, record) })
}

// Remove removes sessions that belong to another host now. Repeating it changes nothing.
func (m *Manager) Remove(ctx context.Context, ids []string) error {
	var errs []error
	for _, id := range slices.Backward(ids) {
		if err := m.removeMoved(ctx, id); err != nil {
			errs = append(errs, fmt.Errorf("removing the moved session %s: %w", clip(id), err))
		}
	}
	return errors.Join(errs...)
}

func (m *Manager) removeMoved(ctx context.Context, id string) error {
	m.mu.Lock()
	_, known := m.known[id]
	m.mu.Unlock()
	remove := func() error {
		if err := m.provider.Delete(ctx, id); err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		return nil
	}
	if !known { // the host was restarted in between: it does not list the session any more
		if err := remove(); err != nil {
			return err
		}
		m.unregister(id)
		if m.deps.Worktrees != nil {
			m.deps.Worktrees.Forget(ctx, id)
		}
		if m.deps.Processes != nil {
			return m.deps.Processes.Remove(id)
		}
		return nil
	}
	s, err := m.Open(id)
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
		m.unregister(id)
	})
	if err = errors.Join(askErr, err); err == nil && m.deps.Worktrees != nil {
		m.deps.Worktrees.Forget(ctx, id)
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
func (m *Manager) Arrive(ctx context.Context, projectID string, logs []Arrival, record session.MovedRecord, note string) error {
	for _, log := range logs {
		if err := m.store(ctx, projectID, log, record, note); err != nil {
			return clientError(err)
		}
	}
	for _, log := range logs {
		if _, known := m.ProjectOf(log.SessionID); known {
			continue
		}
		if err := m.take(ctx, store.Info{Header: session.Header{ID: log.SessionID}, ProjectID: projectID}); err != nil {
			return clientError(err)
		}
		m.announceNew(log.SessionID)
	}
	return nil
}

func (m *Manager) store(ctx context.Context, projectID string, log Arrival, record session.MovedRecord, note string) error {
	received, err := log.Read()
	if err != nil {
		return err
	}
	switch _, have, err := m.provider.Export(ctx, log.SessionID); {
	case err == nil && bytes.HasPrefix(have, received):
		return nil // before a crash
	case err == nil:
		return api.Errorf(api.KindConflict, "another session with the id %s was stored here while this one was being moved: delete it, so that the moved one can be stored", clip(log.SessionID))
	case !errors.Is(err, store.ErrNotFound):
		return err
	}
	data, err := extended(received, m.deps.Sign, func(s *store.Session) error { return welcome(ctx, s, record, note) })
	if err != nil {
		return err
	}
	return m.provider.Import(ctx, projectID, data)
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
