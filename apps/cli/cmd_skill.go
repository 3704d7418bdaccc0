package cli

import (
	"github.com/spf13/cobra"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/packages/protocol/session"
)

func newSkill(a *app) *cobra.Command {
	return group("skill", "List the agent's skills",
		"  scorel skill list\n  scorel skill list --project ~/code/site --json", newSkillList(a))
}

func newSkillList(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Short: "List the skills available in a folder",
		Long: `List the skills that a new session in a folder would have. This needs no running host. Files
that were skipped, and warnings, are printed to standard error. With --json, each line is
one skill.`,
		Example: "  scorel skill list\n  scorel skill list --project ~/code/site --json",
	}
	return a.listOfFolder(cmd, func(home, dir string, asJSON bool) error {
		found, err := host.Skills(home, dir)
		if err != nil {
			return err
		}
		a.sayNotes(found.Notes)
		return printList(a, asJSON, found.Skills, listing[session.SkillInfo]{
			none:   "there are no skills: create a folder with a SKILL.md, for example in .agents/skills",
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
