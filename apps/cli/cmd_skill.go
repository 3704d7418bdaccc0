package cli

import (
	"github.com/spf13/cobra"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/packages/protocol/session"
)

func newSkill(a *app) *cobra.Command {
	return group("skill", "See the skills of the agent",
		"  scorel skill list\n  scorel skill list --project ~/code/site --json", newSkillList(a))
}

func newSkillList(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Short: "List the skills that a folder has, and what was left out",
		Long: `List the skills that a new session in a folder has, on this machine and without a
host. What was left out or is odd is said on the standard error output. With --json
each line is one skill.`,
		Example: "  scorel skill list\n  scorel skill list --project ~/code/site --json",
	}
	return a.listOfFolder(cmd, func(home, dir string, asJSON bool) error {
		found, err := host.Skills(home, dir)
		if err != nil {
			return err
		}
		a.sayNotes(found.Notes)
		return printList(a, asJSON, found.Skills, listing[session.SkillInfo]{
			none:   "there is no skill: one is a folder with a SKILL.md, for example in .agents/skills",
			header: []string{"NAME", "FROM", "OFFERED", "WHAT", "PATH"},
			row: func(_ int, s session.SkillInfo) []string {
				model := "yes"
				if s.Manual {
					model = "no"
				}
				return []string{s.Name, s.Scope, model, clip(s.Description, 70), s.Path}
			},
		})
	})
}
