package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

func newMCP(a *app) *cobra.Command {
	return group("mcp", "Manage MCP servers, for a project or every project",
		"  scorel mcp list\n  scorel mcp add docs -- docs-mcp --read-only\n  scorel mcp allow github --project ~/code/site",
		newMCPList(a), newMCPAdd(a), newMCPEdit(a), newMCPRemove(a), newMCPEnable(a, true), newMCPEnable(a, false), newMCPTest(a), newMCPOffers(a), newMCPLogin(a), newMCPLogout(a), newMCPClientMetadata(a),
		newMCPDecide(a, "allow", true), newMCPDecide(a, "deny", false))
}

// projectFlag selects the project of a command.
type projectFlag struct {
	*target
	given string
}

func (a *app) projectFlag(cmd *cobra.Command) *projectFlag {
	p := &projectFlag{target: a.targetFlag(cmd)}
	cmd.Flags().StringVar(&p.given, "project", "", "id or folder of the project (default: this folder)")
	return p
}

// find returns the selected project from the host.
func (p *projectFlag) find(ctx context.Context, c *client.Client) (api.Project, error) {
	project, path, err := p.lookUp(ctx, c)
	if err == nil && project.ID == "" {
		err = usagef("%s is not a project: give one with --project, or add it with `scorel project add`", path)
	}
	return project, err
}

// lookUp returns the selected project, which has no id if it must be a folder that is not a project
// yet, and the folder.
func (p *projectFlag) lookUp(ctx context.Context, c *client.Client) (found api.Project, path string, err error) {
	path = p.given
	if p.local() {
		absolute, err := filepath.Abs(path)
		if err != nil {
			return found, path, fmt.Errorf("resolving %s: %w", path, err)
		}
		path = absolute
		if real, err := filepath.EvalSymlinks(absolute); err == nil {
			path = real
		}
	} else if path == "" { // this folder is not on the other machine
		return found, path, usagef("--project is missing: `scorel project list --device` shows the projects of that machine")
	}
	response, err := client.Call(ctx, c, api.ListProjects, api.Empty{})
	if err != nil {
		return found, path, err
	}
	for _, project := range response.Projects {
		if project.Path == path || project.ID == p.given {
			return project, path, nil
		}
	}
	if strings.HasPrefix(p.given, "prj_") {
		return found, path, usagef("there is no project %s on the host: `scorel project list` shows them", p.given)
	}
	return found, path, nil
}

// id returns the id of the project, or "" if none is selected.
func (p *projectFlag) id(ctx context.Context, c *client.Client) (string, error) {
	if p.given == "" {
		return "", nil
	}
	project, err := p.find(ctx, c)
	return project.ID, err
}

// servers connects and lists the servers of the project. The caller must close the client.
func (p *projectFlag) servers(ctx context.Context) (*client.Client, api.Project, api.ListMCPServersResponse, error) {
	c, err := p.connect(ctx)
	if err != nil {
		return nil, api.Project{}, api.ListMCPServersResponse{}, err
	}
	project, err := p.find(ctx, c)
	var response api.ListMCPServersResponse
	if err == nil {
		response, err = client.Call(ctx, c, api.ListMCPServers, api.ListMCPServersRequest{ProjectID: project.ID})
	}
	if err != nil {
		_ = c.Close() // the other error is more useful
		return nil, project, response, err
	}
	return c, project, response, nil
}

func newMCPList(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the MCP servers of a project and their status",
		Long: `List the MCP servers of config.toml, those that were added for every project, and those of the
project's .mcp.json, their status, and what each of them runs or connects to. A server of a
project starts with the first prompt after it was allowed. With --json, each line is one
server.`,
		Example: "  scorel mcp list\n  scorel mcp list --project ~/code/site --json\n  scorel mcp list --user",
		Args:    argCount(0, 0, "no arguments"),
	}
	f := &scopeFlags{}
	f.add(a, cmd, "list the servers for every project only")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return f.on(cmd.Context(), func(c *client.Client, projectID string) error {
			response, err := client.Call(cmd.Context(), c, api.ListMCPServers, api.ListMCPServersRequest{ProjectID: projectID})
			if err != nil {
				return err
			}
			sayNotes(a.stderr, response.Problems)
			return printList(a.stdout, f.asJSON, response.Servers, listing[api.MCPServer]{
				none:   "there are no MCP servers: `scorel mcp add` adds one",
				header: []string{"NAME", "FROM", "STATE", "TOOLS", "WHAT"},
				row:    mcpRow,
			})
		})
	}
	return cmd
}

func mcpRow(_ int, s api.MCPServer) []string {
	state := string(s.State)
	if s.Reason != "" {
		state += ": " + clip(s.Reason, 100)
	}
	return []string{s.Name, s.Source, state, fmt.Sprint(len(s.Tools)), s.Shown}
}

func newMCPDecide(a *app, verb string, allow bool) *cobra.Command {
	var asJSON bool
	short := map[bool]string{
		true:  "Allow a server of the project to start, as it is configured now",
		false: "Deny a server of the project, and stop it if it is running",
	}[allow]
	cmd := &cobra.Command{
		Use:   verb + " NAME",
		Short: short,
		Long: short + `.
The configuration is printed. If it changes in .mcp.json later, the server
needs a new decision.`,
		Example: "  scorel mcp " + verb + " github\n  scorel mcp " + verb + " github --project ~/code/site",
		Args:    argCount(1, 1, "the name of one server"),
	}
	project := a.projectFlag(cmd)
	addJSON(cmd, &asJSON)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c, of, response, err := project.servers(cmd.Context())
		if err != nil {
			return err
		}
		defer func() { _ = c.Close() }() // everything was received
		server, err := findServer(response.Servers, args[0])
		if err != nil {
			return err
		}
		decided, err := client.Call(cmd.Context(), c, api.DecideMCPServer,
			api.DecideMCPServerRequest{ProjectID: of.ID, Name: server.Name, Hash: server.Hash, Allow: allow})
		if err != nil {
			return err
		}
		if asJSON {
			return printJSON(a.stdout, decided.Server)
		}
		said := map[bool]string{true: "is allowed and starts with the next prompt", false: "is denied"}[allow]
		if allow && decided.Server.State == api.MCPUntrusted {
			said = "is allowed"
			fmt.Fprintf(a.stderr, "scorel: it will not start until the folder is trusted: `scorel project trust %s` trusts it\n", printable(of.Path))
		}
		return printf(a.stdout, "%s %s in %s: %s\n", server.Name, said, of.Path, server.Shown)
	}
	return cmd
}

func findServer(servers []api.MCPServer, name string) (api.MCPServer, error) {
	var names []string
	for _, s := range servers {
		switch {
		case s.Name == name && s.Hash == "":
			return s, usagef("the server %s comes from "+s.Source+", which needs no consent: `scorel mcp disable %s` turns it off", name, name)
		case s.Name == name:
			return s, nil
		}
		names = append(names, s.Name)
	}
	if len(names) == 0 {
		return api.MCPServer{}, usagef("there is no server %q: the project has none in .mcp.json", name)
	}
	return api.MCPServer{}, usagef("there is no server %q: the servers are %s", name, strings.Join(names, ", "))
}
