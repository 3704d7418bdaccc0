package cli

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// limitFlags select the projects that a client sees, and for how long.
type limitFlags struct {
	projects []string
	expires  string
}

func (f *limitFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.projects, "project", nil, "id or folder of a project that the client sees; repeat it for more (default: all projects)")
	cmd.Flags().StringVar(&f.expires, "expires", "", "how long the client has access, such as 8h or 7d; 0 means until it is revoked")
}

// apply replaces the limits that were given.
func (f *limitFlags) apply(ctx context.Context, c *client.Client, limits api.ClientLimits) (api.ClientLimits, error) {
	if len(f.projects) > 0 {
		list, err := client.Call(ctx, c, api.ListProjects, api.Empty{})
		if err != nil {
			return limits, err
		}
		limits.Projects = nil
		for _, given := range f.projects {
			project, err := projectAmong(list.Projects, given)
			if err != nil {
				return limits, err
			}
			limits.Projects = append(limits.Projects, project.ID)
		}
	}
	if f.expires != "" {
		lifetime, err := parseLifetime(f.expires)
		if err != nil {
			return limits, err
		}
		limits.ExpiresAt = 0
		if lifetime > 0 {
			limits.ExpiresAt = time.Now().Add(lifetime).UnixMilli()
		}
	}
	return limits, nil
}

// projectAmong finds a project by its id or folder. A folder of this machine may be given
// relative to the current one.
func projectAmong(list []api.Project, given string) (api.Project, error) {
	path, err := filepath.Abs(given)
	if err != nil {
		return api.Project{}, err
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	for _, project := range list {
		if project.ID == given || project.Path == given || project.Path == path {
			return project, nil
		}
	}
	return api.Project{}, usagef("there is no project %s: `scorel project list` shows the projects", clip(given, 100))
}

func newClientsLimit(a *app) *cobra.Command {
	var (
		f           limitFlags
		all, asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "limit ID",
		Short: "Limit a client to some projects, or to a time",
		Long: `Set which projects a client sees and when its access ends. For a client that is limited to
projects, the others do not exist: it sees none of their sessions, search results, files or
events. What is not given stays as it is. The change takes effect at once, for open
connections too. Sessions in its projects can still read other files of this machine if the
client has the grant "prompt", because an agent can.

When the time is over, its connections and terminals end. The client stays in the list:
"scorel host clients limit ID --expires 8h" gives it access again.`,
		Example: `  scorel host clients limit cli_... --project ~/site --expires 8h
  scorel host clients limit cli_... --all-projects --expires 0`,
		Args: argCount(1, 1, "the id of one client"),
	}
	to := a.targetFlag(cmd)
	f.add(cmd)
	cmd.Flags().BoolVar(&all, "all-projects", false, "let the client see all projects")
	addJSON(cmd, &asJSON)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case all && len(f.projects) > 0:
			return usagef("--project and --all-projects: give one of them")
		case !all && len(f.projects) == 0 && f.expires == "":
			return usagef("nothing to change: give --project, --all-projects or --expires")
		}
		return to.limitClient(cmd.Context(), args[0], f, all, asJSON)
	}
	return cmd
}

func (t *target) limitClient(ctx context.Context, given string, f limitFlags, all, asJSON bool) error {
	id, err := t.clientID(ctx, given)
	if err != nil {
		return err
	}
	c, err := t.connect(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }() // everything was received
	list, err := client.Call(ctx, c, api.ListClients, api.Empty{})
	if err != nil {
		return err
	}
	limits := api.ClientLimits{}
	if i := slices.IndexFunc(list.Clients, func(have api.Client) bool { return have.ID == id }); i >= 0 {
		limits = list.Clients[i].ClientLimits
	}
	if all {
		limits.Projects = nil
	}
	if limits, err = f.apply(ctx, c, limits); err != nil {
		return err
	}
	response, err := client.Call(ctx, c, api.SetLimits, api.SetLimitsRequest{ClientID: id, ClientLimits: limits})
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(t.con.stdout, response.Client)
	}
	return printLimits(ctx, t.con.stdout, c, response.Client)
}

func printLimits(ctx context.Context, stdout io.Writer, c *client.Client, known api.Client) error {
	list, err := client.Call(ctx, c, api.ListProjects, api.Empty{})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "%s sees %s, %s\n", known.ID, printable(projectNames(known.Projects, list.Projects)), expiry(known.ExpiresAt, time.Now()))
	return err
}

// projectNames lists projects by name for people.
func projectNames(ids []string, list []api.Project) string {
	if len(ids) == 0 {
		return "all projects"
	}
	var names []string
	for _, id := range ids {
		name := id
		if i := slices.IndexFunc(list, func(p api.Project) bool { return p.ID == id }); i >= 0 {
			name = list[i].Name
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// expiry says when access ends.
func expiry(at int64, now time.Time) string {
	switch {
	case at == 0:
		return "until it is revoked"
	case at <= now.UnixMilli():
		return "expired"
	}
	return "until " + formatMillis(at)
}
