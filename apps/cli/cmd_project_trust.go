package cli

import (
	"github.com/spf13/cobra"

	"github.com/scorel/scorel/packages/protocol/api"
)

func newProjectTrust(a *app) *cobra.Command {
	var no, asJSON bool
	cmd := &cobra.Command{
		Use:   "trust PATH",
		Short: "Trust the settings, skills and MCP servers of a folder",
		Long: `Trust a folder, and add it as a project if it is not one yet. Its own settings, skills and
MCP servers then take effect, and they can start programs: review them first. --no
revokes the trust.`,
		Example: "  scorel project trust .\n  scorel project trust --no /srv/site --json",
		Args:    argCount(1, 1, "the path of one folder"),
	}
	to := a.targetFlag(cmd)
	addJSON(cmd, &asJSON)
	cmd.Flags().BoolVar(&no, "no", false, "stop trusting it")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		path, err := to.path(args[0])
		if err != nil {
			return err
		}
		added, err := ask(cmd.Context(), to, api.AddProject, api.AddProjectRequest{Path: path})
		if err != nil {
			return err
		}
		response, err := ask(cmd.Context(), to, api.TrustProject,
			api.TrustProjectRequest{ProjectID: added.Project.ID, Trusted: !no})
		if err != nil {
			return err
		}
		state := "is trusted"
		if no {
			state = "is not trusted"
		}
		return printDone(a.stdout, asJSON, response.Project, "%s %s", printable(response.Project.Path), state)
	}
	return cmd
}
