package sessions

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/scorel/scorel/apps/host/internal/permission"
	"github.com/scorel/scorel/apps/host/internal/sessions/index"
	"github.com/scorel/scorel/apps/host/internal/sessions/queue"
	"github.com/scorel/scorel/apps/host/internal/sessions/read"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// textImported is the error of a turn that was running in an imported session.
const textImported = "The session was imported during this turn, which is not resumed. Send a message to continue."

// sanitized returns the bytes of a session's file with entries that end all that the session
// would do by itself, or with permissions that were not granted here. A file may hold queued prompts with
// their permissions, a turn that waits for an approval, background jobs whose end starts a
// turn, and a mode. None of these can be trusted. Neither can the sessions and modes of other
// programs in a file from elsewhere; a conversation that the host read itself names its own. The
// bytes are stored in one step, so that no crash leaves the session as it came. A damaged session
// does nothing and is not changed.
func sanitized(ctx context.Context, data []byte, elsewhere bool) ([]byte, error) {
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
	s := store.NewSession(log)
	if s.Damage() != "" {
		return data, nil
	}
	err = sanitize(ctx, s)
	if elsewhere && read.KeepsBackends(s.Tree()) {
		err = errors.Join(err, appendRecord(ctx, s, session.CustomBackend, session.BackendRecord{Kind: session.BackendReset}))
	}
	if err != nil {
		return nil, fmt.Errorf("sessions: sanitizing an imported session: %w", err)
	}
	for _, line := range log.lines {
		data = append(append(data, line...), '\n')
	}
	return data, nil
}

// gathered is a log that keeps in memory what is appended to it.
type gathered struct {
	file  *session.File
	lines []json.RawMessage
}

func (g *gathered) File() *session.File { return g.file }

func (g *gathered) Append(_ context.Context, lines ...json.RawMessage) error {
	g.lines = append(g.lines, lines...)
	return nil
}

func (*gathered) Close() error { return nil }

// sanitize adds entries that end the work that waits in a session, and its mode.
func sanitize(ctx context.Context, s *store.Session) (err error) {
	tree := s.Tree()
	note := func(customType string, data any) error {
		raw, err := session.Encode(data)
		if err == nil {
			_, err = s.AppendCustom(ctx, store.Mark{Seq: s.LastSeq() + 1}, customType, raw)
		}
		return err
	}
	if waits := read.WaitingPrompts(tree, nil, nil); len(waits) > 0 {
		err = errors.Join(err, note(session.CustomQueue, session.Queue{Items: []session.QueuedPrompt{}, Removed: queue.Keys(waits)}))
	}
	waits := index.DigestOf(s.Header(), tree.Entries())
	if cut := cmp.Or(read.InterruptedTurn(tree), waits.Owed); cut != "" {
		err = errors.Join(err, note(session.CustomTurn, session.TurnRecord{TurnID: cut, StopReason: session.StopError, Error: textImported}))
	}
	if len(waits.Jobs) > 0 {
		err = errors.Join(err, addLostNote(ctx, s, waits.Jobs))
	}
	var mode session.ModeRecord
	if read.LastCustom(tree, session.CustomMode, &mode) && permission.Lower(modeOf(mode.Mode), api.ModeAsk) == api.ModeAsk && mode.Mode != string(api.ModeAsk) {
		err = errors.Join(err, note(session.CustomMode, session.ModeRecord{Mode: string(api.ModeAsk)}))
	}
	return err
}

// addLostNote adds a note that the session does not have its background jobs, so that none of
// them starts a turn.
func addLostNote(ctx context.Context, s *store.Session, waking []index.Job) error {
	jobs := read.LostJobs(s.Tree())
	for _, job := range waking {
		if !slices.Contains(jobs, job.Name) { // it is on another branch
			jobs = append(jobs, job.Name)
		}
	}
	message, err := noteMessage(lostNote(jobs))
	if err == nil {
		_, err = s.AppendCustomMessage(ctx, store.Mark{Seq: s.LastSeq() + 1}, message)
	}
	return err
}
