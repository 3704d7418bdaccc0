package sessions

import (
	"context"
	"errors"
	"fmt"

	"github.com/scorel/scorel/apps/host/internal/gate"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// textImported is why a turn does not go on that a session was taken in with.
const textImported = "The session was taken in from a file in the middle of this turn, which does not go on. Send a message to go on."

// disarm ends what a session would do by itself, or with rights that nobody gave here. A
// session that comes from a file brings prompts that wait, with what they are allowed, a
// turn that waits for an approval, and a mode: all that is somebody else's word. A damaged
// one does nothing and is left as it is.
func (m *Manager) disarm(ctx context.Context, id string) (err error) {
	log, err := m.provider.Open(ctx, id)
	if err != nil {
		return err
	}
	s := store.NewSession(log)
	defer func() { err = errors.Join(err, s.Close()) }()
	if s.Damage() != "" {
		return nil
	}
	tree := s.Tree()
	note := func(customType string, data any) error {
		raw, err := session.Encode(data)
		if err == nil {
			_, err = s.AppendCustom(ctx, store.Mark{Seq: s.LastSeq() + 1}, customType, raw)
		}
		if err != nil {
			return fmt.Errorf("sessions: making a session from elsewhere harmless: %w", err)
		}
		return nil
	}
	if waits := waitingPrompts(tree, nil, nil); len(waits) > 0 {
		err = errors.Join(err, note(session.CustomQueue, session.Queue{Items: []session.QueuedPrompt{}, Removed: queueKeys(waits)}))
	}
	if interrupted(tree) {
		err = errors.Join(err, note(session.CustomTurn, session.TurnRecord{TurnID: "interrupted", StopReason: session.StopError, Error: textImported}))
	}
	var mode session.ModeRecord
	if lastCustom(tree, session.CustomMode, &mode) && gate.Lower(modeOf(mode.Mode), api.ModeAsk) == api.ModeAsk && mode.Mode != string(api.ModeAsk) {
		err = errors.Join(err, note(session.CustomMode, session.ModeRecord{Mode: string(api.ModeAsk)}))
	}
	return err
}
