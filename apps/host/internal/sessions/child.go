package sessions

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/gate"
	"github.com/scorel/scorel/apps/host/internal/sessions/read"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// A child is a session that an agent had made for a task. It runs with no more
// rights than the session that it belongs to.

// hostID is whose prompts tasks are.
const hostID = "host"

// ChildSpec says what child to make.
type ChildSpec struct {
	Key    string // the same key gives the same session
	Model  string // name in config.toml
	Record session.ChildRecord
}

// CreateChild makes a session that belongs to another one, in its project and mode.
func (m *Manager) CreateChild(ctx context.Context, parent *Session, spec ChildSpec) (*Session, error) {
	_, info, err := m.deps.Models.Model(spec.Model)
	if err != nil {
		return nil, err
	}
	header := session.Header{ClientKey: spec.Key, ChildOf: parent.id, ParentSession: parent.id}
	if locator, ok := m.provider.(store.Locator); ok {
		path, err := locator.Locate(ctx, parent.id)
		if err != nil {
			return nil, refuse(err)
		}
		header.ParentSession = path
	}
	s, isNew, err := m.create(ctx, parent.project, header)
	if err != nil || !isNew {
		return s, err
	}
	mode, _ := m.modeOf(parent.id)
	doErr := s.do(ctx, func() { err = s.found(info, cmp.Or(mode, api.ModeAsk), spec.Record) })
	if doErr != nil {
		return nil, refuse(doErr)
	}
	return s, refuse(err)
}

// found writes the first entries of a child.
func (s *Session) found(model api.Model, mode api.Mode, record session.ChildRecord) error {
	if err := s.keepCustom(session.CustomChild, record, ""); err != nil {
		return err
	}
	if err := s.changeModel("", model); err != nil {
		return err
	}
	if err := s.keepCustom(session.CustomMode, session.ModeRecord{Mode: string(mode)}, ""); err != nil {
		return err
	}
	s.keepTitle(record.Title)
	return nil
}

// modeOf returns the mode of a session; false where it is not known.
func (m *Manager) modeOf(id string) (api.Mode, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k, ok := m.known[id]
	if !ok {
		return "", false
	}
	return k.summary.Mode, true
}

// children returns the ids of the sessions that belong to one.
func (m *Manager) children(id string) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.looped(id) {
		return nil
	}
	return slices.Sorted(slices.Values(m.offspring[id]))
}

// looped tells whether a session belongs, itself or over others, to itself. Only files
// from elsewhere say so; then none of them owns another. m.mu is held.
func (m *Manager) looped(id string) bool {
	seen := map[string]bool{}
	for k := m.known[id]; k != nil && !seen[k.header.ID]; k = m.known[k.header.ChildOf] {
		if k.header.ChildOf == id {
			return true
		}
		seen[k.header.ID] = true
	}
	return false
}

// ID returns the session's id.
func (s *Session) ID() string { return s.id }

// Project returns the folder that it works in.
func (s *Session) Project() api.Project { return s.project }

// Stopped is closed when the session does nothing any more, as when the host ends.
func (s *Session) Stopped() <-chan struct{} { return s.stopped }

// lowered is a mode that is not above that of the parent.
func (s *Session) lowered(mode api.Mode) api.Mode {
	if s.parentMode == nil {
		return mode
	}
	if most, ok := s.parentMode(); ok {
		mode = gate.Lower(mode, cmp.Or(most, api.ModeAsk))
	}
	return mode
}

// isTask tells whether a prompt is what a child was made for.
func (s *Session) isTask(prompt session.QueuedPrompt) bool {
	return s.parentMode != nil && prompt.ClientID == hostID
}

// delegated tells whether the running turn ends with that of the parent.
func (s *Session) delegated() bool { return s.turn != nil && s.isTask(s.turn.prompt) }

// childRecord returns what the session was made for; the zero value where a person
// made it.
func (s *Session) childRecord(ctx context.Context) (record session.ChildRecord, err error) {
	if s.parentMode == nil {
		return record, nil
	}
	err = s.do(ctx, func() { read.LastCustom(s.log.Tree(), session.CustomChild, &record) })
	return record, refuse(err)
}

// permitted are the tools that a child may use.
func permitted(tools []agent.Tool, child session.ChildRecord) []agent.Tool {
	return slices.DeleteFunc(slices.Clone(tools), func(t agent.Tool) bool {
		name := t.Spec().Name
		return len(child.Tools) > 0 && !names(child.Tools, name) || names(child.Without, name)
	})
}

// restricted is a policy with what a child was made with. A rule that does not read any
// more denies its tool.
func restricted(p gate.Policy, child session.ChildRecord, tools gate.Tools) gate.Policy {
	add := func(to *[]gate.Rule, texts []string) {
		for _, text := range texts {
			rule, err := gate.ParseRule(text, tools)
			if err == nil {
				*to = append(*to, rule)
				continue
			}
			name, _, _ := strings.Cut(text, "(")
			if rule, err = gate.ParseRule(name, tools); err == nil { // else there is no such tool
				p.Rules.Deny = append(p.Rules.Deny, rule)
			}
		}
	}
	p.Only, p.Rules.Deny = nil, slices.Clone(p.Rules.Deny)
	add(&p.Only, child.Only)
	add(&p.Rules.Deny, child.Deny)
	return p
}

// names tells whether a list of names and beginnings holds a name.
func names(list []string, name string) bool {
	return slices.ContainsFunc(list, func(pattern string) bool {
		beginning, open := strings.CutSuffix(pattern, "*")
		return pattern == name || open && strings.HasPrefix(name, beginning)
	})
}

// Task is what a child is asked to do, with the rights of the turn that asks.
type Task struct {
	Key    string
	Text   string
	Rights Rights
}

// Rights are what a turn may do beside the mode of its session.
type Rights struct {
	AllowAll   bool
	AllowRules []string
	MaxMode    api.Mode
}

// SendTask gives a child its task.
func (s *Session) SendTask(ctx context.Context, task Task) error {
	_, err := s.SendPromptUpTo(ctx, hostID, task.Rights.MaxMode, api.SendPromptRequest{
		ClientKey: task.Key, Text: task.Text, AllowAll: task.Rights.AllowAll, AllowRules: task.Rights.AllowRules,
	})
	return err
}

// CancelTask cancels the turn of a task, or takes the task out of the queue.
func (s *Session) CancelTask(ctx context.Context, key string) (err error) {
	doErr := s.do(ctx, func() {
		if s.turn != nil && s.turn.prompt.ClientKey == key {
			if !s.cancelling() {
				s.publish(api.TurnCancelling{TurnID: s.turn.id})
			}
			s.turn.cancel()
			return
		}
		isTask := func(q session.QueuedPrompt) bool { return q.ClientKey == key }
		if slices.ContainsFunc(s.live.Queue, isTask) {
			err = s.rewriteQueue(slices.DeleteFunc(slices.Clone(s.live.Queue), isTask), hostID)
		}
	})
	if doErr != nil {
		return refuse(doErr)
	}
	return refuse(err)
}

// jobStopper is a Toolset whose background jobs can be ended.
type jobStopper interface{ StopJobs() }

// routineTask is routineTurn for a task. A model wrote its text, so it calls no skill as a
// person does. Nobody could reach what it left running in the background, so that ends
// with it.
func (s *Session) routineTask(ctx context.Context, turn agent.Turn, err error) {
	outcome := s.runTurn(ctx, turn, "", err)
	if tools, ok := s.tools.(jobStopper); ok {
		tools.StopJobs()
	}
	// The session's goroutine lives until the turn has ended, so this arrives.
	s.commands <- func() { s.endTurn(outcome) }
}
