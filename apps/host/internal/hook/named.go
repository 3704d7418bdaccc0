package hook

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Bounds of what a command names.
const (
	maxPinned  = 64 << 20 // bytes of a file; larger ones are not pinned
	maxNamed   = 16       // files of one command; it does not run with more
	maxListed  = 256      // folders that are listed for the patterns of one command
	maxCommand = 3        // nesting of commands in words
)

// tooMany says why a command does not run that names more files than can be pinned.
var tooMany = fmt.Sprintf("its command names more than %d files of the project, or patterns of too many folders: put them into a script", maxNamed)

// pinned is a file of a project that a command names.
type pinned struct {
	Path string `json:"path"`
	Sum  string `json:"sum"`
}

// hash identifies the hook with the content of the files that its command names, and reports
// whether these are all. If not, no consent has the hash.
func (s spec) hash(folder string) (hash string, all bool) {
	files, all := s.files(folder)
	return s.hashWith(files, all), all
}

// hashWith is hash for files that were found.
func (s spec) hashWith(files []pinned, all bool) string {
	label := "scorel hook with files v1"
	if !all {
		label = "scorel hook with too many files v1"
	}
	return digest(label, struct {
		Hook  definition `json:"hook"`
		Files []pinned   `json:"files"`
	}{s.definition, files})
}

// files finds the files of the folder that the command names, and reports whether these are
// all. It does not find everything that decides what a command does: a script can run others,
// and a command can put a name together when it runs.
func (s spec) files(folder string) (found []pinned, all bool) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, true
	}
	defer func() { _ = root.Close() }()
	all = true
	tried := map[string]bool{}
	pin := func(name string, program bool) {
		if name == "" || tried[name] || !all {
			return
		}
		sum, ok := sumOf(root, name, program)
		tried[name] = ok || !program
		switch {
		case !ok:
		case len(found) == maxNamed:
			all = false
		default:
			found = append(found, pinned{name, sum})
		}
	}
	for _, name := range pieces(s.Command) { // also what the command writes to, and what is no command
		pin(within(name, folder), true)
	}
	names, patterns := named(s.Command, folder, maxCommand)
	for _, name := range names {
		pin(within(name, folder), false)
	}
	files := &listing{FS: root.FS(), left: maxListed}
	for _, pattern := range patterns {
		matches, err := fs.Glob(files, within(pattern, quoted(folder)))
		if err != nil {
			continue // not a pattern: bash takes it for a name
		}
		for _, match := range matches {
			pin(match, true) // other files that match are what the command works on
		}
	}
	return found, all && files.left >= 0
}

// listing is a file system that lists a limited number of folders.
type listing struct {
	fs.FS
	left int
}

// ReadDir implements fs.ReadDirFS.
func (l *listing) ReadDir(name string) ([]fs.DirEntry, error) {
	if l.left--; l.left < 0 {
		return nil, fs.ErrInvalid
	}
	return fs.ReadDir(l.FS, name)
}

// within returns a path relative to the folder, with the variables that name the folder.
func within(word, folder string) string {
	if word == "" {
		return ""
	}
	for _, variable := range []string{"CLAUDE_PROJECT_DIR", "SCOREL_PROJECT_DIR", "PWD"} {
		word = strings.TrimPrefix(strings.TrimPrefix(word, "$"+variable+"/"), "${"+variable+"}/")
	}
	return path.Clean(strings.TrimPrefix(word, folder+"/"))
}

// named returns the words of a command that can be names of files which it reads, and those
// that can be patterns of them. depth bounds how deep commands in words are read.
func named(command, folder string, depth int) (names, patterns []string) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command), "")
	if err != nil || depth == 0 {
		return pieces(command), nil
	}
	written := map[*syntax.Word]bool{}
	syntax.Walk(file, func(node syntax.Node) bool {
		if to, ok := node.(*syntax.Redirect); ok {
			written[to.Word] = to.Op != syntax.RdrIn && to.Op != syntax.RdrInOut && to.Op != syntax.WordHdoc
		}
		word, ok := node.(*syntax.Word)
		if !ok || written[word] {
			return true
		}
		e := expansion{folder: folder}
		if !e.add(word.Parts, false) {
			return true
		}
		name := e.name.String()
		names = append(append(names, name), pieces(name)...)
		if e.pattern {
			patterns = append(patterns, e.quoted.String())
		}
		if name != command && strings.ContainsAny(name, " \t\n") {
			moreNames, morePatterns := named(name, folder, depth-1)
			names, patterns = append(names, moreNames...), append(patterns, morePatterns...)
		}
		return true
	})
	return names, patterns
}

// pieces splits a text where a name can begin and end.
func pieces(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\n;|&<>()='\"", r) })
}

// expansion is a word as bash expands it before it looks for files.
type expansion struct {
	folder  string
	name    strings.Builder
	quoted  strings.Builder // the same, with characters quoted that are no pattern
	pattern bool
}

// add adds parts of a word, and reports whether their text is known before the command runs.
func (e *expansion) add(parts []syntax.WordPart, quotes bool) bool {
	for _, part := range parts {
		switch part := part.(type) {
		case *syntax.Lit:
			e.literal(part.Value, quotes)
		case *syntax.SglQuoted:
			if part.Dollar && strings.Contains(part.Value, "\\") {
				return false
			}
			e.text(part.Value)
		case *syntax.DblQuoted:
			if !e.add(part.Parts, true) {
				return false
			}
		case *syntax.ParamExp:
			simple := part.Short || part.Exp == nil && part.Repl == nil && part.Slice == nil && part.Index == nil && !part.Length && !part.Excl && !part.Width
			if !simple || !slices.Contains([]string{"PWD", "CLAUDE_PROJECT_DIR", "SCOREL_PROJECT_DIR"}, part.Param.Value) {
				return false
			}
			e.text(e.folder)
		default:
			return false
		}
	}
	return true
}

// literal adds text in which a backslash quotes the next character.
func (e *expansion) literal(value string, quotes bool) {
	escaped, opened := false, false
	for _, r := range value {
		negates := opened && (r == '!' || r == '^')
		opened = r == '[' && !escaped
		switch {
		case escaped:
			escaped = false
			if quotes && !strings.ContainsRune("$`\"\\\n", r) {
				e.text("\\")
			}
			if r != '\n' {
				e.text(string(r))
			}
		case r == '\\':
			escaped = true
		case !quotes && strings.ContainsRune("*?[]", r):
			e.pattern = true
			e.name.WriteRune(r)
			e.quoted.WriteRune(r)
		case !quotes && negates: // [!a] is [^a] of the package path
			e.name.WriteRune(r)
			e.quoted.WriteRune('^')
		default:
			e.text(string(r))
		}
	}
}

// text adds text that is no pattern.
func (e *expansion) text(text string) {
	e.name.WriteString(text)
	e.quoted.WriteString(quoted(text))
}

// quoted quotes the characters with which the package path matches others.
func quoted(text string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "]", `\]`).Replace(text)
}

// scripts are the extensions of files that interpreters run.
func scripts() []string {
	return []string{
		".sh", ".bash", ".zsh", ".py", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".rb", ".pl", ".php", ".lua", ".jq", ".awk", ".sed",
	}
}

// sumOf returns the hash of a regular file, which has to look like a program if program is set.
func sumOf(root *os.Root, name string, program bool) (string, bool) {
	info, err := root.Stat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxPinned {
		return "", false
	}
	file, err := root.Open(name)
	if err != nil {
		return "", false
	}
	defer func() { _ = file.Close() }()
	start := make([]byte, 2)
	read, err := io.ReadFull(file, start)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return "", false
	}
	start = start[:read]
	if program && info.Mode()&0o111 == 0 && string(start) != "#!" && !slices.Contains(scripts(), path.Ext(name)) {
		return "", false
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, io.MultiReader(bytes.NewReader(start), io.LimitReader(file, maxPinned))); err != nil {
		return "", false
	}
	return hex.EncodeToString(sum.Sum(nil)), true
}
