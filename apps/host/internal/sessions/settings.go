package sessions

import (
	"context"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/sessions/index"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// settings changes what people choose for a session. The session's goroutine owns it.
type settings struct {
	*core
	approvals *approvals
}

// SetModel chooses the model of the next turns.
func (e *settings) SetModel(ctx context.Context, clientID, name string) (err error) {
	_, model, err := e.deps.Models.Model(name)
	if err != nil {
		return err
	}
	return e.change(ctx, func() error { return e.changeModel(clientID, model) })
}

func (e *settings) changeModel(clientID string, model api.Model) error {
	_, err := e.append(store.Mark{ClientID: clientID}, func(ctx context.Context, mark store.Mark) (session.Entry, error) {
		return e.log.AppendModelChange(ctx, mark, model.Provider, model.ID)
	})
	e.updateSummary()
	return err
}

// CheckThinking refuses a thinking level that no model knows. "" stands for the configured one.
func CheckThinking(level string) error {
	switch agent.ThinkingLevel(level) {
	case "", agent.ThinkingOff, agent.ThinkingMinimal, agent.ThinkingLow, agent.ThinkingMedium, agent.ThinkingHigh:
		return nil
	}
	return api.Errorf(api.KindBadRequest, "unknown thinking level %.32q: use off, minimal, low, medium, high or configured", level)
}

// SetThinking chooses the thinking level of the next turns; "" returns to the configured one.
func (e *settings) SetThinking(ctx context.Context, clientID, level string) error {
	if err := CheckThinking(level); err != nil {
		return err
	}
	return e.change(ctx, func() error {
		_, err := e.append(store.Mark{ClientID: clientID}, func(ctx context.Context, mark store.Mark) (session.Entry, error) {
			return e.log.AppendThinkingLevelChange(ctx, mark, level)
		})
		e.updateSummary()
		return err
	})
}

// Rename names the session; "" restores the name made from its first prompt.
func (e *settings) Rename(ctx context.Context, clientID, name string) (err error) {
	if err := checkName(name); err != nil {
		return err
	}
	return e.change(ctx, func() error { return e.storeName(clientID, name) })
}

func oneLine(name string) string { return index.Plain(strings.Join(strings.Fields(name), " ")) }

func checkName(name string) error {
	if name = oneLine(name); len(name) > api.MaxName {
		return api.Errorf(api.KindTooLarge, "the name has %d bytes, the limit is %d", len(name), api.MaxName)
	}
	return nil
}

// storeName stores a name that a person chose, unless the session has it already. An empty one
// is stored too: it keeps the model from writing a title.
func (e *settings) storeName(clientID, name string) error {
	name = oneLine(name)
	if e.digest.Named && name == e.digest.Name {
		return nil
	}
	_, err := e.append(store.Mark{ClientID: clientID}, func(ctx context.Context, mark store.Mark) (session.Entry, error) {
		return e.log.AppendSessionInfo(ctx, mark, name)
	})
	e.updateSummary()
	return err
}

// SetMode chooses what the agent may do without asking, from the next call on. A higher mode
// releases the calls that wait and that it allows. A lower one changes nothing for these. The mode plan
// has another program that works on the running turn ask.
func (e *settings) SetMode(ctx context.Context, clientID string, mode api.Mode) error {
	return e.change(ctx, func() error {
		if e.summary.Mode == mode {
			return nil
		}
		err := e.appendCustom(session.CustomMode, session.ModeRecord{Mode: string(mode)}, clientID)
		e.updateSummary()
		if err == nil {
			e.approvals.recheck(clientID)
			e.approvals.judge.tighten()
			e.others.recheckSubagents(e.id, clientID) // its mode bounds theirs
		}
		return err
	})
}
