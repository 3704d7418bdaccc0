package hook

import (
	"context"
	"slices"
	"sync"

	"github.com/scorel/scorel/packages/protocol/api"
)

// Set is the hooks of a folder at one moment, such as the beginning of a turn. What is
// removed from the files of the project later stays in it; what a person denies, or a folder
// that is not trusted any more, does not run from then on.
type Set struct {
	manager *Manager
	folder  string
	specs   []spec
}

// Load returns the hooks that may run in a folder now, and those that were allowed and have
// changed since: these have the outcome api.HookBroken.
func (m *Manager) Load(folder string) Set {
	if m == nil {
		return Set{}
	}
	specs, _ := m.configured(folder)
	return Set{m, folder, slices.DeleteFunc(specs, func(s spec) bool {
		state, _ := m.permits(s, folder)
		return state != api.HookReady && !(state == api.HookNeedsConsent && m.changed(s, folder))
	})}
}

// Has reports whether a hook is about an event.
func (h Set) Has(event api.HookEvent, in Input) bool { return len(h.about(event, in)) > 0 }

func (h Set) about(event api.HookEvent, in Input) (list []spec) {
	for _, s := range h.specs {
		if s.Event == event && s.matches(in) {
			list = append(list, s)
		}
	}
	return list
}

// maxParallel bounds how many hooks of one event run at once.
const maxParallel = 8

// Run runs the hooks about an event side by side and waits for all of them. The results are
// in the order of the configuration, without those of hooks that no longer may run.
func (h Set) Run(ctx context.Context, event api.HookEvent, in Input) []Result {
	specs := h.about(event, in)
	results := make([]*Result, len(specs))
	slots := make(chan struct{}, maxParallel)
	var running sync.WaitGroup
	for i, s := range specs {
		running.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			results[i] = h.one(ctx, s, in)
		})
	}
	running.Wait()
	list := make([]Result, 0, len(results))
	for _, r := range results {
		if r != nil {
			list = append(list, *r)
		}
	}
	return list
}

// one runs a hook if it still may run; nil if it may not.
func (h Set) one(ctx context.Context, s spec, in Input) *Result {
	switch state, reason := h.manager.permits(s, h.folder); {
	case state == api.HookReady:
		r, _ := h.manager.run(ctx, s, h.folder, in)
		return &r
	case state == api.HookNeedsConsent && h.manager.changed(s, h.folder):
		return &Result{Name: s.label(), Source: s.Source, Outcome: api.HookBroken, Reason: reason}
	}
	return nil
}
