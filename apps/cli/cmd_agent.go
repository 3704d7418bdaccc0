package cli

import (
	"cmp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/apps/host"
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
are printed to standard error. With --json, each line is one agent.`,
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
					clip(toolsOf(agent), 60), clip(agent.Description, 70)}
			},
		})
	})
}

// toolsOf formats the tools of an agent; without a list it may use all.
func toolsOf(agent host.Agent) string {
	if agent.Tools == nil {
		return "all"
	}
	return cmp.Or(strings.Join(agent.Uses(), " "), "none")
}

// listOfFolder completes a command that lists what a session in a folder of this machine
// can use.
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
