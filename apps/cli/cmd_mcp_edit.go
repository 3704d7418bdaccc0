package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// mcpFlags are the settings of a server.
type mcpFlags struct {
	scopeFlags
	url, cwd                  string
	env, headers              []string
	withoutEnv, withoutHeader []string
}

func (a *app) mcpScope(cmd *cobra.Command) *mcpFlags {
	f := &mcpFlags{}
	f.add(a, cmd, "a server for every project instead of this one")
	return f
}

func (f *mcpFlags) addDraft(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.url, "url", "", "address of a server to contact instead of a command")
	cmd.Flags().StringVar(&f.cwd, "cwd", "", "folder of the command, below the project's (default: that)")
	cmd.Flags().StringArrayVar(&f.env, "env", nil, "variable of the command, as `NAME=VALUE`; NAME alone takes the value of this shell")
	cmd.Flags().StringArrayVar(&f.headers, "header", nil, "header of the requests, as `NAME=VALUE`")
}

// apply changes a draft by the flags that were given, and the command after them.
func (f *mcpFlags) apply(env *environment, cmd *cobra.Command, command []string, d *api.MCPDraft) error {
	if len(command) > 0 && f.url != "" {
		return usagef("--url and a command: give one of them")
	}
	if len(command) > 0 {
		d.Command, d.Args, d.URL, d.Headers = command[0], command[1:], "", nil
	}
	if f.url != "" {
		*d = api.MCPDraft{URL: f.url, Headers: d.Headers}
	}
	if cmd.Flags().Changed("cwd") {
		d.Cwd = f.cwd
	}
	var err error
	if d.Env, err = setValues(d.Env, f.env, f.withoutEnv, "env", env.getenv); err == nil {
		d.Headers, err = setValues(d.Headers, f.headers, f.withoutHeader, "header", nil)
	}
	return err
}

func setValues(values []api.MCPValue, given, without []string, flag string, getenv func(string) string) ([]api.MCPValue, error) {
	drop := func(name string) {
		values = slices.DeleteFunc(values, func(v api.MCPValue) bool { return v.Name == name })
	}
	for _, name := range without {
		drop(name)
	}
	for _, text := range given {
		name, value, ok := strings.Cut(text, "=")
		if !ok && getenv != nil {
			value = getenv(name)
			if ok = value != ""; !ok && name != "" {
				return nil, usagef("--%s %.80s: the variable is not set in this shell: set it, or give NAME=VALUE", flag, text)
			}
		}
		if !ok || name == "" {
			return nil, usagef("--%s %.80q: give NAME=VALUE", flag, text)
		}
		drop(name)
		values = append(values, api.MCPValue{Name: name, Value: value})
	}
	return values, nil
}

// draftOfServer is a server as a change begins with it. Values that were not shown are kept.
func draftOfServer(s api.MCPServer) api.MCPDraft {
	keep := func(settings []api.MCPSetting) (values []api.MCPValue) {
		for _, setting := range settings {
			values = append(values, api.MCPValue{Name: setting.Name, Keep: true})
		}
		return values
	}
	return api.MCPDraft{Command: s.Command, Args: s.Args, Cwd: s.Cwd, Env: keep(s.Env), URL: s.URL, Headers: keep(s.Headers)}
}

// nameAndCommand splits "NAME -- COMMAND ARGS".
func nameAndCommand(cmd *cobra.Command, args []string) (name string, command []string, err error) {
	if len(args) == 0 || len(args) > 1 && cmd.ArgsLenAtDash() != 1 {
		return "", nil, usagef("this command takes the name of one server, and a command after --: see `%s --help`", cmd.CommandPath())
	}
	return args[0], args[1:], nil
}

func namedServer(ctx context.Context, c *client.Client, projectID, name string) (api.MCPServer, error) {
	response, err := client.Call(ctx, c, api.ListMCPServers, api.ListMCPServersRequest{ProjectID: projectID})
	if err != nil {
		return api.MCPServer{}, err
	}
	for _, server := range response.Servers {
		if server.Name == name {
			return server, nil
		}
	}
	return api.MCPServer{}, api.Errorf(api.KindNotFound, "there is no MCP server %.64q: `scorel mcp list` shows the servers", name)
}

func printServer(stdout io.Writer, asJSON bool, done string, s api.MCPServer) error {
	if asJSON {
		return printJSON(stdout, s)
	}
	_, err := fmt.Fprintf(stdout, "%s: %s (%s): %s\n", done, printable(s.Name), printable(s.Source), printable(s.Shown))
	return err
}

func newMCPAdd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "add NAME [-- COMMAND ARGS...]",
		Short: "Add an MCP server",
		Long: `Add an MCP server: a command that the host starts, or with --url one that it contacts. It is
written to .mcp.json of the project and allowed there, or with --user to servers.json in
SCOREL_HOME for every project. A running host uses it with the next turn. Values such as
${TOKEN} are expanded where the host runs. A paired machine needs the grant shell.`,
		Example: "  scorel mcp add docs -- docs-mcp --read-only\n  scorel mcp add github --user --url https://mcp.example/mcp --header 'Authorization=Bearer ${TOKEN}'",
	}
	f := a.mcpScope(cmd)
	f.addDraft(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		name, command, err := nameAndCommand(cmd, args)
		if err != nil {
			return err
		}
		var draft api.MCPDraft
		if err := f.apply(a.env, cmd, command, &draft); err != nil {
			return err
		}
		if draft.Command == "" && draft.URL == "" {
			return usagef("give the command of the server after --, or its address with --url")
		}
		return f.on(cmd.Context(), func(c *client.Client, projectID string) error {
			saved, err := client.Call(cmd.Context(), c, api.SaveMCPServer, api.SaveMCPServerRequest{ProjectID: projectID, Name: name, Server: draft})
			if err != nil {
				return err
			}
			if saved.Server.State == api.MCPUntrusted {
				if err := warnUntrusted(cmd.Context(), a.stderr, c, projectID); err != nil {
					return err
				}
			}
			return printServer(a.stdout, f.asJSON, "added", saved.Server)
		})
	}
	return cmd
}

// warnUntrusted says why a server of a project does not start yet.
func warnUntrusted(ctx context.Context, stderr io.Writer, c *client.Client, projectID string) error {
	list, err := client.Call(ctx, c, api.ListProjects, api.Empty{})
	for _, project := range list.Projects {
		if project.ID == projectID {
			fmt.Fprintf(stderr, "scorel: it will not start until the folder is trusted: `scorel project trust %s` trusts it\n", printable(project.Path))
		}
	}
	return err
}

func newMCPEdit(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "edit NAME [-- COMMAND ARGS...]",
		Short: "Change an MCP server",
		Long: `Change an MCP server that add or the web UI added, or one of the project's .mcp.json. What no
flag names stays as it is, also the values of variables and headers, which are never shown.
A server of config.toml is changed there.`,
		Example: "  scorel mcp edit docs --env LEVEL=debug --without-env OLD\n  scorel mcp edit github --user --header 'Authorization=Bearer ${TOKEN}'",
	}
	f := a.mcpScope(cmd)
	f.addDraft(cmd)
	cmd.Flags().StringArrayVar(&f.withoutEnv, "without-env", nil, "`name` of a variable to remove")
	cmd.Flags().StringArrayVar(&f.withoutHeader, "without-header", nil, "`name` of a header to remove")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		name, command, err := nameAndCommand(cmd, args)
		if err != nil {
			return err
		}
		return f.on(cmd.Context(), func(c *client.Client, projectID string) error {
			server, err := changeable(cmd.Context(), c, projectID, name)
			if err != nil {
				return err
			}
			draft := draftOfServer(server)
			if err := f.apply(a.env, cmd, command, &draft); err != nil {
				return err
			}
			saved, err := client.Call(cmd.Context(), c, api.SaveMCPServer,
				api.SaveMCPServerRequest{ProjectID: projectID, Name: name, Version: server.Version, Server: draft})
			if err != nil {
				return err
			}
			return printServer(a.stdout, f.asJSON, "changed", saved.Server)
		})
	}
	return cmd
}

// changeable returns a server that requests can change in the selected scope.
func changeable(ctx context.Context, c *client.Client, projectID, name string) (api.MCPServer, error) {
	server, err := namedServer(ctx, c, projectID, name)
	switch {
	case err != nil || server.Version != "":
		return server, err
	case server.Source == "config.toml":
		return server, usagef("the server %s comes from config.toml: edit that file and restart the host", name)
	}
	return server, usagef("the server %s is one for every project: give --user", name)
}

func newMCPRemove(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "remove NAME",
		Short:   "Delete an MCP server",
		Long:    `Delete an MCP server of the project's .mcp.json or, with --user, one for every project, and stop it.`,
		Example: "  scorel mcp remove docs\n  scorel mcp remove github --user",
		Args:    argCount(1, 1, "the name of one server"),
	}
	f := a.mcpScope(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return f.on(cmd.Context(), func(c *client.Client, projectID string) error {
			server, err := changeable(cmd.Context(), c, projectID, args[0])
			if err != nil {
				return err
			}
			request := api.DeleteMCPServerRequest{ProjectID: projectID, Name: server.Name, Version: server.Version}
			if _, err := client.Call(cmd.Context(), c, api.DeleteMCPServer, request); err != nil {
				return err
			}
			return printServer(a.stdout, f.asJSON, "removed", server)
		})
	}
	return cmd
}

func newMCPEnable(a *app, enabled bool) *cobra.Command {
	word, done := "enable", "enabled"
	if !enabled {
		word, done = "disable", "disabled"
	}
	title := strings.ToUpper(word[:1]) + word[1:]
	cmd := &cobra.Command{
		Use: word + " NAME", Short: title + " an MCP server",
		Long: title + ` an MCP server in the project or, with --user, in every project. A disabled server is stopped
at once. The setting of a project comes before the one for every project.`,
		Example: "  scorel mcp " + word + " docs\n  scorel mcp " + word + " github --user --json",
		Args:    argCount(1, 1, "the name of one server"),
	}
	f := a.mcpScope(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return f.on(cmd.Context(), func(c *client.Client, projectID string) error {
			request := api.SetMCPServerEnabledRequest{ProjectID: projectID, Name: args[0], Enabled: enabled}
			set, err := client.Call(cmd.Context(), c, api.SetMCPEnabled, request)
			if err != nil {
				return err
			}
			return printServer(a.stdout, f.asJSON, done, set.Server)
		})
	}
	return cmd
}

func newMCPTest(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "test NAME",
		Short: "Start or contact an MCP server once and list its tools",
		Long: `Start or contact an MCP server once, list its tools and stop it again. A running server is not
disturbed. A server of a project must be allowed first. If the server does not work, the
reason is printed and the exit code is 1.`,
		Example: "  scorel mcp test docs\n  scorel mcp test github --user --json",
		Args:    argCount(1, 1, "the name of one server"),
	}
	f := a.mcpScope(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return f.on(cmd.Context(), func(c *client.Client, projectID string) error {
			tested, err := client.Call(cmd.Context(), c, api.TestMCPServer, api.TestMCPServerRequest{ProjectID: projectID, Name: args[0]})
			if err != nil {
				return err
			}
			if f.asJSON {
				err = printJSON(a.stdout, tested)
			} else if tested.Problem == "" {
				err = printList(a.stdout, false, tested.Tools, listing[api.MCPTool]{
					none: "the server works and has no tools", header: []string{"TOOL", "WHAT"},
					row: func(_ int, t api.MCPTool) []string { return []string{printable(t.Name), clip(t.Description, 90)} },
				})
			}
			if err == nil && tested.Problem != "" {
				err = fmt.Errorf("the server %s does not work: %s", printable(args[0]), printable(tested.Problem))
			}
			return err
		})
	}
	return cmd
}
