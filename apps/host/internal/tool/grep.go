package tool

import (
	"bufio"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"

	"github.com/scorel/scorel/apps/host/internal/agent"
)

//go:embed grep.md
var grepDoc string

// Bounds of grep.
const (
	maxMatches   = 500
	maxGrepChars = 500 // per line, in characters
	maxContext   = 10  // lines around a match
)

type grepTool struct{ *Set }

type grepArgs struct {
	Pattern    string `json:"pattern"`
	Path       string `json:"path,omitempty"`
	Glob       string `json:"glob,omitempty"`
	IgnoreCase bool   `json:"ignore_case,omitempty"`
	Context    int    `json:"context,omitempty"`
}

func (grepTool) Spec() agent.ToolSpec {
	return spec("grep", grepDoc, `{
		"pattern": {"type": "string", "description": "Regular expression (RE2), matched line by line."},
		"path": {"type": "string", "description": "File or folder to search; without it, the working folder."},
		"glob": {"type": "string", "description": "Only files that match, for example *.go."},
		"ignore_case": {"type": "boolean", "description": "Upper and lower case are the same."},
		"context": {"type": "integer", "minimum": 0, "maximum": 10, "description": "Lines to show before and after a match."}}`, "pattern")
}

func (grepTool) Risk() agent.Risk { return agent.RiskRead }

func (grepTool) Describe(call agent.Call) agent.Description { return describePath("Search", call) }

func (t grepTool) Run(ctx context.Context, call agent.Call, _ func(string)) agent.Result {
	var args grepArgs
	if err := decodeArgs(call.Arguments, &args); err != nil {
		return agent.Failure("grep: %v.", err)
	}
	search, err := newSearch(args, t.collects(maxMatches))
	if err != nil {
		return agent.Failure("grep: %v.", err)
	}
	folder, root, failure := t.searchRoot(call, "grep", args.Path)
	if failure != nil {
		return *failure
	}
	if folder == nil {
		t.near(call.Cwd, root)
		var file *os.File
		if file, err = t.private.openRegular(root); err != nil {
			return agent.Failure("grep: %s", t.pathError(call, args.Path, root, err))
		}
		err = search.file(ctx, file, args.Path)
	} else {
		defer folder.Close()
		t.nearFolder(call.Cwd, root)
		err = walk(ctx, folder, root, t.private, func(f found) error {
			if !f.entry.Type().IsRegular() || !search.include(f.rel, false) {
				return nil
			}
			file, err := fileIn(f.folder, f.entry.Name())
			if err != nil {
				return nil
			}
			return search.file(ctx, file, showPath(args.Path, f.rel))
		})
	}
	if errors.Is(err, errEnough) {
		err = nil
	}
	return t.searchResult(ctx, "grep", search.rows, maxMatches*(1+2*args.Context), search.matches >= search.limit, "Nothing matches.", err)
}

// search collects matching lines.
type search struct {
	pattern *regexp.Regexp
	include func(rel string, isDir bool) bool
	context int
	limit   int // maximum number of matches

	rows    []string
	matches int
}

func newSearch(args grepArgs, limit int) (*search, error) {
	expression := args.Pattern
	if args.IgnoreCase {
		expression = "(?i)" + expression
	}
	pattern, err := regexp.Compile(expression)
	switch {
	case args.Pattern == "":
		return nil, errors.New("the pattern is empty")
	case err != nil:
		return nil, fmt.Errorf("the pattern is not a valid RE2 regular expression (%w); put a backslash before literal special characters", err)
	case args.Context < 0 || args.Context > maxContext:
		return nil, fmt.Errorf("context must be 0 to %d", maxContext)
	}
	s := &search{pattern: pattern, include: func(string, bool) bool { return true }, context: args.Context, limit: limit}
	if args.Glob != "" {
		if s.include, err = matcher(args.Glob); err != nil {
			return nil, fmt.Errorf("glob: %w", err)
		}
	}
	return s, nil
}

// file searches one file and closes it. Binary files are skipped.
func (s *search) file(ctx context.Context, file *os.File, shown string) error {
	defer file.Close()
	reader := bufio.NewReaderSize(file, 64<<10)
	head, err := reader.Peek(sniffBytes)
	if looksBinary(head, err != nil) {
		return nil
	}
	before := make([]string, 0, s.context) // previous lines that a match may need as context
	after := 0                             // lines still needed as context after the last match
	for number := 1; ; number++ {
		if number%1000 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		line, _, err := readLine(reader, maxGrepChars)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return nil // what could be read was searched
		case s.pattern.MatchString(line):
			s.hit(shown, number, line, before)
			before, after = before[:0], s.context
			if s.matches >= s.limit {
				return errEnough
			}
		case after > 0:
			after--
			s.rows = append(s.rows, fmt.Sprintf("%s-%d-%s", shown, number, line))
		case s.context > 0:
			if len(before) == s.context {
				before = append(before[:0], before[1:]...)
			}
			before = append(before, line)
		}
	}
}

func (s *search) hit(shown string, number int, line string, before []string) {
	if s.context > 0 && len(s.rows) > 0 && len(before) > 0 {
		s.rows = append(s.rows, "--")
	}
	for i, text := range before {
		s.rows = append(s.rows, fmt.Sprintf("%s-%d-%s", shown, number-len(before)+i, text))
	}
	s.rows = append(s.rows, fmt.Sprintf("%s:%d:%s", shown, number, line))
	s.matches++
}
