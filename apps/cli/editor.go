package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/scorel/scorel/packages/protocol/api"
)

// edited opens a note in the user's editor and returns the text that was saved there, with
// the temporary file that holds it.
func edited(ctx context.Context, env *environment, con console, note api.MemoryNoteResponse) (text, path string, err error) {
	if note.Partial {
		return "", "", usagef("%s is too large or is not UTF-8 text: edit that file, or replace the text with --text or --file", note.Note.Path)
	}
	editor := strings.Fields(cmp.Or(env.getenv("VISUAL"), env.getenv("EDITOR")))
	if len(editor) == 0 {
		return "", "", usagef("there is no editor: set EDITOR, or give the text with --text or --file")
	}
	file, err := os.CreateTemp("", "scorel-note-*.md")
	if err != nil {
		return "", "", fmt.Errorf("creating a file for the editor: %w", err)
	}
	path = file.Name()
	_, err = file.WriteString(note.Text)
	if err := cmp.Or(err, file.Close()); err != nil {
		discardScratch(path)
		return "", "", fmt.Errorf("writing %s: %w", path, err)
	}
	command := exec.CommandContext(ctx, editor[0], append(editor[1:], path)...)
	command.Stdin, command.Stdout, command.Stderr = con.stdin, con.stderr, con.stderr
	if err := command.Run(); err != nil {
		return "", "", fmt.Errorf("the note is unchanged: %s failed, and its text is kept in %s: %w", editor[0], path, err)
	}
	text, err = textFile(ctx, con.stdin, "the editor", path)
	return text, path, err
}

// discardScratch removes the file of an editor, once its text is saved elsewhere.
func discardScratch(path string) {
	if path != "" {
		_ = os.Remove(path) // the system removes what is left
	}
}
