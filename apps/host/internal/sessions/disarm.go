package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/scorel/scorel/apps/host/internal/gate"
	"github.com/scorel/scorel/apps/host/internal/sessions/queue"
	"github.com/scorel/scorel/apps/host/internal/sessions/read"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// textImported is why a turn does not go on that a session was taken in with.
const textImported = "The session was taken in from a file in the middle of this turn, which does not go on. Send a message to go on."

// disarmed returns the bytes of a session's file with what ends all that the session would
// do by itself, or with rights that nobody gave here. A session that comes from a file
// brings prompts that wait, with what they are allowed, a turn that waits for an approval,
// and a mode: all that is somebody else's word. The bytes are stored in one step, so no
// crash leaves the session armed. A damaged one does nothing and is left as it is.
func disarmed(ctx context.Context, data []byte) ([]byte, error) {
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
	if err := disarm(ctx, s); err != nil {
		return nil, fmt.Errorf("sessions: making a session from elsewhere harmless: %w", err)
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

// disarm adds what ends the work that waits in a session, and its mode.
func disarm(ctx context.Context, s *store.Session) (err error) {
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
	if read.Interrupted(tree) {
		err = errors.Join(err, note(session.CustomTurn, session.TurnRecord{TurnID: "interrupted", StopReason: session.StopError, Error: textImported}))
	}
	var mode session.ModeRecord
	if read.LastCustom(tree, session.CustomMode, &mode) && gate.Lower(modeOf(mode.Mode), api.ModeAsk) == api.ModeAsk && mode.Mode != string(api.ModeAsk) {
		err = errors.Join(err, note(session.CustomMode, session.ModeRecord{Mode: string(api.ModeAsk)}))
	}
	return err
}
