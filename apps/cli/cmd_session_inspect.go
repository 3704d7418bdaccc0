package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/packages/protocol/session"
)

func newSessionInspect(a *app) *cobra.Command {
	var (
		asJSON bool
		leaf   string
	)
	cmd := &cobra.Command{
		Use:   "inspect FILE|ID",
		Short: "Inspect a session file, or the model context of a session",
		Long: `Show the contents of a scorel or Pi session file: its entries, tree, labels and name, and
the model context at a leaf. The file is only read. Lines that are not entries are reported
to standard error.

With a session id, show the context that the model would get with the next prompt: the
parts of the system prompt, tools and messages, with an estimate of their tokens. --json
prints all of it.`,
		Example: "  scorel session inspect ID\n  scorel session inspect session.jsonl\n  scorel session inspect session.jsonl --leaf 5ac1e2d0 --json",
		Args:    argCount(1, 1, "the path of one session file, or the id of one session"),
	}
	to := a.targetFlag(cmd)
	addJSON(cmd, &asJSON)
	cmd.Flags().StringVar(&leaf, "leaf", "", "with a file, the leaf: the entry with this id (default: the last one)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if cmd.Flags().Changed("leaf") && leaf == "" {
			return usagef("--leaf is empty: give the id of an entry, or leave it out")
		}
		if isSessionID(args[0]) {
			if leaf != "" {
				return usagef("--leaf needs a session file: write one with `scorel session export %s --output FILE`, and inspect that", args[0])
			}
			return inspectLive(cmd.Context(), to, args[0], asJSON)
		}
		f, err := readSessionFile(args[0])
		if err != nil {
			return err
		}
		noteDamage(a.stderr, f)
		if asJSON {
			return printInspection(a.console, f, leaf)
		}
		return printFile(a.console, f, leaf)
	}
	return cmd
}

// readSessionFile reads a session file of any version.
func readSessionFile(path string) (*session.File, error) {
	data, err := readRegular(path)
	var why *fs.PathError
	switch {
	case errors.Is(err, errNotRegular):
		return nil, sayf(err, "%s is not a regular file: give the path of a session file", path)
	case errors.Is(err, fs.ErrNotExist):
		return nil, sayf(err, "there is no file %s: give the path of a session file", path)
	case errors.As(err, &why):
		return nil, sayf(err, "%s cannot be read: %v", path, why.Err)
	case err != nil:
		return nil, sayf(err, "%s cannot be read: %v", path, err)
	}
	f, err := session.ReadFile(data)
	switch {
	case errors.Is(err, session.ErrEmpty):
		return session.EmptyFile(), nil
	case err != nil:
		return nil, sayf(err, "%s is not a session file: it does not begin with a session header", path)
	}
	return f, nil
}

var errNotRegular = errors.New("not a regular file")

// readRegular is os.ReadFile for regular files only: reading others may block or never end.
func readRegular(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errNotRegular
	}
	return os.ReadFile(path)
}

// noteDamage reports what the reader of the file skipped.
func noteDamage(w io.Writer, f *session.File) {
	switch n := len(f.Damage); {
	case n == 1:
		fmt.Fprintf(w, "note: line %d is not an entry: %s\n", f.Damage[0].Line, printable(f.Damage[0].What))
	case n > 1:
		fmt.Fprintf(w, "note: %d lines are not entries, the first is line %d: %s\n", n, f.Damage[0].Line, printable(f.Damage[0].What))
	}
}

func noteHole(w io.Writer, hole error) {
	if hole != nil {
		fmt.Fprintf(w, "note: the path to the leaf is incomplete: %s\n", printable(hole.Error()))
	}
}

func printInspection(con console, f *session.File, leaf string) error {
	in, err := f.Inspect(leaf)
	if err != nil {
		return unknownLeaf(err, leaf)
	}
	noteHole(con.stderr, in.Hole)
	out := &escaper{w: con.stdout}
	if err := in.Write(out); err != nil {
		return err
	}
	_, err = io.WriteString(out, "\n")
	return err
}

func unknownLeaf(err error, leaf string) error {
	return sayf(err, "the session has no entry %q: `scorel session inspect --json` prints its entryIds", leaf)
}

// printFile prints a short description of the file for people.
func printFile(con console, f *session.File, leaf string) error {
	context := f.Tree.LeafContext()
	if leaf == "" {
		leaf = f.Tree.Leaf()
	} else {
		var err error
		if context, err = f.Tree.Context(leaf); err != nil {
			return unknownLeaf(err, leaf)
		}
	}
	noteHole(con.stderr, context.Hole)
	model := "none"
	if context.Model != nil {
		model = context.Model.Provider + "/" + context.Model.ModelID
	}
	rows := [][]string{
		{"session", f.Header.ID}, {"name", f.Tree.Name()}, {"folder", f.Header.Cwd}, {"created", f.Header.Timestamp},
		{"entries", fmt.Sprint(len(f.Tree.Entries()))}, {"roots", fmt.Sprint(len(f.Tree.Forest().Roots))},
		{"labels", fmt.Sprint(len(f.Tree.Labels()))}, {"leaf", leaf},
		{"messages", fmt.Sprint(len(context.Messages))}, {"model", model}, {"thinking", context.ThinkingLevel},
	}
	return printTable(con.stdout, []string{"WHAT", "VALUE"}, rows)
}
