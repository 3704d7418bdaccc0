package tool

import (
	"context"
	_ "embed"
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/pathname"
)

//go:embed glob.md
var globDoc string

// Bounds of a search.
const (
	maxFound     = 1000   // paths that glob shows
	maxCollected = 20_000 // lines collected, even if not all are shown
)

// collects returns how many results a search collects if it shows limit of them.
func (s *Set) collects(limit int) int {
	if s.spill.dir == "" {
		return limit
	}
	return maxCollected
}

type globTool struct{ *Set }

type globArgs struct {
	Pattern string `json:"pattern"`
	Path    string `json:"path,omitempty"`
}

func (globTool) Spec() agent.ToolSpec {
	return spec("glob", globDoc, `{
		"pattern": {"type": "string", "description": "For example **/*.go, src/**/test_*.py or {a,b}.txt."},
		"path": {"type": "string", "description": "Folder to look in; without it, the working folder."}}`, "pattern")
}

func (globTool) Risk() agent.Risk { return agent.RiskRead }

func (globTool) Describe(call agent.Call) agent.Description {
	return describePath("Find files", call)
}

func (t globTool) Run(ctx context.Context, call agent.Call, _ func(string)) agent.Result {
	var args globArgs
	if err := decodeArgs(call.Arguments, &args); err != nil {
		return agent.Failure("glob: %v.", err)
	}
	match, err := matcher(args.Pattern)
	if err != nil {
		return agent.Failure("glob: %v.", err)
	}
	folder, root, failure := t.searchRoot(call, "glob", args.Path)
	if failure != nil {
		return *failure
	}
	defer folder.Close()
	t.nearFolder(call.Cwd, root)
	var rows []string
	err = walk(ctx, folder, root, t.private, func(f found) error {
		if !match(f.rel, f.entry.IsDir()) {
			return nil
		}
		if rows = append(rows, showPath(args.Path, f.rel)); f.entry.IsDir() {
			rows[len(rows)-1] += "/"
		}
		if len(rows) >= t.collects(maxFound) {
			return errEnough
		}
		return nil
	})
	return t.searchResult(ctx, "glob", rows, maxFound, len(rows) >= t.collects(maxFound), "No file or folder matches.", err)
}

// matcher compiles a pattern. Without a slash it matches names at any depth; with a slash
// it matches the path from where the search starts. A trailing slash matches only folders.
func matcher(pattern string) (func(rel string, isDir bool) bool, error) {
	pattern, dirOnly := strings.CutSuffix(pattern, "/")
	byName := !strings.Contains(pattern, "/")
	pattern = strings.TrimPrefix(pattern, "./")
	switch {
	case pattern == "":
		return nil, errors.New("the pattern is empty")
	case path.IsAbs(pattern) || filepath.IsAbs(pattern) || slices.Contains(strings.Split(pattern, "/"), ".."):
		return nil, errors.New("the pattern must be relative and without ..; name the folder to look in as path")
	case !doublestar.ValidatePattern(pattern):
		return nil, errors.New("the pattern is invalid: a bracket or brace is not closed")
	case pathname.ManyChoices(pattern):
		return nil, errors.New("the pattern has too many lists in braces; split the pattern")
	}
	return func(rel string, isDir bool) bool {
		if byName {
			rel = path.Base(rel)
		}
		return (isDir || !dirOnly) && doublestar.MatchUnvalidated(pattern, rel)
	}, nil
}

// searchRoot opens the folder that a search starts in; "" is the working folder. The walk
// does not follow links, but the given path may be one. folder is nil if grep is given a
// file; real is its path without links.
func (s *Set) searchRoot(call agent.Call, name, given string) (folder *os.Root, real string, failure *agent.Result) {
	if given == "" {
		given = "."
	}
	full, err := resolvePath(call, given, s.private)
	if err != nil {
		failed := agent.Failure("%s: %v.", name, err)
		return nil, "", &failed
	}
	folder, real, err = s.private.openFolder(full)
	switch {
	case errors.Is(err, errIsFile) && name == "glob":
		failed := agent.Failure("glob: %s is a file; name a folder as path.", given)
		return nil, "", &failed
	case errors.Is(err, errIsFile):
		return nil, resolved(full), nil
	case err != nil:
		failed := agent.Failure("%s: %s", name, s.pathError(call, given, full, err))
		return nil, "", &failed
	}
	return folder, real, nil
}

// showPath returns a path in a form that other tools accept.
func showPath(given, rel string) string {
	if given == "" {
		return filepath.FromSlash(rel)
	}
	return filepath.Join(given, filepath.FromSlash(rel))
}

// searchResult returns the result of a search.
func (s *Set) searchResult(ctx context.Context, name string, rows []string, limit int, more bool, none string, err error) agent.Result {
	text := s.firstRows(name, rows, limit, "lines", "narrow the pattern or the path")
	switch {
	case ctx.Err() != nil:
		return agent.Cancelled(0, text)
	case errors.Is(err, errTooMany):
		return agent.Success(text + "[The search stopped after 200000 files and folders; name a smaller folder as path.]")
	case err != nil:
		return agent.Failure("%s: %v.", name, err)
	case len(rows) == 0:
		return agent.Success(none + " Files that .gitignore excludes are not searched.")
	case more:
		return agent.Success(text + "[There are more; narrow the pattern or the path.]")
	}
	return agent.Success(text)
}
