package crew

import (
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
	"github.com/scorel/scorel/apps/host/internal/preset"
	"github.com/scorel/scorel/apps/host/internal/sessions"
	"github.com/scorel/scorel/apps/host/internal/tool"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Team is the agents that work for one session. It implements tool.Crew.
type Team struct {
	orchestrator *Orchestrator
	sessionID    string
	slots        *slots

	mu     sync.Mutex
	agents []preset.Agent // as they were when the turn began
}

var _ tool.Crew = (*Team)(nil)

// Prepare reads which agents there are, at the beginning of a turn, and returns what
// the model is told of them.
func (t *Team) Prepare(cwd string) []tool.AgentInfo {
	agents := t.orchestrator.offered(cwd)
	t.mu.Lock()
	t.agents = agents
	t.mu.Unlock()
	infos := make([]tool.AgentInfo, 0, len(agents))
	for _, a := range agents {
		infos = append(infos, tool.AgentInfo{Name: a.Name, Description: a.Description})
	}
	return infos
}

func (t *Team) agent(name string) (preset.Agent, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.IndexFunc(t.agents, func(a preset.Agent) bool { return a.Name == name })
	if i < 0 {
		return preset.Agent{}, false
	}
	return t.agents[i], true
}

// keepTimeout bounds one change of a log or a list that a cancel does not stop.
const keepTimeout = 30 * time.Second

// detached is a context that outlives the turn, so that what happened is kept.
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
	b := &batch{team: t, parent: parent, caller: caller, callID: call.ID, reports: make([]tool.Report, len(tasks)), updates: make(chan update)}
	for i, task := range tasks {
		b.add(ctx, manager, i, task, limit)
	}
	return b.reports, limit, b.run(ctx)
}

// plain is an error as a part of a sentence for the model.
func plain(err error) error {
	var told *api.Error
	if errors.As(err, &told) {
		return errors.New(told.Message)
	}
	return err
}

// add makes the session of a task. Where that fails, the task has failed.
func (b *batch) add(ctx context.Context, manager *sessions.Manager, i int, task tool.Task, limit int) {
	member := session.CrewMember{Agent: task.Agent, Title: task.Title, State: session.ChildQueued}
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
	b.children = append(b.children, api.CrewChild{CrewMember: member})
}

func (b *batch) child(ctx context.Context, manager *sessions.Manager, w *worker, limit int) (*sessions.Session, error) {
	chosen, ok := b.team.agent(w.task.Agent)
	if !ok {
		return nil, fmt.Errorf("there is no agent %q any more", w.task.Agent)
	}
	model := chosen.Model
	if model == "" {
		model = b.caller.Model
	}
	return manager.CreateChild(ctx, b.parent, sessions.ChildSpec{Key: w.key, Model: model, Record: session.ChildRecord{
		ParentSessionID: b.parent.ID(), EntryID: b.caller.EntryID, ToolCallID: b.callID,
		Agent: chosen.Name, Title: w.task.Title, Prompt: childPrompt(chosen, limit),
		Tools: chosen.Tools, Without: append(forbidden(), chosen.Without...), Only: chosen.Only, Deny: chosen.Deny,
	}})
}

// key names a task, so that one that is begun again makes no second session.
func (b *batch) key(i int) string {
	sum := sha256.Sum256([]byte(b.parent.ID() + "\x00" + b.caller.EntryID + "\x00" + b.callID + "\x00" + strconv.Itoa(i)))
	return "task_" + hex.EncodeToString(sum[:12])
}
