package subagent

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/agentdef"
	"github.com/scorel/scorel/apps/host/internal/sessions"
	"github.com/scorel/scorel/apps/host/internal/tool"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Team runs the subagents of one session. It implements tool.Crew.
type Team struct {
	orchestrator *Orchestrator
	sessionID    string
	slots        *slots

	mu     sync.Mutex
	agents []agentdef.Agent // as of the beginning of the turn
}

var _ tool.Subagents = (*Team)(nil)

// Prepare loads the agent definitions and the host's limits at the beginning of a turn, and
// returns their description for the model.
//
// mayDelegate reports which agents the session itself may use; nil permits all.
func (t *Team) Prepare(cwd string, mayDelegate func(name string) bool) []tool.AgentInfo {
	limits := t.orchestrator.options.Limits()
	t.slots.limit(limits)
	agents := t.orchestrator.offered(cwd, limits)
	if mayDelegate != nil {
		agents = slices.DeleteFunc(agents, func(a agentdef.Agent) bool { return !mayDelegate(a.Name) })
	}
	t.mu.Lock()
	t.agents = agents
	t.mu.Unlock()
	infos := make([]tool.AgentInfo, 0, len(agents))
	for _, a := range agents {
		infos = append(infos, tool.AgentInfo{Name: a.Name, Description: a.Description, Backends: limits.BackendsOf(a)})
	}
	return infos
}

func (t *Team) agent(name string) (agentdef.Agent, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.IndexFunc(t.agents, func(a agentdef.Agent) bool { return a.Name == name })
	if i < 0 {
		return agentdef.Agent{}, false
	}
	return t.agents[i], true
}

// DefaultTurns is how many model calls a task may make if its agent definition does not set
// a limit.
const DefaultTurns = 10

// keepTimeout bounds a single change of a log or list that cancellation does not interrupt.
const keepTimeout = 30 * time.Second

// detached returns a context that outlives the turn, so that its outcome can be saved.
func detached(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), keepTimeout)
}

// Delegate implements tool.Crew.
func (t *Team) Delegate(ctx context.Context, call agent.Call, tasks []tool.Task) ([]tool.Report, int, error) {
	manager, err := t.orchestrator.sessions(ctx)
	if err != nil {
		return nil, 0, err
	}
	parent, err := manager.Open(t.sessionID)
	if err != nil {
		return nil, 0, plain(err)
	}
	caller, err := parent.Caller(ctx, call.ID)
	if err != nil {
		return nil, 0, plain(err)
	}
	limit := reportLimit(caller.FreeTokens, len(tasks))
	b := &batch{team: t, parent: parent, caller: caller, callID: call.ID, tool: call.Name, reports: make([]tool.Report, len(tasks)), updates: make(chan update)}
	for i, task := range tasks {
		b.add(ctx, manager, i, task, limit)
	}
	return b.reports, limit, b.run(ctx)
}

// plain returns an error that reads as part of a sentence for the model.
func plain(err error) error {
	var refused *api.Error
	if errors.As(err, &refused) {
		return errors.New(refused.Message)
	}
	return err
}

// add creates the session of a task. If that fails, the task has failed.
func (b *batch) add(ctx context.Context, manager *sessions.Manager, i int, task tool.Task, limit int) {
	member := session.SubagentMember{Agent: task.Agent, Title: task.Title, State: session.ChildQueued}
	b.reports[i].Task = task
	w := &worker{index: i, task: task, batch: b, key: b.key(i)}
	child, err := b.child(ctx, manager, w, limit)
	if err != nil {
		member.State, member.Error, member.EndedAt = session.ChildFailed, plain(err).Error(), time.Now().UnixMilli()
		b.reports[i].State, b.reports[i].Error = member.State, member.Error
	} else {
		w.child, member.SessionID = child, child.ID()
		b.reports[i].SessionID = child.ID()
		b.workers = append(b.workers, w)
	}
	b.children = append(b.children, api.SubagentChild{SubagentMember: member})
}

func (b *batch) child(ctx context.Context, manager *sessions.Manager, w *worker, limit int) (*sessions.Session, error) {
	chosen, ok := b.team.agent(w.task.Agent)
	if !ok {
		return nil, fmt.Errorf("the agent %q no longer exists", w.task.Agent)
	}
	w.most = chosen.MaxConcurrent
	model := chosen.Model
	if model == "" {
		model = b.caller.Model
	}
	without := append(forbidden(), chosen.Without...)
	if chosen.Tools != nil && len(chosen.Tools) == 0 {
		without = append(without, "*") // also effective for a host that treats an empty list as all
	}
	return manager.CreateChild(ctx, b.parent, sessions.ChildSpec{Key: w.key, Model: model, Backend: w.task.Backend, Record: session.ChildRecord{
		ParentSessionID: b.parent.ID(), EntryID: b.caller.EntryID, ToolCallID: b.callID,
		Agent: chosen.Name, Title: w.task.Title, Prompt: childPrompt(chosen, limit),
		Tools: chosen.Tools, Without: without, Only: chosen.Only, Deny: chosen.Deny, MaxTurns: cmp.Or(chosen.MaxTurns, DefaultTurns),
	}})
}

// key identifies a task, so that repeating it does not create a second session.
func (b *batch) key(i int) string {
	sum := sha256.Sum256([]byte(b.parent.ID() + "\x00" + b.caller.EntryID + "\x00" + b.callID + "\x00" + strconv.Itoa(i)))
	return "task_" + hex.EncodeToString(sum[:12])
}
