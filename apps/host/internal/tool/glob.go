package tool

import (
	"context"
	_ "embed"
	"errors"
	"io/fs"
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
	maxCollected = 20_000 // lines that are kept where not all are shown
)

// collects returns how much a search that shows limit gathers.
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
	root, failure := searchRoot(call, "glob", args.Path, t.private)
	if failure != nil {
		return *failure
	}
	t.nearFolder(call.Cwd, root)
	var rows []string
	err = walk(ctx, root, t.private, func(rel string, entry fs.DirEntry) error {
		if !match(rel, entry.IsDir()) {
			return nil
		}
		if rows = append(rows, showPath(args.Path, rel)); entry.IsDir() {
			rows[len(rows)-1] += "/"
		}
		if len(rows) >= t.collects(maxFound) {
			return errEnough
		}
		return nil
	})
	return t.searchResult(ctx, "glob", rows, maxFound, len(rows) >= t.collects(maxFound), "No file or folder matches.", err)
}

// matcher compiles a pattern. One without a slash is matched against names, at
// any depth; one with a slash against the path from where the search begins.
// One with a slash at its end matches folders only.
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
		return nil, errors.New("the pattern is broken: a bracket or brace is not closed")
	case pathname.ManyChoices(pattern):
		return nil, errors.New("the pattern has too many lists in braces; name less at once")
	}
	return func(rel string, isDir bool) bool {
		if byName {
			rel = path.Base(rel)
		}
		return (isDir || !dirOnly) && doublestar.MatchUnvalidated(pattern, rel)
	}, nil
}

// searchRoot resolves the folder that a search begins in; "" is the working folder.
func searchRoot(call agent.Call, name, given string, private guard) (string, *agent.Result) {
	if given == "" {
		given = "."
	}
	full, err := resolvePath(call, given, private)
	if err != nil {
		failure := agent.Failure("%s: %v.", name, err)
		return "", &failure
	}
	if info, err := os.Stat(full); err != nil {
		failure := agent.Failure("%s: %s", name, pathError(call, given, full, err))
		return "", &failure
	} else if !info.IsDir() && name == "glob" {
		failure := agent.Failure("glob: %s is a file; name a folder as path.", given)
		return "", &failure
	}
	// The walk does not follow links, but the one that was named is meant.
	return resolved(full), nil
}

// showPath shows a path so that it can be given to the other tools.
func showPath(given, rel string) string {
	if given == "" {
		return filepath.FromSlash(rel)
	}
	return filepath.Join(given, filepath.FromSlash(rel))
}

// searchResult is how a search ends.
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
		return agent.Success(none + " Files that .gitignore names are not looked at.")
	case more:
		return agent.Success(text + "[There are more; narrow the pattern or the path.]")
	}
	return agent.Success(text)
}
