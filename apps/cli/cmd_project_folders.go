package cli

import (
	"cmp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/packages/protocol/api"
)

func newProjectFolders(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "folders [PATH]",
		Short: "List the folders of a machine, to find a project",
		Long: `List the folders in a folder of the host's machine, by default the user's home, to find the
path for "scorel project add". With --json, each line is one folder.`,
		Example: "  scorel project folders --device dev_...\n  scorel project folders /srv --device dev_... --json",
		Args:    argCount(0, 1, "the path of at most one folder"),
	}
	to := a.targetFlag(cmd)
	addJSON(cmd, &asJSON)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		path := strings.Join(args, "")
		if path != "" {
			absolute, err := to.path(path)
			if err != nil {
				return err
			}
			path = absolute
		}
		response, err := ask(cmd.Context(), to, api.ListDir, api.ListDirRequest{Path: path})
		if err != nil {
			return err
		}
		noteTruncated(a.stderr, response.Truncated)
		return printList(a.stdout, asJSON, response.Entries, listing[api.DirEntry]{
			none:   "there are no folders in " + printable(cmp.Or(response.Path, path)),
			header: []string{"GIT", "PATH"},
			row:    func(_ int, e api.DirEntry) []string { return []string{yesNo(e.Git), e.Path} },
		})
	}
	return cmd
}
