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
	return group("mcp", "See the MCP servers of a project, and allow them to start",
		"  scorel mcp list\n  scorel mcp allow github --project ~/code/site",
		newMCPList(a), newMCPDecide(a, "allow", true), newMCPDecide(a, "deny", false))
}

// projectFlag is the project that a command is about.
type projectFlag struct {
	*target
	given string
}

func (a *app) projectFlag(cmd *cobra.Command) *projectFlag {
	p := &projectFlag{target: a.targetFlag(cmd)}
	cmd.Flags().StringVar(&p.given, "project", "", "id or folder of the project (default: this folder)")
	return p
}

// find asks the host which project is meant.
func (p *projectFlag) find(ctx context.Context, c *client.Client) (api.Project, error) {
	path := p.given
	if p.local() {
		absolute, err := filepath.Abs(path)
		if err != nil {
			return api.Project{}, fmt.Errorf("resolving %s: %w", path, err)
		}
		path = absolute
		if real, err := filepath.EvalSymlinks(absolute); err == nil {
			path = real
		}
	}
	response, err := client.Call[api.ListProjectsResponse](ctx, c, "list_projects", api.Empty{})
	if err != nil {
		return api.Project{}, err
	}
	for _, project := range response.Projects {
		if project.Path == path || project.ID == p.given {
			return project, nil
		}
	}
	if strings.HasPrefix(p.given, "prj_") {
		return api.Project{}, usagef("there is no project %s on the host: `scorel project list` shows them", p.given)
	}
	return api.Project{}, usagef("%s is not a project: give one with --project, or add it with `scorel project add`", path)
}

// id is that of the project, or "" where none is named.
func (p *projectFlag) id(ctx context.Context, c *client.Client) (string, error) {
	if p.given == "" {
		return "", nil
	}
	project, err := p.find(ctx, c)
	return project.ID, err
}

// servers connects and lists the servers of the project. The caller closes the
// client.
func (p *projectFlag) servers(ctx context.Context) (*client.Client, api.Project, api.ListMCPServersResponse, error) {
	c, err := p.connect(ctx)
	if err != nil {
		return nil, api.Project{}, api.ListMCPServersResponse{}, err
	}
	project, err := p.find(ctx, c)
	var response api.ListMCPServersResponse
	if err == nil {
		response, err = client.Call[api.ListMCPServersResponse](ctx, c, "list_mcp_servers", api.ListMCPServersRequest{ProjectID: project.ID})
	}
	if err != nil {
		_ = c.Close() // the error before says more
		return nil, project, response, err
	}
	return c, project, response, nil
}

func newMCPList(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the servers of a project, how they stand and what they would start",
		Long: `List the MCP servers that config.toml and the .mcp.json of a project name, how they
stand, and what is started or asked. A server of a project starts at the first
prompt after it was allowed. With --json each line is one server.`,
		Example: "  scorel mcp list\n  scorel mcp list --project ~/code/site --json",
		Args:    argCount(0, 0, "no arguments"),
	}
	project := a.projectFlag(cmd)
	addJSON(cmd, &asJSON)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		c, _, response, err := project.servers(cmd.Context())
		if err != nil {
			return err
		}
		_ = c.Close() // used to the end
		a.sayNotes(response.Problems)
		return printList(a, asJSON, response.Servers, listing[api.MCPServer]{
			none:   "there is no MCP server: .mcp.json in the project's folder and [mcp.servers.NAME] in config.toml name them",
			header: []string{"NAME", "FROM", "STATE", "TOOLS", "WHAT"},
			row:    mcpRow,
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
		true:  "Allow to start a server that the project names, as it is configured now",
		false: "Do not let a server of the project start, and end it if it runs",
	}[allow]
	cmd := &cobra.Command{
		Use:   verb + " NAME",
		Short: short,
		Long: short + `.
What is decided about is printed. When the configuration in .mcp.json changes later,
the server waits for another decision.`,
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
		defer func() { _ = c.Close() }() // used to the end
		server, err := findServer(response.Servers, args[0])
		if err != nil {
			return err
		}
		decided, err := client.Call[api.DecideMCPServerResponse](cmd.Context(), c, "decide_mcp_server",
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
			fmt.Fprintf(a.stderr, "scorel: it does not start before the folder is trusted: `scorel project trust %s` trusts it\n", printable(of.Path))
		}
		_, err = fmt.Fprintf(a.stdout, "%s %s in %s: %s\n", server.Name, said, printable(of.Path), printable(server.Shown))
		return err
	}
	return cmd
}

func findServer(servers []api.MCPServer, name string) (api.MCPServer, error) {
	var names []string
	for _, s := range servers {
		switch {
		case s.Name == name && s.Hash == "":
			return s, usagef("the server %s comes from config.toml, which needs no consent: write enabled = false there to turn it off", name)
		case s.Name == name:
			return s, nil
		}
		names = append(names, s.Name)
	}
	if len(names) == 0 {
		return api.MCPServer{}, usagef("there is no server %q: the project names none in .mcp.json", name)
	}
	return api.MCPServer{}, usagef("there is no server %q: the servers are %s", name, strings.Join(names, ", "))
}
