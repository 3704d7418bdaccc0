package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

func newMemory(a *app) *cobra.Command {
	return group("memory", "Manage the notes that the agent keeps, and read its journal",
		"  scorel memory list\n  scorel memory show build-commands\n  scorel memory edit build-commands --text 'Build with make.'",
		newMemoryList(a), newMemoryShow(a), newMemoryEdit(a), newMemoryDelete(a), newMemoryJournal(a), newMemoryReview(a))
}

// memoryFlags select the notes of a project or, with --user, those for all projects.
type memoryFlags struct{ scopeFlags }

func (a *app) memoryFlags(cmd *cobra.Command) *memoryFlags {
	f := &memoryFlags{}
	f.add(a, cmd, "use the notes for all projects instead of the project's")
	return f
}

// note names a note of the scope that the flags select.
func (f *memoryFlags) note(projectID, name string) api.MemoryNoteRequest {
	if f.user {
		return api.MemoryNoteRequest{Scope: api.MemoryUser, Name: name}
	}
	return api.MemoryNoteRequest{Scope: api.MemoryProject, ProjectID: projectID, Name: name}
}

func newMemoryList(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "list", Short: "List the notes of a project and those for all projects",
		Long: `List the notes that sessions of a project have: its own, and those for all projects. With
--user, list only the latter. With --json, each line is one note.`,
		Example: "  scorel memory list\n  scorel memory list --user --json",
		Args:    argCount(0, 0, "no arguments"),
	}
	f := a.memoryFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		var response api.ListMemoryResponse
		err := f.on(cmd.Context(), func(c *client.Client, projectID string) (err error) {
			response, err = client.Call(cmd.Context(), c, api.ListMemory, api.ListMemoryRequest{ProjectID: projectID})
			return err
		})
		if err != nil {
			return err
		}
		return printList(a.stdout, f.asJSON, response.Notes, listing[api.MemoryNote]{
			none:   "there are no notes: the agent saves them with memory_save, or `scorel memory edit NAME` creates one",
			header: []string{"NAME", "FOR", "CHANGED", "TITLE"},
			row: func(_ int, n api.MemoryNote) []string {
				return []string{n.Name, string(n.Scope), formatMillis(n.ModifiedAt), clip(n.Title, 70)}
			},
		})
	}
	return cmd
}

func newMemoryShow(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "show NAME", Short: "Show a note",
		Long:    "Print the text of a note of the project or, with --user, of one for all projects.",
		Example: "  scorel memory show build-commands\n  scorel memory show taste --user --json",
		Args:    argCount(1, 1, "the name of one note"),
	}
	f := a.memoryFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return f.on(cmd.Context(), func(c *client.Client, projectID string) error {
			found, err := client.Call(cmd.Context(), c, api.GetMemoryNote, f.note(projectID, args[0]))
			if err != nil {
				return err
			}
			if f.asJSON {
				return printJSON(a.stdout, found)
			}
			_, err = io.WriteString(a.stdout, printableLines(found.Text))
			return err
		})
	}
	return cmd
}

func newMemoryEdit(a *app) *cobra.Command {
	var text, file, version string
	cmd := &cobra.Command{
		Use: "edit NAME", Short: "Change a note, or create one",
		Long: `Replace the text of a note of the project or, with --user, of one for all projects. A note
that does not exist is created. Without --text and --file, the note is opened in $VISUAL
or $EDITOR. If the note is changed at the same time, nothing is written. With --version, the
check starts at the version that an earlier ` + "`scorel memory show --json`" + ` printed.`,
		Example: "  scorel memory edit build-commands --text 'Build with make.'\n  scorel memory edit taste --user --file taste.md",
		Args:    argCount(1, 1, "the name of one note"),
	}
	f := a.memoryFlags(cmd)
	cmd.Flags().StringVar(&text, "text", "", "the new text, in Markdown")
	cmd.Flags().StringVar(&file, "file", "", "a `file` with the new text, - for standard input")
	cmd.Flags().StringVar(&version, "version", "", "the version that the note must still have")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		given := cmd.Flags().Changed
		if given("text") && given("file") {
			return usagef("--text and --file: give one of them")
		}
		return f.on(cmd.Context(), func(c *client.Client, projectID string) error {
			note := f.note(projectID, args[0])
			found, err := client.Call(cmd.Context(), c, api.GetMemoryNote, note)
			if refused := new(api.Error); err != nil && (!errors.As(err, &refused) || refused.Kind != api.KindNotFound) {
				return err
			}
			if given("version") {
				found.Note.Version = version
			}
			changed, scratch := text, ""
			switch {
			case given("file"):
				changed, err = textFile(cmd.Context(), a.stdin, "--file", file)
			case !given("text"):
				changed, scratch, err = edited(cmd.Context(), a.env, a.console, found)
			default:
				err = nil
			}
			if err != nil {
				return err
			}
			return saveNote(cmd.Context(), a.console, c, f, api.SaveMemoryNoteRequest{MemoryNoteRequest: note, Version: found.Note.Version, Text: changed}, scratch)
		})
	}
	return cmd
}

// saveNote saves a note and prints it. The text that was written in an editor is kept in
// the file scratch if it could not be saved.
func saveNote(ctx context.Context, con console, c *client.Client, f *memoryFlags, request api.SaveMemoryNoteRequest, scratch string) error {
	saved, err := client.Call(ctx, c, api.SaveMemoryNote, request)
	if err != nil {
		if scratch != "" {
			sayNotes(con.stderr, []string{"your text is kept in " + scratch})
		}
		return err
	}
	discardScratch(scratch)
	if f.asJSON {
		return printJSON(con.stdout, saved.Note)
	}
	_, err = fmt.Fprintf(con.stdout, "saved: %s (%s)\n", printable(saved.Note.Name), printable(saved.Note.Path))
	return err
}

func newMemoryDelete(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "delete NAME", Short: "Delete a note",
		Long:    "Delete a note of the project or, with --user, one for all projects.",
		Example: "  scorel memory delete build-commands\n  scorel memory delete taste --user",
		Args:    argCount(1, 1, "the name of one note"),
	}
	f := a.memoryFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return f.on(cmd.Context(), func(c *client.Client, projectID string) error {
			note := f.note(projectID, args[0])
			found, err := client.Call(cmd.Context(), c, api.GetMemoryNote, note)
			if err != nil {
				return err
			}
			if _, err := client.Call(cmd.Context(), c, api.DeleteMemoryNote, api.DeleteMemoryNoteRequest{MemoryNoteRequest: note, Version: found.Note.Version}); err != nil {
				return err
			}
			if f.asJSON {
				return printJSON(a.stdout, found.Note)
			}
			_, err = fmt.Fprintf(a.stdout, "deleted: %s (%s)\n", printable(found.Note.Name), printable(found.Note.Path))
			return err
		})
	}
	return cmd
}
