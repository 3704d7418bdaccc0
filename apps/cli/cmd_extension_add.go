package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// reviewFlags say whether a person has seen what an extension contains.
type reviewFlags struct {
	con         console
	yes, asJSON bool
	hash        string
}

func addReview(con console, cmd *cobra.Command) *reviewFlags {
	f := &reviewFlags{con: con}
	addJSON(cmd, &f.asJSON)
	cmd.Flags().BoolVar(&f.yes, "yes", false, "do not ask; needs --hash")
	cmd.Flags().StringVar(&f.hash, "hash", "", "the `hash` of the files that were reviewed")
	return f
}

// agree shows an extension with what changed, and asks whether it may be used. --yes agrees only
// to the files of --hash.
func (f *reviewFlags) agree(ctx context.Context, e api.Extension, changes []api.ExtensionChange, question string) error {
	if f.yes && f.hash == "" {
		return usagef("--yes needs --hash, so that only what was reviewed is used: the hash now is %s", e.Hash)
	}
	if f.hash != "" && f.hash != e.Hash {
		return sayf(errRefused, "the extension %s has the hash %s and not the one of --hash: nothing was done", printable(e.Name), e.Hash)
	}
	if f.yes {
		return nil
	}
	text := describeExtension(e)
	for _, change := range changes {
		text += printable(fmt.Sprintf("%s %s: %s", change.Change, change.What, change.Name)) + "\n"
	}
	fmt.Fprint(f.con.stderr, text)
	return f.con.confirm(ctx, false, question)
}

func newExtensionAdd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "add SOURCE",
		Short: "Add an extension from a folder or a git repository",
		Long: `Add an extension from a folder of the host's machine or from a git repository (https://,
ssh://, file:// or user@host:path). It is copied, shown with everything that it contains and
every command that it would run, and used only after you agreed: in this project or, with
--user, in every project. In a script, --yes agrees to the files of --hash and to no others.
A paired machine needs the grant shell.`,
		Example: "  scorel extension add ./review --user\n  scorel extension add https://git.example/tools.git --folder plugins/review --ref v2",
		Args:    argCount(1, 1, "a folder or the address of a git repository"),
	}
	f := &scopeFlags{projectFlag: a.projectFlag(cmd)}
	cmd.Flags().BoolVar(&f.user, "user", false, "use it in every project")
	review := addReview(a.console, cmd)
	var ref, folder string
	cmd.Flags().StringVar(&ref, "ref", "", "branch, tag or commit (default: the default branch)")
	cmd.Flags().StringVar(&folder, "folder", "", "folder of the extension in the repository")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		source, err := absoluteSource(args[0], f.local())
		if err != nil {
			return err
		}
		request := api.FetchExtensionRequest{Source: source, Ref: ref, Folder: folder}
		return f.on(cmd.Context(), func(c *client.Client, projectID string) error {
			fetched, err := client.Call(cmd.Context(), c, api.FetchExtension, request)
			if err != nil {
				return err
			}
			if fetched.Replaces != "" {
				return usagef("there is an extension %s already: `scorel extension update %[1]s` updates it", fetched.Extension.Name)
			}
			return saveExtension(cmd.Context(), a.stdout, c, projectID, fetched, review, "added")
		})
	}
	return cmd
}

func newExtensionUpdate(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "update NAME",
		Short: "Fetch an extension again, and use it after a review",
		Long: `Fetch an extension again from where it came from. What changed is shown, with everything that
it contains and every command that it would run. The new version is used only after you
agreed; until then the one that was added stays in use. In a script, --yes agrees to the files
of --hash and to no others.`,
		Example: "  scorel extension update review\n  scorel extension update review --ref v3",
		Args:    argCount(1, 1, "the name of one extension"),
	}
	to := a.targetFlag(cmd)
	review := addReview(a.console, cmd)
	var ref string
	cmd.Flags().StringVar(&ref, "ref", "", "branch, tag or commit (default: as it was added)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return to.use(cmd.Context(), func(c *client.Client) error {
			fetched, err := client.Call(cmd.Context(), c, api.FetchExtension, api.FetchExtensionRequest{Name: args[0], Ref: ref})
			if err != nil {
				return err
			}
			if fetched.Replaces == fetched.Extension.Hash {
				return printExtension(a.stdout, review.asJSON, "unchanged", fetched.Extension)
			}
			return saveExtension(cmd.Context(), a.stdout, c, "", fetched, review, "updated")
		})
	}
	return cmd
}

func saveExtension(ctx context.Context, stdout io.Writer, c *client.Client, projectID string, fetched api.FetchExtensionResponse, review *reviewFlags, done string) error {
	if err := review.agree(ctx, fetched.Extension, fetched.Changes, "Use it? [y/N] "); err != nil {
		return err
	}
	request := api.SaveExtensionRequest{ProjectID: projectID, Hash: fetched.Extension.Hash, Replaces: fetched.Replaces}
	saved, err := client.Call(ctx, c, api.SaveExtension, request)
	if err != nil {
		return err
	}
	return printExtension(stdout, review.asJSON, done, saved.Extension)
}

// describeExtension is everything that an extension contains and would run.
func describeExtension(e api.Extension) string {
	var b strings.Builder
	line := func(format string, args ...any) { b.WriteString(printable(fmt.Sprintf(format, args...)) + "\n") }
	line("%s %s", e.Name, e.Version)
	if e.Description != "" {
		line("  %s", e.Description)
	}
	line("  from %s", whereFrom(e))
	line("  hash %s (%d files, %d bytes)", e.Hash, e.Contents.Files, e.Contents.Bytes)
	if e.State != "" {
		line("  %s", strings.TrimSuffix(fmt.Sprintf("%s: %s", e.State, e.Reason), ": "))
	}
	parts := func(title, before string, list []api.ExtensionPart) {
		for i, part := range list {
			if i == 0 {
				line("%s", title)
			}
			line("  %s%s: %s", before, part.Name, part.Description)
		}
	}
	parts("Skills", "", e.Contents.Skills)
	parts("Commands", "/", e.Contents.Commands)
	parts("Agents", "", e.Contents.Agents)
	b.WriteString(describeRuns(e.Contents))
	for i, problem := range e.Contents.Problems {
		if i == 0 {
			line("Problems")
		}
		line("  %s", problem)
	}
	return b.String()
}

// describeRuns is what an extension runs without being asked about each time.
func describeRuns(c api.ExtensionContents) string {
	var b strings.Builder
	line := func(format string, args ...any) { b.WriteString(printable(fmt.Sprintf(format, args...)) + "\n") }
	unusable := func(problem string) {
		if problem != "" {
			line("    not used: %s", problem)
		}
	}
	for i, h := range c.Hooks {
		if i == 0 {
			line("Hooks, which run at events without a question")
		}
		line("  %s", strings.TrimSuffix(fmt.Sprintf("%s of %s", h.Event, h.Matcher), " of "))
		for _, command := range strings.Split(h.Command, "\n") {
			line("    %s", command)
		}
		unusable(h.Problem)
	}
	for i, s := range c.Servers {
		if i == 0 {
			line("MCP servers, which start without a question")
		}
		line("  %s", s.Name)
		for _, shown := range strings.Split(s.Shown, "\n") {
			line("    %s", shown)
		}
		unusable(s.Problem)
	}
	return b.String()
}

func whereFrom(e api.Extension) string {
	from := e.Location
	if e.Folder != "" {
		from += ", folder " + e.Folder
	}
	if e.Ref != "" {
		from += ", " + e.Ref
	}
	if e.Commit != "" {
		from += ", commit " + e.Commit
	}
	return from
}
