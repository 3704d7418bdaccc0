package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/scorel/scorel/apps/cli/internal/terminal"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// maxPromptFile bounds the size of a file with a prompt or a note, in bytes.
const maxPromptFile = 256 << 10

// agentFlags select the agents of a project or, with --user, those for all projects.
type agentFlags struct{ scopeFlags }

func (a *app) agentFlags(cmd *cobra.Command) *agentFlags {
	f := &agentFlags{}
	f.add(a, cmd, "use your agents for all projects instead of the project's")
	return f
}

// scope returns where changes are written.
func (f *agentFlags) scope() api.AgentScope {
	if f.user {
		return api.AgentUser
	}
	return api.AgentProject
}

// findAgent returns the current definition of an agent from the host.
func findAgent(ctx context.Context, c *client.Client, projectID, name string) (api.AgentInfo, error) {
	response, err := client.Call(ctx, c, api.ListAgents, api.ListAgentsRequest{ProjectID: projectID})
	if err != nil {
		return api.AgentInfo{}, err
	}
	for _, info := range response.Agents {
		if info.Name == name {
			return info, nil
		}
	}
	return api.AgentInfo{}, api.Errorf(api.KindNotFound, "there is no agent %.80q: `scorel agent list` shows the agents, and why files were left out", name)
}

// save writes the agent. A built-in agent, or one of another scope, gets a new file in the
// scope that the flags select.
func (f *agentFlags) save(ctx context.Context, c *client.Client, projectID string, info api.AgentInfo) (api.AgentInfo, error) {
	request := api.SaveAgentRequest{ProjectID: projectID, Scope: f.scope(), Name: info.Name, Version: info.Version, Agent: info.AgentDraft}
	switch {
	case info.Scope == api.AgentBuiltin:
		request.Version = ""
	case info.Scope != "" && !f.cmdChosen(): // its current scope
		request.Scope = info.Scope
	case info.Scope != request.Scope:
		request.Version = ""
	}
	response, err := client.Call(ctx, c, api.SaveAgent, request)
	return response.Agent, err
}

// cmdChosen reports whether a flag selects the scope of the change.
func (f *agentFlags) cmdChosen() bool { return f.user || f.given != "" }

// draftFlags are the settings of an agent.
type draftFlags struct {
	draft                                 api.AgentDraft
	tools, without, subagents, promptFile string
}

func (d *draftFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&d.draft.Description, "description", "", "what the agent is for, in one line")
	flags.StringVar(&d.draft.Model, "model", "", "a model of the machine (default: that of the session that delegates the task)")
	flags.StringVar(&d.tools, "tools", "", "comma-separated `names` of the tools that it may use; all or none")
	flags.StringVar(&d.without, "disallowed-tools", "", "comma-separated `names` of tools that it may not use; none")
	flags.StringVar(&d.subagents, "subagents", "", "comma-separated `names` of agents to which its sessions may delegate tasks; all or none")
	flags.IntVar(&d.draft.MaxConcurrent, "max-concurrent", 0, "maximum number running at once in a session (0: the limit of the host)")
	flags.IntVar(&d.draft.MaxTurns, "max-turns", 0, "maximum number of model calls for a task (0: 10)")
	flags.StringVar(&d.draft.Prompt, "prompt", "", "the agent's instructions")
	flags.StringVar(&d.promptFile, "prompt-file", "", "a `file` with the agent's instructions, - for standard input")
}

// apply applies the flags that were set.
func (d *draftFlags) apply(ctx context.Context, stdin io.Reader, flags *pflag.FlagSet, to *api.AgentDraft) error {
	changed := flags.Changed
	if changed("prompt") && changed("prompt-file") {
		return usagef("--prompt and --prompt-file: give one of them")
	}
	if changed("description") {
		to.Description = d.draft.Description
	}
	if changed("model") {
		to.Model = d.draft.Model
	}
	if changed("tools") {
		to.Tools = names(d.tools)
	}
	if changed("disallowed-tools") {
		to.DisallowedTools = names(d.without)
	}
	if changed("subagents") {
		to.Subagents = names(d.subagents)
	}
	if changed("max-concurrent") {
		to.MaxConcurrent = d.draft.MaxConcurrent
	}
	if changed("max-turns") {
		to.MaxTurns = d.draft.MaxTurns
	}
	if changed("prompt") {
		to.Prompt = d.draft.Prompt
	}
	if changed("prompt-file") {
		text, err := textFile(ctx, stdin, "--prompt-file", d.promptFile)
		if err != nil {
			return err
		}
		to.Prompt = text
	}
	return nil
}

// names parses the list of a flag: nil means all, an empty list none.
func names(text string) []string {
	switch text {
	case "all":
		return nil
	case "none", "":
		return []string{}
	}
	list := strings.Split(text, ",")
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
	}
	return slices.DeleteFunc(list, func(name string) bool { return name == "" })
}

// textFile reads a text that what names, which is a flag or a part of a sentence.
func textFile(ctx context.Context, stdin io.Reader, what, path string) (string, error) {
	var in io.Reader = stdin
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return "", usagef("%s: %s cannot be read (%v): give the path of a file", what, path, reason(err))
		}
		defer file.Close()
		in = file
	}
	data, err := terminal.ReadUpTo(ctx, in, maxPromptFile)
	switch {
	case err != nil && path != "-":
		return "", usagef("%s: %s cannot be read (%v): give the path of a file", what, path, reason(err))
	case err != nil:
		return "", fmt.Errorf("reading standard input: %w", err)
	case len(data) > maxPromptFile:
		return "", usagef("%s: %s is larger than the limit of %d KiB", what, path, maxPromptFile>>10)
	}
	return string(data), nil
}

// changesAgent completes a command that changes one agent and prints it.
func changesAgent(stdout io.Writer, cmd *cobra.Command, f *agentFlags, done string, edit func(ctx context.Context, c *client.Client, projectID, name string) (api.AgentInfo, error)) *cobra.Command {
	cmd.Args = argCount(1, 1, "the name of one agent")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var info api.AgentInfo
		err := f.on(cmd.Context(), func(c *client.Client, projectID string) (err error) {
			info, err = edit(cmd.Context(), c, projectID, args[0])
			return err
		})
		if err != nil {
			return err
		}
		if f.asJSON {
			return printJSON(stdout, info)
		}
		_, err = fmt.Fprintf(stdout, "%s: %s (%s)\n", done, printable(info.Name), printable(info.Path))
		return err
	}
	return cmd
}

func newAgentCreate(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "Create an agent",
		Long: `Create an agent definition: the file .scorel/agents/NAME.md of the project, or with
--user one for all projects. It takes effect with the next turn. The folder of the
project must be trusted.`,
		Example: "  scorel agent create reviewer --description 'Reviews a change' --tools read_file,grep --prompt 'You review.'\n  scorel agent create writer --user --description 'Writes docs' --prompt-file writer.md",
	}
	f, d := a.agentFlags(cmd), &draftFlags{}
	d.add(cmd.Flags())
	return changesAgent(a.stdout, cmd, f, "created", func(ctx context.Context, c *client.Client, projectID, name string) (api.AgentInfo, error) {
		info := api.AgentInfo{Name: name, AgentDraft: api.AgentDraft{Enabled: true}}
		if err := d.apply(cmd.Context(), a.stdin, cmd.Flags(), &info.AgentDraft); err != nil {
			return info, err
		}
		if info.Description == "" {
			return info, usagef("--description is missing: say in one line what the agent is for")
		}
		return f.save(ctx, c, projectID, info)
	})
}

func newAgentEdit(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "edit NAME",
		Short: "Change an agent",
		Long: `Change settings in the file of an agent: those named by flags. The rest of the file is kept.
An agent that is built in, or has no file in the scope of --user or --project, gets a new
file there. If the file is changed at the same time, nothing is written.`,
		Example: "  scorel agent edit reviewer --max-turns 20\n  scorel agent edit general --user --tools all --disallowed-tools bash",
	}
	f, d := a.agentFlags(cmd), &draftFlags{}
	d.add(cmd.Flags())
	return changesAgent(a.stdout, cmd, f, "changed", func(ctx context.Context, c *client.Client, projectID, name string) (api.AgentInfo, error) {
		info, err := findAgent(ctx, c, projectID, name)
		if err == nil {
			err = d.apply(cmd.Context(), a.stdin, cmd.Flags(), &info.AgentDraft)
		}
		if err != nil {
			return info, err
		}
		return f.save(ctx, c, projectID, info)
	})
}

func newAgentEnable(a *app, enabled bool) *cobra.Command {
	word, done := "enable", "enabled"
	if !enabled {
		word, done = "disable", "disabled"
	}
	cmd := &cobra.Command{
		Use:     word + " NAME",
		Short:   strings.ToUpper(word[:1]) + word[1:] + " an agent",
		Long:    strings.ToUpper(word[:1]) + word[1:] + " an agent from the next turn on. For a built-in agent, this creates a file.",
		Example: "  scorel agent " + word + " reviewer\n  scorel agent " + word + " general --user",
	}
	f := a.agentFlags(cmd)
	return changesAgent(a.stdout, cmd, f, done, func(ctx context.Context, c *client.Client, projectID, name string) (api.AgentInfo, error) {
		info, err := findAgent(ctx, c, projectID, name)
		if err != nil || info.Enabled == enabled {
			return info, err
		}
		info.Enabled = enabled
		return f.save(ctx, c, projectID, info)
	})
}

func newAgentDelete(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "delete NAME", Short: "Delete the file of an agent",
		Long:    "Delete the file of an agent. Built-in agents cannot be deleted: disable them instead.",
		Example: "  scorel agent delete reviewer\n  scorel agent delete writer --user",
	}
	f := a.agentFlags(cmd)
	return changesAgent(a.stdout, cmd, f, "deleted", func(ctx context.Context, c *client.Client, projectID, name string) (api.AgentInfo, error) {
		info, err := findAgent(ctx, c, projectID, name)
		switch {
		case err != nil:
			return info, err
		case info.Scope == api.AgentBuiltin:
			return info, usagef("%s is built in and cannot be deleted: `scorel agent disable %s` turns it off", name, name)
		}
		_, err = client.Call(ctx, c, api.DeleteAgent, api.DeleteAgentRequest{ProjectID: projectID, Scope: info.Scope, Name: name, Version: info.Version})
		return info, err
	})
}

func newAgentShow(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "show NAME", Short: "Show an agent",
		Long:    "Show the definition of an agent in the form of its file, or with --json as one object.",
		Example: "  scorel agent show explore\n  scorel agent show reviewer --project ~/code/site --json",
		Args:    argCount(1, 1, "the name of one agent"),
	}
	f := a.agentFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return f.on(cmd.Context(), func(c *client.Client, projectID string) error {
			info, err := findAgent(cmd.Context(), c, projectID, args[0])
			if err != nil {
				return err
			}
			if f.asJSON {
				return printJSON(a.stdout, info)
			}
			_, err = io.WriteString(a.stdout, agentText(info))
			return err
		})
	}
	return cmd
}

// agentText returns an agent in the form of its file.
func agentText(info api.AgentInfo) string {
	var b strings.Builder
	line := func(name, value string) { fmt.Fprintf(&b, "%s: %s\n", name, printable(value)) }
	line("name", info.Name)
	line("description", info.Description)
	line("from", strings.TrimSpace(string(info.Scope)+" "+info.Path))
	line("enabled", fmt.Sprint(info.Enabled))
	line("offered", fmt.Sprint(info.Offered))
	if info.Model != "" {
		line("model", info.Model)
	}
	line("tools", nameList(info.Tools))
	if len(info.DisallowedTools) > 0 {
		line("disallowed tools", nameList(info.DisallowedTools))
	}
	line("subagents", nameList(info.Subagents))
	if info.MaxConcurrent > 0 {
		line("max concurrent", fmt.Sprint(info.MaxConcurrent))
	}
	if info.MaxTurns > 0 {
		line("max turns", fmt.Sprint(info.MaxTurns))
	}
	fmt.Fprintf(&b, "\n%s\n", printableLines(info.Prompt))
	return b.String()
}

// nameList formats a list of names: nil means all, an empty list none.
func nameList(list []string) string {
	switch {
	case list == nil:
		return "all"
	case len(list) == 0:
		return "none"
	}
	return strings.Join(list, ", ")
}

func newAgentPreview(a *app) *cobra.Command {
	var asSession bool
	cmd := &cobra.Command{
		Use: "preview NAME", Short: "Preview the system prompt and tools of an agent",
		Long: `Print the system prompt that an agent gets for a task in the project. Its tools and limits
are printed to standard error. With --session, print the prompt of a session that runs as
this agent.`,
		Example: "  scorel agent preview reviewer\n  scorel agent preview reviewer --session --json",
		Args:    argCount(1, 1, "the name of one agent"),
	}
	f := a.agentFlags(cmd)
	cmd.Flags().BoolVar(&asSession, "session", false, "print the prompt of a session that runs as this agent instead of a task")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return f.on(cmd.Context(), func(c *client.Client, projectID string) error {
			preview, err := client.Call(cmd.Context(), c, api.PreviewAgent,
				api.PreviewAgentRequest{ProjectID: projectID, Name: args[0], Session: asSession})
			if err != nil {
				return err
			}
			if f.asJSON {
				return printJSON(a.stdout, preview)
			}
			sayNotes(a.stderr, []string{"model: " + preview.Model, "tools: " + nameList(preview.Tools)})
			_, err = fmt.Fprintln(a.stdout, printableLines(preview.Prompt))
			return err
		})
	}
	return cmd
}
