package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// placeFlags select a folder: that of a project, or the one that a session works in, which can
// be a worktree.
type placeFlags struct {
	*projectFlag
	session string
	asJSON  bool
}

func (a *app) placeFlags(cmd *cobra.Command) *placeFlags {
	f := &placeFlags{projectFlag: a.projectFlag(cmd)}
	cmd.Flags().StringVar(&f.session, "session", "", "id of a session: use the folder that it works in")
	addJSON(cmd, &f.asJSON)
	return f
}

// on connects and runs requests about the selected folder.
func (f *placeFlags) on(ctx context.Context, run func(c *client.Client, place api.Place) error) error {
	if f.session != "" && f.given != "" {
		return usagef("--session and --project: give one of them")
	}
	return f.use(ctx, func(c *client.Client) error {
		if f.session != "" {
			return run(c, api.Place{SessionID: f.session})
		}
		project, err := f.find(ctx, c)
		if err != nil {
			return err
		}
		return run(c, api.Place{ProjectID: project.ID})
	})
}
