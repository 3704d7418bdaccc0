package cli

import (
	"cmp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/apps/host"
)

func newAgent(a *app) *cobra.Command {
	return group("agent", "See the agents that the agent can give tasks to",
		"  scorel agent list\n  scorel agent list --project ~/code/site --json", newAgentList(a))
}

func newAgentList(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Short: "List the agents that a folder has, and what was left out",
		Long: `List the agents that a session in a folder can give tasks to, on this machine and
without a host: Markdown files in .scorel/agents, .agents/agents and .claude/agents
of the folder and of the home, and those that are built in. What was left out or is
odd is said on the standard error output. With --json each line is one agent.`,
		Example: "  scorel agent list\n  scorel agent list --project ~/code/site --json",
	}
	return a.listOfFolder(cmd, func(home, dir string, asJSON bool) error {
		agents, notes, err := host.Agents(home, dir)
		if err != nil {
			return err
		}
		a.sayNotes(notes)
		return printList(a, asJSON, agents, listing[host.Agent]{
			header: []string{"NAME", "FROM", "OFFERED", "MODEL", "TOOLS", "WHAT"},
			row: func(_ int, agent host.Agent) []string {
				offered := "yes"
				if !agent.Offered {
					offered = "no"
				}
				return []string{agent.Name, string(agent.Scope), offered, cmp.Or(agent.Model, "-"),
					clip(cmp.Or(strings.Join(agent.Uses(), " "), "all"), 60), clip(agent.Description, 70)}
			},
		})
	})
}

// listOfFolder completes a list command about what a session in a folder of this
// machine has.
func (a *app) listOfFolder(cmd *cobra.Command, list func(home, dir string, asJSON bool) error) *cobra.Command {
	var (
		asJSON  bool
		project string
	)
	cmd.Use, cmd.Args = "list", argCount(0, 0, "no arguments")
	addJSON(cmd, &asJSON)
	cmd.Flags().StringVar(&project, "project", "", "folder that a session would work in (default: this one)")
	cmd.RunE = func(*cobra.Command, []string) error {
		dir, err := folderFlag("--project", project)
		if err != nil {
			return err
		}
		home, err := a.home()
		if err != nil {
			return err
		}
		return list(home, dir, asJSON)
	}
	return cmd
}
