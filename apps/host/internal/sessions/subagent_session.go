package sessions

import (
	"cmp"
	"context"
	"slices"

	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// A child is the session of a subagent, which an agent created for a task. It runs with no more
// rights than its parent.

// ChildSpec describes the session of a subagent.
type ChildSpec struct {
	Key   string // the same key gives the same session
	Model string // name in config.toml
	// Backend is the program that works on the task; "" is the host's own agent.
	Backend string
	Record  session.ChildRecord
}

// CreateChild creates the session of a subagent, in the project and mode of its parent.
func (c *creator) CreateChild(ctx context.Context, parent *Session, spec ChildSpec) (*Session, error) {
	_, info, err := c.deps.Models.Model(spec.Model)
	if err != nil {
		return nil, err
	}
	mode, _ := c.modeOf(parent.id)
	if spec.Backend != "" && mode == api.ModePlan {
		return nil, api.Errorf(api.KindNotAllowed, "in the mode plan, no other program works on tasks")
	}
	if err := c.deps.checkBackend(spec.Backend); err != nil {
		return nil, err
	}
	header := session.Header{ClientKey: spec.Key, ChildOf: parent.id, ParentSession: parent.id}
	if locator, ok := c.provider.(store.Locator); ok {
		path, err := locator.Locate(ctx, parent.id)
		if err != nil {
			return nil, clientError(err)
		}
		header.ParentSession = path
	}
	s, _, err := c.create(ctx, c.placeOf(parent), header, c.deps.sharing(parent.id, true), func(ctx context.Context, o opening) error {
		return o.subagent(ctx, info, cmp.Or(mode, api.ModeAsk), spec)
	})
	return s, err
}

// subagent appends the first entries of a subagent's session.
func (o opening) subagent(ctx context.Context, model api.Model, mode api.Mode, spec ChildSpec) error {
	if err := o.custom(ctx, session.CustomChild, spec.Record); err != nil {
		return err
	}
	if _, err := o.AppendModelChange(ctx, o.mark(), model.Provider, model.ID); err != nil {
		return err
	}
	if err := o.custom(ctx, session.CustomMode, session.ModeRecord{Mode: string(mode)}); err != nil {
		return err
	}
	if spec.Backend != "" {
		chosen := session.BackendRecord{Kind: session.BackendChosen, Backend: spec.Backend}
		if err := o.custom(ctx, session.CustomBackend, chosen); err != nil {
			return err
		}
	}
	_, err := o.AppendSessionInfo(ctx, o.mark(), spec.Record.Title)
	return err
}

// modeOf implements others.
func (g *registry) modeOf(id string) (api.Mode, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	k, ok := g.known[id]
	if !ok {
		return "", false
	}
	return k.summary.Mode, true
}

// children returns the ids of the sessions of a session's subagents.
func (g *registry) children(id string) []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.inCycle(id) {
		return nil
	}
	return slices.Sorted(slices.Values(g.offspring[id]))
}

// inCycle reports whether a session belongs, itself or over others, to itself. Only files
// from elsewhere say so; then none of them owns another. g.mu is held.
func (g *registry) inCycle(id string) bool {
	seen := map[string]bool{}
	for k := g.known[id]; k != nil && !seen[k.header.ID]; k = g.known[k.header.ChildOf] {
		if k.header.ChildOf == id {
			return true
		}
		seen[k.header.ID] = true
	}
	return false
}

// ID returns the session's id.
func (c *core) ID() string { return c.id }

// Project returns the folder that it works in.
func (c *core) Project() api.Project { return c.project }

// Stopped is closed when the session does nothing any more, as when the host ends.
func (c *core) Stopped() <-chan struct{} { return c.stopped }

// Task is what a subagent is asked to do, with the rights of the turn that asks.
type Task struct {
	Key    string
	Text   string
	Rights Rights
}

// Rights are the rights of a turn beyond the mode of its session.
type Rights struct {
	AllowAll   bool
	AllowRules []string
	MaxMode    api.Mode
}
