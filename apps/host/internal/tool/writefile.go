package tool

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/scorel/scorel/apps/host/internal/agent"
)

//go:embed writefile.md
var writeFileDoc string

// maxWrite bounds one write, in bytes.
const maxWrite = 10 << 20

type writeFile struct{ *Set }

type writeFileArgs struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

func (writeFile) Spec() agent.ToolSpec {
	return spec("write_file", writeFileDoc, `{
		"path": {"type": "string", "description": "File to write, absolute or relative to the working folder."},
		"content": {"type": "string", "description": "The whole new content of the file."}}`, "path", "content")
}

func (writeFile) Risk() agent.Risk { return agent.RiskWrite }

func (writeFile) Describe(call agent.Call) agent.Description {
	var args writeFileArgs
	if err := decodeArgs(call.Arguments, &args); err != nil {
		return agent.Description{Title: "Write a file (the arguments are wrong)", Detail: string(call.Arguments)}
	}
	full := args.Path
	if !filepath.IsAbs(full) {
		full = filepath.Join(call.Cwd, full)
	}
	action := "Create"
	if _, err := os.Lstat(full); err == nil {
		action = "Overwrite"
	}
	return agent.Description{
		Title:  fmt.Sprintf("%s %s (%d bytes)%s", action, args.Path, len(args.Content), outside(call.Cwd, full)),
		Detail: args.Content,
	}
}

// outside returns a warning for a path outside the working folder.
func outside(cwd, full string) string {
	rel, err := filepath.Rel(resolved(cwd), resolved(full))
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return ", outside the project folder: " + resolved(full)
	}
	return ""
}

// Run writes the whole file or nothing; a cancellation does not stop it halfway.
func (t writeFile) Run(ctx context.Context, call agent.Call, _ func(string)) agent.Result {
	var args writeFileArgs
	if err := decodeArgs(call.Arguments, &args); err != nil {
		return agent.Failure("write_file: %v.", err)
	}
	if err := refuseContent(args.Content); err != nil {
		return agent.Failure("write_file: %v.", err)
	}
	full, err := resolvePath(call, args.Path, t.private.forWriting())
	if err != nil {
		return agent.Failure("write_file: %v.", err)
	}
	key := resolved(full)
	unlock, err := t.locks.lock(ctx, key)
	if err != nil {
		return agent.Failure("%s", agent.TextNotStarted)
	}
	defer unlock()
	existed, err := refuseTarget(full)
	if err != nil {
		return agent.Failure("write_file: %s", t.pathError(call, args.Path, full, err))
	}
	if existed {
		if err := t.mayReplace(key); err != nil {
			return agent.Failure("write_file: %s %v.", args.Path, err)
		}
	}
	if err := t.private.forWriting().makeFolders(filepath.Dir(key)); err != nil {
		return agent.Failure("write_file: the folder of %s could not be created: %v.", args.Path, err)
	}
	if err := t.private.forWriting().put(key, args.Content, 0o644); err != nil {
		return agent.Failure("write_file: %s", t.pathError(call, args.Path, full, err))
	}
	t.seen.note(key, sha256.Sum256([]byte(args.Content)))
	t.wrote(call.Cwd, full)
	verb := "Created"
	if existed {
		verb = "Overwrote"
	}
	result := agent.Success(fmt.Sprintf("%s %s: %d lines, %d bytes.", verb, args.Path, countLines(args.Content), len(args.Content)))
	result.Details = details(map[string]any{"path": full, "bytes": len(args.Content), "created": !existed})
	return result
}

// mayReplace permits overwriting a file that is unchanged since the session last read it,
// or empty.
func (t writeFile) mayReplace(key string) error {
	print, err := t.private.forWriting().fingerprintOf(key)
	if err != nil {
		return err
	}
	known, read := t.seen.get(key)
	switch {
	case read && known == print, t.options.ByHand && !read, print == sha256.Sum256(nil):
		return nil
	case read:
		return errors.New("changed on disk since you read it; read it again so that nothing is lost, or change it with patch")
	}
	return errors.New("exists and you have not read it; read it first, or change it with patch")
}

// fingerprintOf returns the hash of a file.
func (g guard) fingerprintOf(path string) (print fingerprint, err error) {
	file, err := g.openRegular(path)
	if err != nil {
		return print, err
	}
	defer file.Close()
	hash := sha256.New()
	if n, err := io.Copy(hash, io.LimitReader(file, maxKnown+1)); err != nil {
		return print, err
	} else if n > maxKnown {
		return print, fmt.Errorf("is larger than %d bytes; replace it with bash if you intend to", maxKnown)
	}
	return fingerprint(hash.Sum(nil)), nil
}

func refuseContent(content string) error {
	switch {
	case len(content) > maxWrite:
		return fmt.Errorf("the content has %d bytes, the limit is %d; write it in parts with bash", len(content), maxWrite)
	case !utf8.ValidString(content):
		return errors.New("the content is not UTF-8 text")
	case looksNumbered(content):
		return errors.New("every line begins with a number and a bar, as in the output of read_file; they are not part of the file: send the content without them")
	}
	return nil
}

// looksNumbered reports whether text is output of read_file, with consecutive line numbers.
func looksNumbered(content string) bool {
	lines := strings.Split(strings.TrimSuffix(content, "\n"), "\n")
	if len(lines) < 2 {
		return false
	}
	first := -1
	for i, line := range lines {
		number, _, found := strings.Cut(line, "|")
		n, err := strconv.Atoi(number)
		if !found || err != nil {
			return false
		}
		if i == 0 {
			first = n
		}
		if n != first+i {
			return false
		}
	}
	return true
}

// refuseTarget accepts only new and regular files.
func refuseTarget(full string) (existed bool, err error) {
	info, err := os.Stat(full)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case info.IsDir():
		return true, errors.New("it is a folder")
	case !info.Mode().IsRegular():
		return true, errNotRegular
	}
	return true, nil
}

func countLines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}
