package tool

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/packages/protocol/session"
	"github.com/scorel/scorel/packages/protocol/visible"
)

//go:embed delegate_task.md
var delegateTaskDoc string

//go:embed delegate_parallel.md
var delegateParallelDoc string

// Bounds of a delegation.
const (
	maxTasks      = 8
	maxTaskPrompt = 100_000 // bytes
	maxTaskTitle  = 80      // runes
)

// AgentInfo describes an agent that the model can delegate to.
type AgentInfo struct {
	Name        string
	Description string   // one line
	Backends    []string // programs that may work on its tasks instead of scorel's own agent
}

// Task is a task for one agent.
type Task struct {
	Agent   string // name of an agent passed to UseAgents
	Backend string // one of its Backends; "" is scorel's own agent
	Title   string // one line
	Prompt  string
}

// Report is the outcome of a task.
type Report struct {
	Task
	SessionID string // of the subagent; "" if none was created
	State     session.ChildState
	Text      string // the subagent's last answer
	Error     string // for people and the model, if the task was not completed
}

// Subagents runs subagents for a session.
type Subagents interface {
	// Delegate runs each task and returns when all have ended, with their reports in the
	// order of the tasks and the number of characters of each that the model may see. When
	// ctx ends, running tasks are canceled. The error is a sentence for the model and
	// means that nothing ran.
	Delegate(ctx context.Context, call agent.Call, tasks []Task) (reports []Report, limit int, err error)
}

// UseAgents sets the agents that the session can delegate to. It must be called before
// Tools, and not during a call. Without agents, or without Subagents in its Scope, the
// session has no delegation tools.
func (s *Set) UseAgents(agents []AgentInfo) {
	known := slices.Clone(agents)
	s.agents.Store(&known)
}

// knownAgents returns the agents that were set last. A snapshot of the session asks while a
// turn begins.
func (s *Set) knownAgents() []AgentInfo {
	if known := s.agents.Load(); known != nil {
		return *known
	}
	return nil
}

// agentList returns the end of a tool description: the available agents.
func (s *Set) agentList() string {
	agents := s.knownAgents()
	if len(agents) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\nThe agents are:\n\n")
	for _, a := range agents {
		fmt.Fprintf(&b, "- %s: %s\n", a.Name, a.Description)
		if len(a.Backends) > 0 {
			fmt.Fprintf(&b, "  Programs for \"backend\": %s.\n", strings.Join(a.Backends, ", "))
		}
	}
	return b.String()
}

// taskProperties returns the JSON Schema properties of one task.
func (s *Set) taskProperties() string {
	names := ""
	if known := s.agentNames(); len(known) > 0 {
		names = `, "enum": ` + string(details(known))
	}
	return `{` + s.backendProperty() + `
		"agent": {"type": "string", "description": "Which agent."` + names + `},
		"title": {"type": "string", "description": "What the task is about, in a few words, for the people who are watching."},
		"prompt": {"type": "string", "description": "The task, with everything that the agent needs to know."}}`
}

// backendProperty returns the property that names a program; "" if none may work on tasks.
func (s *Set) backendProperty() string {
	var names []string
	for _, a := range s.knownAgents() {
		names = append(names, a.Backends...)
	}
	if len(names) == 0 {
		return ""
	}
	slices.Sort(names)
	return `
		"backend": {"type": "string", "description": "The program of another vendor that works on the task with tools of its own, if the user wants that.", "enum": ` + string(details(slices.Compact(names))) + `},`
}

// mayUse reports whether a backend may work on the tasks of an agent.
func (s *Set) mayUse(agent, backend string) bool {
	return backend == "" || slices.ContainsFunc(s.knownAgents(), func(a AgentInfo) bool { return a.Name == agent && slices.Contains(a.Backends, backend) })
}

func (s *Set) agentNames() []string {
	agents := s.knownAgents()
	names := make([]string, 0, len(agents))
	for _, a := range agents {
		names = append(names, a.Name)
	}
	return names
}

type taskArgs struct {
	Agent   string `json:"agent"`
	Backend string `json:"backend,omitempty"`
	Title   string `json:"title,omitempty"`
	Prompt  string `json:"prompt"`
}

type delegateTask struct{ *Set }

func (t delegateTask) Spec() agent.ToolSpec {
	return spec("delegate_task", delegateTaskDoc+t.agentList(), t.taskProperties(), "agent", "prompt")
}

// Risk implements agent.Tool. The subagents ask for permission themselves.
func (delegateTask) Risk() agent.Risk { return agent.RiskRead }

func (delegateTask) Describe(call agent.Call) agent.Description {
	return agent.Description{Title: "Give a task to another agent", Detail: string(call.Arguments)}
}

func (t delegateTask) Run(ctx context.Context, call agent.Call, _ func(string)) agent.Result {
	var args taskArgs
	if err := decodeArgs(call.Arguments, &args); err != nil {
		return agent.Failure("delegate_task: %v.", err)
	}
	return t.delegate(ctx, call, []taskArgs{args})
}

type delegateParallel struct{ *Set }

type parallelArgs struct {
	Tasks []json.RawMessage `json:"tasks"`
}

func (t delegateParallel) Spec() agent.ToolSpec {
	return spec("delegate_parallel", delegateParallelDoc+t.agentList(), fmt.Sprintf(`{
		"tasks": {"type": "array", "minItems": 1, "maxItems": %d, "description": "The tasks.", "items": {
			"type": "object", "required": ["agent", "prompt"], "additionalProperties": false, "properties": %s}}}`, maxTasks, t.taskProperties()), "tasks")
}

func (delegateParallel) Risk() agent.Risk { return agent.RiskRead }

func (delegateParallel) Describe(call agent.Call) agent.Description {
	return agent.Description{Title: "Give tasks to other agents", Detail: string(call.Arguments)}
}

func (t delegateParallel) Run(ctx context.Context, call agent.Call, _ func(string)) agent.Result {
	var args parallelArgs
	if err := decodeArgs(call.Arguments, &args); err != nil {
		return agent.Failure("delegate_parallel: %v.", err)
	}
	if n := len(args.Tasks); n == 0 || n > maxTasks {
		return agent.Failure("delegate_parallel: there are %d tasks; give 1 to %d.", n, maxTasks)
	}
	tasks := make([]taskArgs, len(args.Tasks))
	for i, raw := range args.Tasks {
		if err := decodeArgs(raw, &tasks[i]); err != nil {
			return agent.Failure("delegate_parallel: task %d: %v.", i+1, err)
		}
	}
	return t.delegate(ctx, call, tasks)
}

// delegate validates all tasks before it runs any.
func (s *Set) delegate(ctx context.Context, call agent.Call, given []taskArgs) agent.Result {
	if s.scope.Subagents == nil {
		return agent.Failure("%s: no other agents are available here.", call.Name)
	}
	tasks := make([]Task, 0, len(given))
	for _, args := range given {
		switch {
		case !slices.Contains(s.agentNames(), args.Agent):
			return agent.Failure("%s: there is no agent %.80q; the agents are: %s.", call.Name, args.Agent, strings.Join(s.agentNames(), ", "))
		case !s.mayUse(args.Agent, args.Backend):
			return agent.Failure("%s: the program %.80q may not work on tasks of the agent %s; leave \"backend\" out.", call.Name, args.Backend, args.Agent)
		case strings.TrimSpace(args.Prompt) == "":
			return agent.Failure("%s: the prompt is empty; write the task.", call.Name)
		case len(args.Prompt) > maxTaskPrompt:
			return agent.Failure("%s: the prompt has %d bytes, the limit is %d; put it into a file and name the file.", call.Name, len(args.Prompt), maxTaskPrompt)
		}
		tasks = append(tasks, Task{Agent: args.Agent, Backend: args.Backend, Title: taskTitle(args), Prompt: args.Prompt})
	}
	reports, limit, err := s.scope.Subagents.Delegate(ctx, call, tasks)
	if err != nil {
		return agent.Failure("%s: %v.", call.Name, err)
	}
	return s.reported(reports, limit)
}

// taskTitle returns the given title, or the beginning of the prompt.
func taskTitle(args taskArgs) string {
	title := strings.Join(strings.Fields(args.Title), " ")
	if title == "" {
		first, _, _ := strings.Cut(strings.TrimSpace(args.Prompt), "\n")
		title = strings.Join(strings.Fields(first), " ")
	}
	return visible.Shorten(title, maxTaskTitle)
}
