package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

func newSkill(a *app) *cobra.Command {
	return group("skill", "List and show the agent's skills",
		"  scorel skill list\n  scorel skill list --project ~/code/site --json\n  scorel skill show simplify", newSkillList(a), newSkillShow(a))
}

func newSkillShow(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "show NAME", Short: "Show a skill",
		Long: `Print the text of a skill as it is now. Its file is printed to standard error. With --json,
print both with the description as one object.`,
		Example: "  scorel skill show simplify\n  scorel skill show simplify --project ~/code/site --json",
		Args:    argCount(1, 1, "the name of one skill"),
	}
	project := a.projectFlag(cmd)
	addJSON(cmd, &asJSON)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return project.within(cmd.Context(), false, func(c *client.Client, projectID string) error {
			found, err := client.Call(cmd.Context(), c, api.GetSkill, api.GetSkillRequest{ProjectID: projectID, Name: args[0]})
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(a.stdout, found)
			}
			a.sayNotes([]string{found.Skill.Path + " (" + found.Skill.Scope + ")"})
			_, err = fmt.Fprintln(a.stdout, printableLines(found.Text))
			return err
		})
	}
	return cmd
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
