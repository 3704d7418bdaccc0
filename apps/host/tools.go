package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/crew"
	"github.com/scorel/scorel/apps/host/internal/mcp"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/apps/host/internal/tool"
)

// toolOptions are what the tools of a home must respect. An error is that of
// config.toml.
func toolOptions(paths state.Paths, config state.Config) (tool.Options, error) {
	options := tool.Options{Private: []string{paths.Home}, Readable: paths.Readable(), HideEnv: config.WithheldEnvs(), Memory: paths.Memory()}
	for _, text := range config.Permissions.FetchPrivate {
		address, err := tool.ParsePrivateAddress(text)
		if err != nil {
			return options, fmt.Errorf("%s: permissions.fetch_private: %w", paths.Config(), err)
		}
		options.FetchPrivate = append(options.FetchPrivate, address)
	}
	return options, nil
}

// kit is the tools of one session: those of the catalog and those of MCP servers.
// It implements agent.Toolset and agent.Preparer.
type kit struct {
	*tool.Set
	servers *mcp.Manager
	team    *crew.Team

	mu     sync.Mutex   // of what Prepare changes
	theirs []agent.Tool // as they were when the turn began
}

func (k *kit) Prepare(ctx context.Context, cwd string, ground agent.Ground) {
	theirs := k.servers.Tools(ctx, cwd)
	agents := k.team.Prepare(cwd)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.UseSkills(ground.Skills)
	k.UseAgents(agents)
	k.theirs = theirs
}

func (k *kit) Tools() []agent.Tool {
	k.mu.Lock()
	defer k.mu.Unlock()
	tools := k.Set.Tools()
	for _, t := range k.theirs {
		tools = append(tools, bounded{t, k.Set})
	}
	return tools
}

// bounded is a tool from elsewhere whose output may be of any length.
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

// ErrNoTool says that there is no tool of that name.
var ErrNoTool = errors.New("there is no such tool")

// Tools lists the tools that the agent has on a home, by group and name. The
// config.toml must be right.
func Tools(home string) ([]Tool, error) {
	paths := state.Paths{Home: home}
	config, err := state.LoadConfig(paths.Config(), os.Getenv)
	if err != nil {
		return nil, err
	}
	options, err := toolOptions(paths, config)
	if err != nil {
		return nil, err
	}
	var all []Tool
	for _, d := range tool.NewCatalog(options).Definitions() {
		risk := "read"
		if d.Risk == agent.RiskWrite {
			risk = "write"
		}
		all = append(all, Tool{
			Name: d.Spec.Name, Toolset: string(d.Toolset), Risk: risk, Subject: d.Subject,
			Description: strings.TrimSpace(d.Spec.Description), Parameters: d.Spec.Parameters,
		})
	}
	return all, nil
}

// RunTool makes one call by hand, in a session of its own that ends with it. The
// object is what programs read of the result; ok tells whether the tool did what
// it was asked. progress hears of output while it comes. The error is ErrNoTool,
// or that of config.toml.
func RunTool(ctx context.Context, home, name string, args json.RawMessage, cwd string, progress func(string)) (object json.RawMessage, ok bool, err error) {
	paths := state.Paths{Home: home}
	config, err := state.LoadConfig(paths.Config(), os.Getenv)
	if err != nil {
		return nil, false, err
	}
	options, err := toolOptions(paths, config)
	if err != nil {
		return nil, false, err
	}
	options.ByHand = true
	set := tool.NewCatalog(options).Open(tool.Scope{Scratch: paths.Scratch("by-hand")})
	defer set.Close()
	if skills, err := Skills(home, cwd); err == nil { // a folder that is not there has none
		set.UseSkills(skills)
	}
	for _, t := range set.Tools() {
		if t.Spec().Name == name {
			result := t.Run(ctx, agent.Call{ID: "by-hand", Name: name, Arguments: args, Cwd: cwd}, progress)
			return tool.Object(name, result), !result.IsError, nil
		}
	}
	return nil, false, ErrNoTool
}
