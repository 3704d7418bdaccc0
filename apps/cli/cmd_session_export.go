package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/apps/cli/internal/export"
	"github.com/scorel/scorel/apps/cli/internal/terminal"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

func newSessionExport(a *app) *cobra.Command {
	var format, output, leaf string
	var children bool
	cmd := &cobra.Command{
		Use:   "export ID|FILE",
		Short: "Export a session as JSONL, Markdown or HTML",
		Long: `Export a session as JSONL (the whole tree, readable by Pi), or the conversation up to a leaf
as Markdown or as one HTML page without scripts or external resources. Name the session
by its id, which needs the host, or by its file. With --children, the session and its
subagent sessions are written as JSONL files into a new folder, which "scorel session
import" reads.`,
		Example: "  scorel session export ID --format md\n  scorel session export ID --children --output saved\n  scorel session export session.jsonl --format html --output session.html",
		Args:    argCount(1, 1, "the id or the file of one session"),
	}
	to := a.targetFlag(cmd)
	cmd.Flags().StringVar(&format, "format", "jsonl", "jsonl, md or html")
	cmd.Flags().StringVarP(&output, "output", "o", "", "write to this new file instead of standard output")
	cmd.Flags().BoolVar(&children, "children", false, "include its subagent sessions; --output is a new folder")
	cmd.Flags().StringVar(&leaf, "leaf", "", "with md or html: up to the entry with this id (default: the last one)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !slices.Contains([]string{"jsonl", "md", "html"}, format) {
			return usagef("--format %q is not supported: give jsonl, md or html", format)
		}
		if leaf != "" && format == "jsonl" {
			return usagef("--leaf and --format jsonl contradict each other: JSONL holds every branch")
		}
		if children && (format != "jsonl" || output == "") {
			return usagef("--children writes JSONL to a folder: give --output FOLDER, and no other format")
		}
		if children {
			return exportFolder(cmd.Context(), to, args[0], output)
		}
		f, err := sessionNamed(cmd.Context(), to, args[0])
		if err != nil {
			return err
		}
		noteDamage(a.stderr, f)
		text, err := rendered(a.stderr, f, format, leaf)
		if err != nil {
			return err
		}
		return writeOut(a.stdout, output, text)
	}
	return cmd
}

// sessionNamed reads the file with that name. If there is none, and the name is not a path,
// it requests the session with that id from a host.
func sessionNamed(ctx context.Context, to *target, name string) (*session.File, error) {
	if _, err := os.Stat(name); err == nil && to.local() {
		return readSessionFile(name)
	}
	if strings.ContainsAny(name, `/\`) || strings.HasSuffix(name, ".jsonl") {
		return readSessionFile(name)
	}
	c, err := to.connect(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Close() }() // everything was received
	response, err := loadSession(ctx, c, name)
	if err != nil {
		return nil, err
	}
	list, err := client.Call(ctx, c, api.ListProjects, api.Empty{})
	if err != nil {
		return nil, err
	}
	return fileOf(response, list.Projects)
}

// fileOf builds a session file from a host's response.
func fileOf(response api.ResyncEventsResponse, projects []api.Project) (*session.File, error) {
	s := response.Session
	header := session.Header{
		Version: session.Version, ID: s.ID, Timestamp: session.FormatTime(time.UnixMilli(s.CreatedAt)), ProjectID: s.ProjectID,
		ChildOf: s.ParentSessionID, ParentSession: s.ParentSessionID,
	}
	for _, p := range projects {
		if p.ID == s.ProjectID {
			header.Cwd = p.Path
		}
	}
	data, err := session.EncodeHeader(header)
	if err != nil {
		return nil, err
	}
	for _, e := range response.Entries {
		data = append(append(data, '\n'), e.Raw...)
	}
	return session.ReadFile(append(data, '\n'))
}

func rendered(stderr io.Writer, f *session.File, format, leaf string) ([]byte, error) {
	if format == "jsonl" {
		if f.HeaderLine == nil {
			return nil, sayf(session.ErrEmpty, "the file is empty: there is nothing to export")
		}
		return f.Bytes(), nil
	}
	if leaf == "" {
		leaf = f.Tree.Leaf()
	}
	doc, err := export.Of(f.Header, f.Tree, leaf)
	if errors.Is(err, session.ErrNoEntry) {
		return nil, unknownLeaf(err, leaf)
	}
	noteHole(stderr, err)
	var b bytes.Buffer
	if format == "html" {
		err = export.HTML(&b, doc)
	} else {
		err = export.Markdown(&b, doc)
	}
	return b.Bytes(), err
}

// writeOut writes to a new file, or to standard output. It overwrites nothing.
func writeOut(stdout io.Writer, path string, text []byte) error {
	if path == "" {
		if terminal.IsTerminal(stdout) { // a file gets the text unchanged
			text = []byte(escaped(string(text)))
		}
		_, err := stdout.Write(text)
		return err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return sayf(err, "%s exists: give the name of a new file", path)
	}
	if err != nil {
		return sayf(err, "%s cannot be written (%v): give a path in an existing folder that you can write to", path, reason(err))
	}
	_, err = file.Write(text)
	if err := errors.Join(err, file.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}
