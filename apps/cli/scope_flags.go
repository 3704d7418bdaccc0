package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/packages/client"
)

// scopeFlags select what a project has or, with --user, what holds for all projects.
type scopeFlags struct {
	*projectFlag
	user, asJSON bool
}

// add adds the flags to a command. user is the help of --user.
func (f *scopeFlags) add(a *app, cmd *cobra.Command, user string) {
	f.projectFlag = a.projectFlag(cmd)
	cmd.Flags().BoolVar(&f.user, "user", false, user)
	addJSON(cmd, &f.asJSON)
}

// on runs requests in the selected scope.
func (f *scopeFlags) on(ctx context.Context, run func(c *client.Client, projectID string) error) error {
	if f.user && f.given != "" {
		return usagef("--user and --project: give one of them")
	}
	return f.within(ctx, f.user, run)
}
