package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/apps/host"
)

func newSkill(a *app) *cobra.Command {
	return group("skill", "See the skills of the agent",
		"  scorel skill list\n  scorel skill list --project ~/code/site --json", newSkillList(a))
}

func newSkillList(a *app) *cobra.Command {
	var (
		asJSON  bool
		project string
	)
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the skills that a folder has, and what was left out",
		Long: `List the skills that a new session in a folder has, on this machine and without a
host. What was left out or is odd is said on the standard error output. With --json
each line is one skill.`,
		Example: "  scorel skill list\n  scorel skill list --project ~/code/site --json",
		Args:    argCount(0, 0, "no arguments"),
	}
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
		found, err := host.Skills(home, dir)
		if err != nil {
			return err
		}
		for _, note := range found.Notes {
			fmt.Fprintln(a.stderr, "scorel: "+printable(note))
		}
		if asJSON {
			return printEach(a.stdout, found.Skills)
		}
		if len(found.Skills) == 0 {
			_, err := fmt.Fprintln(a.stdout, "there is no skill: one is a folder with a SKILL.md, for example in .agents/skills")
			return err
		}
		var rows [][]string
		for _, s := range found.Skills {
			model := "yes"
			if s.Manual {
				model = "no"
			}
			rows = append(rows, []string{s.Name, s.Scope, model, clip(s.Description, 70), s.Path})
		}
		return printTable(a.stdout, []string{"NAME", "FROM", "OFFERED", "WHAT", "PATH"}, rows)
	}
	return cmd
}
