package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/packages/protocol/api"
)

func newProjectTrust(a *app) *cobra.Command {
	var no bool
	cmd := &cobra.Command{
		Use:   "trust PATH",
		Short: "Let a folder's own settings, skills and MCP servers count",
		Long: `Makes the folder a project, if it is none, and trusts it: from then on its own
settings, skills and MCP servers count, which can start programs. Look at them
first. --no takes the trust back.`,
		Example: "  scorel project trust .\n  scorel project trust --no /srv/site",
		Args:    argCount(1, 1, "the path of one folder"),
	}
	to := a.targetFlag(cmd)
	cmd.Flags().BoolVar(&no, "no", false, "trust it no longer")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		path, err := to.path(args[0])
		if err != nil {
			return err
		}
		added, err := ask[api.AddProjectResponse](cmd.Context(), to, "add_project", api.AddProjectRequest{Path: path})
		if err != nil {
			return err
		}
		response, err := ask[api.TrustProjectResponse](cmd.Context(), to, "trust_project",
			api.TrustProjectRequest{ProjectID: added.Project.ID, Trusted: !no})
		if err != nil {
			return err
		}
		state := "is trusted"
		if no {
			state = "is not trusted"
		}
		_, err = fmt.Fprintf(a.stdout, "%s %s\n", printable(response.Project.Path), state)
		return err
	}
	return cmd
}
