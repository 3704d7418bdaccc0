// Package toolkit puts the tools of a session together: built-in tools, tools of MCP servers,
// and subagents. It also lists tools and runs one by hand.
package toolkit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/mcp"
	"github.com/scorel/scorel/apps/host/internal/memory"
	"github.com/scorel/scorel/apps/host/internal/projectcontext"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/apps/host/internal/subagent"
	"github.com/scorel/scorel/apps/host/internal/tool"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Options are the limits of the tools of a home. An error is one of config.toml.
func Options(paths state.Paths, config state.Config) (tool.Options, error) {
	options := tool.Options{Private: []string{paths.Home}, Readable: paths.Readable(), HideEnv: config.WithheldEnvs(), Memory: memory.New(paths.Memory(), nil)}
	for _, text := range config.Permissions.FetchPrivate {
		address, err := tool.ParsePrivateAddress(text)
		if err != nil {
			return options, fmt.Errorf("%s: permissions.fetch_private: %w", paths.Config(), err)
		}
		options.FetchPrivate = append(options.FetchPrivate, address)
	}
	return options, nil
}

// Session is the tools of one session. It implements agent.Toolset.
type Session struct {
	*tool.Set
	servers *mcp.Manager
	team    *subagent.Team

	mu     sync.Mutex // of what Prepare changes
	cwd    string
	theirs []agent.Tool // as they were when the turn began
}

// NewSession makes the tools of a session from those of the catalog, of MCP servers and of
// its subagents.
func NewSession(set *tool.Set, servers *mcp.Manager, team *subagent.Team) *Session {
	return &Session{Set: set, servers: servers, team: team}
}

// Prepare implements agent.Toolset.
func (k *Session) Prepare(ctx context.Context, cwd string, project agent.ProjectContext) {
	theirs := k.servers.Tools(ctx, cwd)
	agents := k.team.Prepare(cwd, project.MayDelegate)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.UseSkills(project.Skills)
	k.UseLaterSkills(project.Later)
	k.UseAgents(agents)
	k.theirs, k.cwd = theirs, cwd
}

// Mentioned implements agent.Toolset.
func (k *Session) Mentioned(ctx context.Context, text string, may agent.Mentions) []session.Note {
	k.mu.Lock()
	cwd := k.cwd
	k.mu.Unlock()
	return k.servers.Mentioned(ctx, cwd, text, may)
}

// Tools implements agent.Toolset.
func (k *Session) Tools() []agent.Tool {
	k.mu.Lock()
	defer k.mu.Unlock()
	tools := k.Set.Tools()
	for _, t := range k.theirs {
		tools = append(tools, bounded{t, k.Set})
	}
	return tools
}

// bounded limits the output of a tool of an MCP server.
type bounded struct {
	agent.Tool
	set *tool.Set
}

func (b bounded) Run(ctx context.Context, call agent.Call, progress func(string)) agent.Result {
	return b.set.Bounded(call.Name, b.Tool.Run(ctx, call, progress))
}

// Tool describes a tool of the agent.
type Tool struct {
	Name        string          `json:"name"`
	Toolset     string          `json:"toolset"`
	Risk        string          `json:"risk"`              // "read" or "write": a write asks first
	Subject     string          `json:"subject,omitempty"` // the argument that rules are about
	Description string          `json:"description"`       // Markdown
	Parameters  json.RawMessage `json:"parameters"`        // JSON Schema of the arguments
}

// ErrUnknown means that there is no tool with that name.
var ErrUnknown = errors.New("there is no such tool")

// Describe lists the tools that the agent has on a home, by group and name. It fails if
// config.toml is invalid.
func Describe(home string) ([]Tool, error) {
	paths := state.Paths{Home: home}
	config, err := state.LoadConfig(paths.Config(), os.Getenv)
	if err != nil {
		return nil, err
	}
	options, err := Options(paths, config)
	if err != nil {
		return nil, err
	}
	var all []Tool
	for _, d := range tool.NewCatalog(options).Definitions() {
		risk := "read"
		if d.Risk.Changes() {
			risk = "write"
		}
		all = append(all, Tool{
			Name: d.Spec.Name, Toolset: string(d.Toolset), Risk: risk, Subject: d.Subject,
			Description: strings.TrimSpace(d.Spec.Description), Parameters: d.Spec.Parameters,
		})
	}
	return all, nil
}

// Run makes one call by hand, in a session that ends with the call. object is the result
// for programs, and ok reports whether the tool succeeded. progress receives output while
// the tool runs. The error is ErrUnknown, or one of config.toml.
func Run(ctx context.Context, home, name string, args json.RawMessage, cwd string, progress func(string)) (object json.RawMessage, ok bool, err error) {
	paths := state.Paths{Home: home}
	config, err := state.LoadConfig(paths.Config(), os.Getenv)
	if err != nil {
		return nil, false, err
	}
	options, err := Options(paths, config)
	if err != nil {
		return nil, false, err
	}
	options.ByHand = true
	set := tool.NewCatalog(options).Open(tool.Scope{Scratch: paths.Scratch("by-hand")})
	defer set.Close()
	if skills, _, err := projectcontext.Skills(home, cwd, nil); err == nil { // a folder that is not there has none
		set.UseSkills(enabledSkills(skills))
	}
	for _, t := range set.Tools() {
		if t.Spec().Name == name {
			result := t.Run(ctx, agent.Call{ID: "by-hand", Name: name, Arguments: args, Cwd: cwd}, progress)
			return tool.Object(name, result), !result.IsError, nil
		}
	}
	return nil, false, ErrUnknown
}

func enabledSkills(skills []projectcontext.Skill) session.Skills {
	var used session.Skills
	for _, skill := range skills {
		if skill.Enabled {
			used.Skills = append(used.Skills, skill.SkillInfo)
		}
	}
	return used
}
