package cli

import (
	"cmp"
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

func newAgent(a *app) *cobra.Command {
	return group("agent", "Manage agent definitions",
		"  scorel agent list\n  scorel agent create reviewer --description 'Reviews a change' --tools read_file,grep --prompt 'You review.'\n  scorel agent disable reviewer",
		newAgentList(a), newAgentShow(a), newAgentCreate(a), newAgentEdit(a), newAgentEnable(a, true), newAgentEnable(a, false), newAgentDelete(a), newAgentPreview(a))
}

func newAgentList(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Short: "List the agents available in a folder",
		Long: `List the agents that a session in a folder can delegate tasks to: Markdown files in
.scorel/agents, .agents/agents and .claude/agents of the folder and of the home folder,
and the built-in ones. This needs no running host. Files that were skipped, and warnings,
are printed to standard error. With --device, list those of a project of that machine. With
--json, each line is one agent.`,
		Example: "  scorel agent list\n  scorel agent list --project ~/code/site --json\n  scorel agent list --device dev_... --project /srv/site",
	}
	return a.listOfFolder(cmd, func(home, dir string, asJSON bool) error {
		agents, notes, err := host.Agents(home, dir)
		if err != nil {
			return err
		}
		sayNotes(a.stderr, notes)
		return printList(a.stdout, asJSON, agents, listing[host.Agent]{
			header: agentHeader(),
			row: func(_ int, agent host.Agent) []string {
				offered := "yes"
				if !agent.Offered {
					offered = "no"
				}
				return []string{agent.Name, string(agent.Scope), offered, cmp.Or(agent.Model, "-"),
					clip(toolsOf(agent), 60), clip(agent.Description, 70)}
			},
		})
	}, listAgentsOn)
}

// toolsOf formats the tools of an agent; without a list it may use all.
func toolsOf(agent host.Agent) string {
	if agent.Tools == nil {
		return "all"
	}
	return cmp.Or(strings.Join(agent.Uses(), " "), "none")
}

// listOfFolder completes a command that lists what a session in a folder of this machine, or in
// a project of another one, can use.
func (a *app) listOfFolder(cmd *cobra.Command, list func(home, dir string, asJSON bool) error,
	remote func(ctx context.Context, con console, c *client.Client, projectID string, asJSON bool) error,
) *cobra.Command {
	var asJSON bool
	cmd.Use, cmd.Args = "list", argCount(0, 0, "no arguments")
	in := &projectFlag{target: a.targetFlag(cmd)}
	addJSON(cmd, &asJSON)
	cmd.Flags().StringVar(&in.given, "project", "", "folder that a session would work in (default: this one); with --device, id or folder of a project there")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if !in.local() {
			return in.within(cmd.Context(), false, func(c *client.Client, projectID string) error {
				return remote(cmd.Context(), a.console, c, projectID, asJSON)
			})
		}
		dir, err := folderFlag("--project", in.given)
		if err != nil {
			return err
		}
		home, err := a.env.home()
		if err != nil {
			return err
		}
		return list(home, dir, asJSON)
	}
	return cmd
}

// listAgentsOn lists the agents of a project of another machine.
func listAgentsOn(ctx context.Context, con console, c *client.Client, projectID string, asJSON bool) error {
	response, err := client.Call(ctx, c, api.ListAgents, api.ListAgentsRequest{ProjectID: projectID})
	if err != nil {
		return err
	}
	sayNotes(con.stderr, response.Notes)
	return printList(con.stdout, asJSON, response.Agents, listing[api.AgentInfo]{
		header: agentHeader(),
		row: func(_ int, agent api.AgentInfo) []string {
			return []string{agent.Name, string(agent.Scope), yesNo(agent.Offered), cmp.Or(agent.Model, "-"), clip(nameList(agent.Tools), 60), clip(agent.Description, 70)}
		},
	})
}

func agentHeader() []string { return []string{"NAME", "FROM", "OFFERED", "MODEL", "TOOLS", "WHAT"} }
