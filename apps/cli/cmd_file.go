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

func newFile(a *app) *cobra.Command {
	return group("file", "List, find and print the files of a project or a session",
		"  scorel file list\n  scorel file show relay/queue.go --session ID --device dev_...",
		newFileList(a), newFileFind(a), newFileShow(a))
}

func newFileList(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list [FOLDER]",
		Short: "List a folder",
		Long: `List a folder of a project, or of the folder that a session works in. Files that look like
secrets, and files that a rule protects, are listed as closed: their content is not sent.
With --json, each line is one entry.`,
		Example: "  scorel file list\n  scorel file list docs --session ID --json",
		Args:    argCount(0, 1, "the path of at most one folder"),
	}
	f := a.placeFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return f.on(cmd.Context(), func(c *client.Client, place api.Place) error {
			r, err := client.Call(cmd.Context(), c, api.ListFiles, api.ListFilesRequest{Place: place, Path: strings.Join(args, "")})
			if err != nil {
				return err
			}
			noteTruncated(a.stderr, r.Truncated)
			return printList(a.stdout, f.asJSON, r.Entries, listing[api.FileEntry]{
				none:   "the folder is empty",
				header: []string{"KIND", "BYTES", "NAME"},
				row: func(_ int, e api.FileEntry) []string {
					size := "-"
					if e.Kind == api.FileRegular {
						size = fmt.Sprint(e.Size)
					}
					if e.Closed {
						size = "closed"
					}
					return []string{string(e.Kind), size, e.Name}
				},
			})
		})
	}
	return cmd
}

// noteTruncated says that a list is not complete.
func noteTruncated(stderr io.Writer, truncated bool) {
	if truncated {
		sayNotes(stderr, []string{"the list is longer than what the host sends: not everything is listed"})
	}
}

func newFileFind(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "find TEXT",
		Short: "Find files by parts of their paths",
		Long: `Find files and folders whose path has the characters of TEXT in their order, the best match
first. Files that .gitignore excludes are left out. With --json, each line is one file.`,
		Example: "  scorel file find queue.go\n  scorel file find relay/q --session ID --json",
		Args:    argCount(1, 1, "one text"),
	}
	f := a.placeFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return f.on(cmd.Context(), func(c *client.Client, place api.Place) error {
			r, err := client.Call(cmd.Context(), c, api.FindFiles, api.FindFilesRequest{Place: place, Query: args[0]})
			if err != nil {
				return err
			}
			noteTruncated(a.stderr, r.Truncated)
			return printList(a.stdout, f.asJSON, r.Files, listing[api.FoundFile]{
				none:   "no file was found",
				header: []string{"KIND", "PATH"},
				row:    func(_ int, e api.FoundFile) []string { return []string{string(e.Kind), e.Path} },
			})
		})
	}
	return cmd
}

func newFileShow(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show PATH",
		Short: "Print a text file",
		Long: `Print a text file of a project, or of the folder that a session works in. Control characters
are shown as numbers. With --json, each line is a part of the file.`,
		Example: "  scorel file show README.md\n  scorel file show relay/queue.go --session ID --json",
		Args:    argCount(1, 1, "the path of one file"),
	}
	f := a.placeFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return f.on(cmd.Context(), func(c *client.Client, place api.Place) error {
			return showFile(cmd.Context(), a.stdout, c, api.ReadFileRequest{Place: place, Path: args[0]}, f.asJSON)
		})
	}
	return cmd
}

// showFile prints a file part by part.
func showFile(ctx context.Context, stdout io.Writer, c *client.Client, request api.ReadFileRequest, asJSON bool) error {
	for {
		part, err := client.Call(ctx, c, api.ReadFile, request)
		switch {
		case err != nil:
			return err
		case asJSON:
			err = printJSON(stdout, part)
		case part.Binary:
			return fmt.Errorf("%s is not a text file: it has %d bytes and cannot be shown", printable(request.Path), part.Size)
		default:
			_, err = io.WriteString(stdout, printableLines(part.Text))
		}
		if err != nil || part.Next <= request.From {
			return err
		}
		request.From = part.Next
	}
}
