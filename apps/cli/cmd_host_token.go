package cli

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/packages/protocol/api"
)

func newHostToken(a *app) *cobra.Command {
	return group("token", "Manage tokens for programs that use HTTP",
		"  scorel host token create --grants view,prompt --label ci\n  scorel host token list",
		newTokenCreate(a), newTokenList(a), newTokenRevoke(a))
}

func newTokenCreate(a *app) *cobra.Command {
	var (
		label, expires string
		grants         []string
		asJSON         bool
	)
	cmd := &cobra.Command{
		Use:   "create",
		Short: "Create a token with selected grants",
		Long: `Create a token for programs on this machine and print it once: the host stores only its
hash. The grants are view (read), prompt (create sessions, send prompts, cancel), approve
(answer approvals), manage (projects, folders, clients) and files (read files and the git
history; with approve, also revert and commit). With prompt, the agent can be asked to read
anything that you can read. A token with --expires stops working at that time, and its
connections are closed.`,
		Example: `  scorel host token create --grants view --label dashboard
  scorel host token create --grants view,prompt --label ci --expires 720h > token`,
		Args: argCount(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			asked, err := parseGrants(grants)
			if err != nil {
				return err
			}
			if label == "" {
				return usagef("the token needs a name: give it with --label, as in --label ci")
			}
			lifetime, err := parseLifetime(expires)
			if err != nil {
				return err
			}
			request := api.CreateTokenRequest{Label: label, Grants: asked}
			if lifetime > 0 {
				request.ExpiresAt = time.Now().Add(lifetime).UnixMilli()
			}
			return createToken(cmd.Context(), a.target(""), request, asJSON)
		},
	}
	cmd.Flags().StringVar(&label, "label", "", "name of the token in the list")
	cmd.Flags().StringSliceVar(&grants, "grants", nil, "comma-separated grants: view,prompt,approve,manage,files")
	cmd.Flags().StringVar(&expires, "expires", "0", "how long it is valid, such as 720h or 30d; 0 means until it is revoked")
	addJSON(cmd, &asJSON)
	return cmd
}

func parseGrants(words []string) ([]api.Grant, error) {
	var grants []api.Grant
	if len(words) == 0 {
		return nil, usagef("--grants is missing: give one or more of %s", grantList(api.AllGrants()))
	}
	for _, word := range words {
		grant := api.Grant(strings.TrimSpace(word))
		if !slices.Contains(api.AllGrants(), grant) {
			return nil, usagef("there is no grant %q: --grants accepts %s", clip(word, 40), grantList(api.AllGrants()))
		}
		if !slices.Contains(grants, grant) {
			grants = append(grants, grant)
		}
	}
	return grants, nil
}

func grantList(grants []api.Grant) string {
	words := make([]string, len(grants))
	for i, grant := range grants {
		words[i] = string(grant)
	}
	return strings.Join(words, ",")
}

// createToken creates the secret; the host only gets its hash.
func createToken(ctx context.Context, to *target, request api.CreateTokenRequest, asJSON bool) error {
	secret := "scorel_" + rand.Text()
	hash := sha256.Sum256([]byte(secret))
	request.Hash = hex.EncodeToString(hash[:])
	response, err := ask(ctx, to, api.CreateToken, request)
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(to.con.stdout, struct {
			api.Token
			Secret string `json:"token"`
		}{response.Token, secret})
	}
	until := ""
	if response.Token.ExpiresAt != 0 {
		until = " until " + formatMillis(response.Token.ExpiresAt)
	}
	if err := printf(to.con.stderr, "%s may %s%s; it is shown only once\n", response.Token.ID, grantList(request.Grants), until); err != nil {
		return err
	}
	_, err = fmt.Fprintln(to.con.stdout, secret)
	return err
}

func newTokenList(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List tokens and their grants",
		Example: "  scorel host token list --json",
		Args:    argCount(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return listTokens(cmd.Context(), a.stdout, a.target(""), asJSON)
		},
	}
	addJSON(cmd, &asJSON)
	return cmd
}

func listTokens(ctx context.Context, stdout io.Writer, to *target, asJSON bool) error {
	response, err := ask(ctx, to, api.ListTokens, api.Empty{})
	if err != nil {
		return err
	}
	return printList(stdout, asJSON, response.Tokens, listing[api.Token]{
		none:   "there are no tokens: create one with `scorel host token create`",
		header: []string{"ID", "GRANTS", "CREATED", "EXPIRES", "LABEL"},
		row: func(_ int, t api.Token) []string {
			return []string{t.ID, grantList(t.Grants), formatMillis(t.CreatedAt), tokenEnd(t, time.Now()), t.Label}
		},
	})
}

// endsSoon is how long before its expiry a token is marked.
const endsSoon = 7 * 24 * time.Hour

// tokenEnd says when a token expires, and whether it is soon or past.
func tokenEnd(token api.Token, now time.Time) string {
	left := time.UnixMilli(token.ExpiresAt).Sub(now)
	switch {
	case token.ExpiresAt == 0:
		return "never"
	case left <= 0:
		return "expired " + formatMillis(token.ExpiresAt)
	case left < time.Hour:
		return formatMillis(token.ExpiresAt) + " (within the hour)"
	case left < 48*time.Hour:
		return fmt.Sprintf("%s (in %d h)", formatMillis(token.ExpiresAt), int(left.Hours()))
	case left < endsSoon:
		return fmt.Sprintf("%s (in %d days)", formatMillis(token.ExpiresAt), int(left.Hours()/24))
	}
	return formatMillis(token.ExpiresAt)
}

func newTokenRevoke(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "revoke ID",
		Short:   "Revoke a token and close its connections",
		Example: "  scorel host token revoke tok_...",
		Args:    argCount(1, 1, "the id of one token"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !strings.HasPrefix(args[0], "tok_") {
				return usagef("%q is not the id of a token: `scorel host token list` shows them", clip(args[0], 60))
			}
			if _, err := ask(cmd.Context(), a.target(""), api.RevokeToken, api.RevokeTokenRequest{TokenID: args[0]}); err != nil {
				return err
			}
			return printDone(a.stdout, asJSON, api.Empty{}, "%s is revoked", args[0])
		},
	}
	addJSON(cmd, &asJSON)
	return cmd
}
