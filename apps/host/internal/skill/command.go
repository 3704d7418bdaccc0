package skill

import (
	"errors"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/definition"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Commands is the kind of definitions that only people call: Markdown files, which need no
// description.
const Commands = "commands"

// IsCommand reports whether the path of a skill is that of a command.
func IsCommand(path string) bool { return filepath.Base(path) != FileName }

// ReadCommand reads the file of a command.
func ReadCommand(path string) (definition.Document, error) { return definition.ReadCommand(path) }

// command reads a command, or all below a folder.
func (f *finder) command(path, scope string) {
	err := filepath.WalkDir(path, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if f.folders++; f.folders > maxFolders {
			return errors.New("it has too many files")
		}
		if !e.Type().IsRegular() || !strings.EqualFold(filepath.Ext(name), ".md") {
			return nil
		}
		f.Take(name, scope, ReadCommand, func(d definition.Document) bool {
			f.named[d.Name] = session.SkillInfo{Name: d.Name, Description: d.Description, Path: name, Scope: scope, Manual: true}
			return true
		})
		return nil
	})
	if err != nil {
		f.Note("%s cannot be read completely: %v", path, err)
	}
}

var argument = regexp.MustCompile(`\$(ARGUMENTS|[1-9])\b`)

// WithArguments returns the text of a command with the words behind its name: $ARGUMENTS is all
// of them, and $1 to $9 one each. Without any of these they are added at the end.
func WithArguments(body, args string) string {
	args = strings.TrimSpace(args)
	words := strings.Fields(args)
	if !argument.MatchString(body) {
		return strings.TrimSuffix(body+"\n\n"+args, "\n\n")
	}
	return argument.ReplaceAllStringFunc(body, func(found string) string {
		n, err := strconv.Atoi(found[1:])
		switch {
		case err != nil:
			return args
		case n > len(words):
			return ""
		}
		return words[n-1]
	})
}
