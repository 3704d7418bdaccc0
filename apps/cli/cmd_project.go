package cli

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/packages/protocol/api"
)

func newProject(a *app) *cobra.Command {
	return group("project", "Manage the folders that sessions run in",
		"  scorel project add ~/code/site\n  scorel project list --device dev_...",
		newProjectList(a), newProjectFolders(a), newProjectAdd(a), newProjectRemove(a), newProjectTrust(a))
}

func newProjectList(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List projects",
		Example: "  scorel project list\n  scorel project list --json",
		Args:    argCount(0, 0, "no arguments"),
	}
	to := a.targetFlag(cmd)
	addJSON(cmd, &asJSON)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		response, err := ask(cmd.Context(), to, api.ListProjects, api.Empty{})
		if err != nil {
			return err
		}
		return printList(a.stdout, asJSON, response.Projects, listing[api.Project]{
			none:   "there are no projects: `scorel project add PATH` adds one",
			header: []string{"ID", "NAME", "PATH"},
			row: func(_ int, p api.Project) []string {
				path := p.Path
				if p.Missing {
					path += " (folder missing)"
				}
				if p.Trusted {
					path += " (trusted)"
				}
				if p.Unavailable != "" {
					path += " (sessions unavailable: " + p.Unavailable + ")"
				}
				return []string{p.ID, p.Name, path}
			},
		})
	}
	return cmd
}

func newProjectAdd(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "add PATH",
		Short:   "Add a folder as a project",
		Example: "  scorel project add .\n  scorel project add /srv/site --device dev_...",
		Args:    argCount(1, 1, "the path of one folder"),
	}
	to := a.targetFlag(cmd)
	addJSON(cmd, &asJSON)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		path, err := to.path(args[0])
		if err != nil {
			return err
		}
		response, err := ask(cmd.Context(), to, api.AddProject, api.AddProjectRequest{Path: path})
		if err != nil {
			return err
		}
		if asJSON {
			return printJSON(a.stdout, response.Project)
		}
		return printf(a.stdout, "%s is project %s\n", response.Project.Path, response.Project.ID)
	}
	return cmd
}

// path makes a folder on this machine absolute. A path on another machine is left
// unchanged.
func (t *target) path(path string) (string, error) {
	if !t.local() {
		return path, nil
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("resolving %s: %w", path, err)
	}
	return absolute, nil
}

func newProjectRemove(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "remove ID",
		Short:   "Remove a project without sessions; its folder is kept",
		Example: "  scorel project remove prj_...\n  scorel project remove prj_... --json",
		Args:    argCount(1, 1, "the id of one project"),
	}
	to := a.targetFlag(cmd)
	addJSON(cmd, &asJSON)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := removeProject(cmd.Context(), to, args[0]); err != nil {
			return err
		}
		return printDone(a.stdout, asJSON, api.Empty{}, "%s is removed", printable(args[0]))
	}
	return cmd
}

func removeProject(ctx context.Context, to *target, id string) error {
	_, err := ask(ctx, to, api.RemoveProject, api.RemoveProjectRequest{ProjectID: id})
	return err
}
