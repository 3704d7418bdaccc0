package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

func newMCPLogin(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "login NAME",
		Short: "Sign in to an MCP server with OAuth",
		Long: `Sign in to an MCP server with OAuth, which works for servers with an address. The link is printed,
and opened if the host runs on this machine. After you have signed in, the browser is sent to a
port of the host's machine. If the browser is elsewhere, it shows an error there: copy the whole
address from the browser and paste it here.`,
		Example: "  scorel mcp login github --user\n  scorel mcp login docs --device home",
		Args:    argCount(1, 1, "the name of one server"),
	}
	f := a.mcpScope(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return f.on(cmd.Context(), func(c *client.Client, projectID string) error {
			begun, err := client.Call(cmd.Context(), c, api.SignInMCPServer, api.SignInMCPServerRequest{ProjectID: projectID, Name: args[0]})
			if err != nil {
				return err
			}
			showSignIn(cmd.Context(), a.env, a.stderr, begun, f.local())
			if err := finishSignIn(cmd.Context(), a.console, c, begun.SignInID); err != nil {
				return err
			}
			server, err := namedServer(cmd.Context(), c, projectID, args[0])
			if err != nil {
				return err
			}
			return printServer(a.stdout, f.asJSON, "signed in", server)
		})
	}
	return cmd
}

// showSignIn prints the link, and opens it if the browser can reach the host's port.
func showSignIn(ctx context.Context, env *environment, stderr io.Writer, begun api.SignInMCPServerResponse, local bool) {
	at := begun.Issuer
	if u, err := url.Parse(begun.Issuer); err == nil {
		at = u.Host
	}
	fmt.Fprintf(stderr, "scorel: sign in at %s", printable(at))
	if len(begun.Scopes) > 0 {
		fmt.Fprintf(stderr, " and allow: %s", printable(strings.Join(begun.Scopes, ", ")))
	}
	fmt.Fprintf(stderr, "\n%s\nscorel: if the browser then shows an error, paste its whole address here (it begins with %s?):\n", printable(begun.URL), printable(begun.Redirect))
	if u, err := url.Parse(begun.URL); local && err == nil && (u.Scheme == "https" || u.Scheme == "http") {
		openBrowser(ctx, env, stderr, begun.URL)
	}
}

// finishSignIn waits for the end of a sign-in, and hands over addresses that a person pastes.
func finishSignIn(ctx context.Context, con console, c *client.Client, id string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	pasted := make(chan string)
	go func() { // ends with the input or the command; reading cannot be interrupted
		lines := bufio.NewReader(io.LimitReader(con.stdin, 1<<20))
		for {
			line, err := lines.ReadString('\n')
			if strings.TrimSpace(line) != "" {
				select {
				case pasted <- strings.TrimSpace(line):
				case <-ctx.Done():
					return
				}
			}
			if err != nil {
				return
			}
		}
	}()
	ended := make(chan error, 1)
	go func() { ended <- awaitSignIn(ctx, c, id) }()
	for {
		select {
		case err := <-ended:
			return err
		case address := <-pasted:
			_, err := client.Call(ctx, c, api.FinishMCPSignIn, api.FinishMCPSignInRequest{SignInID: id, Address: address})
			var refused *api.Error
			switch {
			case errors.As(err, &refused) && refused.Kind == api.KindBadRequest:
				fmt.Fprintf(con.stderr, "scorel: %s\n", sentence(err)) // it still waits
			case errors.As(err, &refused) && refused.Kind == api.KindNotFound: // the browser was first
			case err != nil:
				return err
			}
		}
	}
}

// awaitSignIn waits until a sign-in has ended.
func awaitSignIn(ctx context.Context, c *client.Client, id string) error {
	for {
		state, err := client.Call(ctx, c, api.AwaitMCPSignIn, api.AwaitMCPSignInRequest{SignInID: id})
		switch {
		case err != nil:
			return err
		case state.Ended && state.Problem != "":
			return fmt.Errorf("the sign-in failed: %s", printable(state.Problem))
		case state.Ended:
			return nil
		}
	}
}

func newMCPLogout(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "logout NAME",
		Short:   "Delete and revoke the tokens of an MCP server",
		Long:    `Delete the tokens of an MCP server and revoke them, if its authorization server supports that.`,
		Example: "  scorel mcp logout github --user\n  scorel mcp logout docs --json",
		Args:    argCount(1, 1, "the name of one server"),
	}
	f := a.mcpScope(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return f.on(cmd.Context(), func(c *client.Client, projectID string) error {
			out, err := client.Call(cmd.Context(), c, api.SignOutMCPServer, api.SignOutMCPServerRequest{ProjectID: projectID, Name: args[0]})
			if err != nil {
				return err
			}
			return printServer(a.stdout, f.asJSON, "signed out", out.Server)
		})
	}
	return cmd
}

// clientMetadata is the document that describes this client to authorization servers.
type clientMetadata struct {
	ClientID                string   `json:"client_id"`
	ClientName              string   `json:"client_name"`
	RedirectURIs            []string `json:"redirect_uris"`
	GrantTypes              []string `json:"grant_types"`
	ResponseTypes           []string `json:"response_types"`
	TokenEndpointAuthMethod string   `json:"token_endpoint_auth_method"`
	ApplicationType         string   `json:"application_type"`
}

func newMCPClientMetadata(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "client-metadata URL",
		Short: "Print the document that describes scorel to authorization servers",
		Long: `Print a Client ID Metadata Document to publish at URL. With client_metadata_url = URL below [mcp]
in config.toml, the host signs in with it where an authorization server supports that, instead
of registering a client each time.`,
		Example: "  scorel mcp client-metadata https://example.org/scorel.json",
		Args:    argCount(1, 1, "the address of the document"),
		RunE: func(_ *cobra.Command, args []string) error {
			u, err := url.Parse(args[0])
			if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || strings.Trim(u.Path, "/") == "" || u.RawQuery != "" || u.Fragment != "" {
				return usagef("%q is not an address that begins with https:// and has a path", printable(args[0]))
			}
			return printJSON(a.stdout, clientMetadata{
				ClientID: args[0], ClientName: "scorel", RedirectURIs: []string{"http://127.0.0.1/callback"}, GrantTypes: []string{"authorization_code", "refresh_token"},
				ResponseTypes: []string{"code"}, TokenEndpointAuthMethod: "none", ApplicationType: "native",
			})
		},
	}
}
