package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

func newSkill(a *app) *cobra.Command {
	return group("skill", "List, show, enable and disable the agent's skills",
		"  scorel skill list\n  scorel skill list --project ~/code/site --json\n  scorel skill show simplify\n  scorel skill disable simplify",
		newSkillList(a), newSkillShow(a), newSkillEnable(a, true), newSkillEnable(a, false))
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
			sayNotes(a.stderr, []string{found.Skill.Path + " (" + found.Skill.Scope + ")"})
			_, err = fmt.Fprintln(a.stdout, printableLines(found.Text))
			return err
		})
	}
	return cmd
}

func newSkillEnable(a *app, enabled bool) *cobra.Command {
	word, done := "enable", "enabled"
	if !enabled {
		word, done = "disable", "disabled"
	}
	cmd := &cobra.Command{
		Use: word + " NAME", Short: strings.ToUpper(word[:1]) + word[1:] + " a skill",
		Long: strings.ToUpper(word[:1]) + word[1:] + ` a skill in the project or, with --user, in every project, from the next turn of each
session on. The setting of a project comes before the one for every project.`,
		Example: "  scorel skill " + word + " simplify\n  scorel skill " + word + " simplify --user --json",
		Args:    argCount(1, 1, "the name of one skill"),
	}
	f := &scopeFlags{}
	f.add(a, cmd, word+" your skill for every project")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return f.on(cmd.Context(), func(c *client.Client, projectID string) error {
			set, err := client.Call(cmd.Context(), c, api.SetSkillEnabled, api.SetSkillEnabledRequest{ProjectID: projectID, Name: args[0], Enabled: enabled})
			if err != nil {
				return err
			}
			if f.asJSON {
				return printJSON(a.stdout, set.Skill)
			}
			_, err = fmt.Fprintf(a.stdout, "%s: %s (%s)\n", done, printable(set.Skill.Name), printable(set.Skill.Path))
			return err
		})
	}
	return cmd
}

func newSkillList(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Short: "List the skills available in a folder",
		Long: `List the skills of a folder, and whether a new session there is offered each. This needs no
running host. Files that were skipped, and warnings, are printed to standard error. With
--device, list those of a project of that machine. With --json, each line is one skill.`,
		Example: "  scorel skill list\n  scorel skill list --project ~/code/site --json\n  scorel skill list --device dev_... --project /srv/site",
	}
	return a.listOfFolder(cmd, func(home, dir string, asJSON bool) error {
		skills, notes, err := host.Skills(home, dir)
		if err != nil {
			return err
		}
		sayNotes(a.stderr, notes)
		return printList(a.stdout, asJSON, skills, listing[host.Skill]{
			none:   "there are no skills: create a folder with a SKILL.md, for example in .agents/skills",
			header: skillHeader(),
			row: func(_ int, s host.Skill) []string {
				return []string{s.Name, s.Scope, skillState(s.Enabled, s.Manual), clip(s.Description, 70), s.Path}
			},
		})
	}, listSkillsOn)
}

// listSkillsOn lists the skills of a project of another machine.
func listSkillsOn(ctx context.Context, con console, c *client.Client, projectID string, asJSON bool) error {
	response, err := client.Call(ctx, c, api.ListSkills, api.ListSkillsRequest{ProjectID: projectID})
	if err != nil {
		return err
	}
	sayNotes(con.stderr, response.Notes)
	return printList(con.stdout, asJSON, response.Skills, listing[api.Skill]{
		none:   "the project has no skills",
		header: skillHeader(),
		row: func(_ int, s api.Skill) []string {
			return []string{s.Name, s.Scope, skillState(!s.Disabled, s.Manual), clip(s.Description, 70), s.Path}
		},
	})
}

func skillHeader() []string { return []string{"NAME", "FROM", "OFFERED", "WHAT", "PATH"} }

// skillState says whether a model is offered a skill.
func skillState(enabled, manual bool) string {
	if !enabled {
		return "disabled"
	}
	return yesNo(!manual)
}
