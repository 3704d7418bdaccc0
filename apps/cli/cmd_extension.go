package cli

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

func newExtension(a *app) *cobra.Command {
	return group("extension", "Add, review, enable and remove extensions",
		"  scorel extension add ./review --user\n  scorel extension list\n  scorel extension update review",
		newExtensionAdd(a), newExtensionList(a), newExtensionShow(a), newExtensionDecide(a, "allow", true), newExtensionDecide(a, "deny", false),
		newExtensionEnable(a, true), newExtensionEnable(a, false), newExtensionUpdate(a), newExtensionRemove(a))
}

func newExtensionList(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the extensions of a project and whether they are used",
		Long: `List the extensions that were added and those that the project brings in .scorel/extensions.
One of a project is used only after it was allowed. With --json, each line is one extension
with all that it contains.`,
		Example: "  scorel extension list\n  scorel extension list --project ~/code/site --json\n  scorel extension list --user",
		Args:    argCount(0, 0, "no arguments"),
	}
	f := &scopeFlags{}
	f.add(a, cmd, "list what holds for every project")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return f.on(cmd.Context(), func(c *client.Client, projectID string) error {
			response, err := client.Call(cmd.Context(), c, api.ListExtensions, api.ListExtensionsRequest{ProjectID: projectID})
			if err != nil {
				return err
			}
			sayNotes(a.stderr, response.Problems)
			return printList(a.stdout, f.asJSON, response.Extensions, listing[api.Extension]{
				none:   "there are no extensions: `scorel extension add` adds one",
				header: []string{"NAME", "VERSION", "STATE", "CONTAINS", "FROM"},
				row:    extensionRow,
			})
		})
	}
	return cmd
}

func extensionRow(_ int, e api.Extension) []string {
	state := string(e.State)
	if e.Reason != "" {
		state += ": " + clip(e.Reason, 100)
	}
	version := e.Version
	if version == "" {
		version = "-"
	}
	return []string{printable(e.Name), printable(version), state, countParts(e.Contents), printable(e.Location)}
}

// countParts says how many parts of each kind an extension has.
func countParts(c api.ExtensionContents) string {
	var parts []string
	for _, kind := range []struct {
		n    int
		word string
	}{{len(c.Skills), "skills"}, {len(c.Commands), "commands"}, {len(c.Agents), "agents"}, {len(c.Hooks), "hooks"}, {len(c.Servers), "servers"}} {
		if kind.n > 0 {
			parts = append(parts, fmt.Sprintf("%s: %d", kind.word, kind.n))
		}
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}

func namedExtension(ctx context.Context, c *client.Client, projectID, name string) (api.Extension, error) {
	response, err := client.Call(ctx, c, api.ListExtensions, api.ListExtensionsRequest{ProjectID: projectID})
	if err != nil {
		return api.Extension{}, err
	}
	for _, e := range response.Extensions {
		if e.Name == name {
			return e, nil
		}
	}
	return api.Extension{}, api.Errorf(api.KindNotFound, "there is no extension %.64q: `scorel extension list` shows the extensions", name)
}

func newExtensionShow(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "show NAME",
		Short:   "Show what an extension contains and would run",
		Long:    `Show everything that an extension contains, and every command that it would run.`,
		Example: "  scorel extension show review\n  scorel extension show review --user --json",
		Args:    argCount(1, 1, "the name of one extension"),
	}
	f := &scopeFlags{}
	f.add(a, cmd, "show what holds for every project")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return f.on(cmd.Context(), func(c *client.Client, projectID string) error {
			e, err := namedExtension(cmd.Context(), c, projectID, args[0])
			if err != nil {
				return err
			}
			if f.asJSON {
				return printJSON(a.stdout, e)
			}
			_, err = fmt.Fprint(a.stdout, describeExtension(e))
			return err
		})
	}
	return cmd
}

func newExtensionDecide(a *app, verb string, allow bool) *cobra.Command {
	done := map[bool]string{true: "allowed", false: "denied"}[allow]
	long := `Deny an extension that the project brings in .scorel/extensions. The decision is for exactly
these files: if one of them changes, people are asked again.`
	if allow {
		long = `Allow an extension that the project brings in .scorel/extensions. It is shown with all
that it contains and would run. The decision is for exactly these files: if one of them
changes, people are asked again, and until then what was allowed stays in use.`
	}
	cmd := &cobra.Command{
		Use:     verb + " NAME",
		Short:   strings.ToUpper(verb[:1]) + verb[1:] + " an extension of the project, as it is now",
		Long:    long,
		Example: "  scorel extension " + verb + " review\n  scorel extension " + verb + " review --project ~/code/site --json",
		Args:    argCount(1, 1, "the name of one extension"),
	}
	project := a.projectFlag(cmd)
	review := addReview(a.console, cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return project.within(cmd.Context(), false, func(c *client.Client, projectID string) error {
			e, err := namedExtension(cmd.Context(), c, projectID, args[0])
			if err != nil {
				return err
			}
			if allow {
				if err := review.agree(cmd.Context(), e, nil, "Allow it? [y/N] "); err != nil {
					return err
				}
			}
			request := api.DecideExtensionRequest{ProjectID: projectID, Name: e.Name, Hash: e.Hash, Allow: allow}
			decided, err := client.Call(cmd.Context(), c, api.DecideExtension, request)
			if err != nil {
				return err
			}
			if decided.Extension.State == api.ExtensionUntrusted {
				sayNotes(a.stderr, []string{"it is not used until the folder is trusted: `scorel project trust` trusts it"})
			}
			return printExtension(a.stdout, review.asJSON, done, decided.Extension)
		})
	}
	return cmd
}

func newExtensionEnable(a *app, enabled bool) *cobra.Command {
	word, done := "enable", "enabled"
	if !enabled {
		word, done = "disable", "disabled"
	}
	cmd := &cobra.Command{
		Use: word + " NAME", Short: strings.ToUpper(word[:1]) + word[1:] + " an extension",
		Long: strings.ToUpper(word[:1]) + word[1:] + ` an extension with all that it contains, in the project or, with --user, in every
project, from the next turn of each session on. The setting of a project comes before the one
for every project.`,
		Example: "  scorel extension " + word + " review\n  scorel extension " + word + " review --user --json",
		Args:    argCount(1, 1, "the name of one extension"),
	}
	f := &scopeFlags{}
	f.add(a, cmd, word+" it in every project")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return f.on(cmd.Context(), func(c *client.Client, projectID string) error {
			request := api.SetExtensionEnabledRequest{ProjectID: projectID, Name: args[0], Enabled: enabled}
			response, err := client.Call(cmd.Context(), c, api.SetExtension, request)
			if err != nil {
				return err
			}
			return printExtension(a.stdout, f.asJSON, done, response.Extension)
		})
	}
	return cmd
}

func newExtensionRemove(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "remove NAME",
		Short: "Remove an extension that was added",
		Long: `Remove an extension that was added, in every project, and stop its MCP servers. One that a
project brings in .scorel/extensions is denied or disabled instead.`,
		Example: "  scorel extension remove review\n  scorel extension remove review --json",
		Args:    argCount(1, 1, "the name of one extension"),
	}
	to := a.targetFlag(cmd)
	addJSON(cmd, &asJSON)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return to.use(cmd.Context(), func(c *client.Client) error {
			e, err := namedExtension(cmd.Context(), c, "", args[0])
			if err != nil {
				return err
			}
			if _, err := client.Call(cmd.Context(), c, api.DeleteExtension, api.DeleteExtensionRequest{Name: e.Name, Hash: e.Hash}); err != nil {
				return err
			}
			return printExtension(a.stdout, asJSON, "removed", e)
		})
	}
	return cmd
}

func printExtension(stdout io.Writer, asJSON bool, done string, e api.Extension) error {
	if asJSON {
		return printJSON(stdout, e)
	}
	_, err := fmt.Fprintf(stdout, "%s: %s (%s)\n", done, printable(e.Name), countParts(e.Contents))
	return err
}

// shellAddress reports whether a source has the form user@host:path.
func shellAddress(source string) bool {
	before, _, found := strings.Cut(source, ":")
	return found && strings.Contains(before, "@") && !strings.Contains(before, "/")
}

// absoluteSource returns a source as the host understands it: a folder of this machine is
// absolute.
func absoluteSource(source string, local bool) (string, error) {
	if !local || strings.Contains(source, "://") || shellAddress(source) || filepath.IsAbs(source) {
		return source, nil
	}
	absolute, err := filepath.Abs(source)
	if err != nil {
		return "", fmt.Errorf("resolving %s: %w", source, err)
	}
	return absolute, nil
}
