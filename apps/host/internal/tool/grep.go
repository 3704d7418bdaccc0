package tool

import (
	"bufio"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/scorel/scorel/apps/host/internal/agent"
)

//go:embed grep.md
var grepDoc string

// Bounds of grep.
const (
	maxMatches   = 500
	maxGrepChars = 500 // of one line, in characters
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
	search, err := newSearch(args, t.collects(maxMatches), t.private)
	if err != nil {
		return agent.Failure("grep: %v.", err)
	}
	root, failure := searchRoot(call, "grep", args.Path, t.private)
	if failure != nil {
		return *failure
	}
	if info, statErr := os.Stat(root); statErr == nil && !info.IsDir() {
		t.near(call.Cwd, root)
		err = search.file(ctx, root, args.Path)
	} else {
		t.nearFolder(call.Cwd, root)
		err = walk(ctx, root, t.private, func(rel string, entry fs.DirEntry) error {
			if !entry.Type().IsRegular() || !search.include(rel, false) {
				return nil
			}
			return search.file(ctx, filepath.Join(root, filepath.FromSlash(rel)), showPath(args.Path, rel))
		})
	}
	if errors.Is(err, errEnough) {
		err = nil
	}
	return t.searchResult(ctx, "grep", search.rows, maxMatches*(1+2*args.Context), search.matches >= search.limit, "Nothing matches.", err)
}

// search collects the lines that match.
type search struct {
	pattern *regexp.Regexp
	include func(rel string, isDir bool) bool
	context int
	limit   int // matches
	private guard

	rows    []string
	matches int
}

func newSearch(args grepArgs, limit int, private guard) (*search, error) {
	expression := args.Pattern
	if args.IgnoreCase {
		expression = "(?i)" + expression
	}
	pattern, err := regexp.Compile(expression)
	switch {
	case args.Pattern == "":
		return nil, errors.New("the pattern is empty")
	case err != nil:
		return nil, fmt.Errorf("the pattern is no RE2 regular expression (%w); put a backslash before characters that are meant as they are", err)
	case args.Context < 0 || args.Context > maxContext:
		return nil, fmt.Errorf("context must be 0 to %d", maxContext)
	}
	s := &search{pattern: pattern, include: func(string, bool) bool { return true }, context: args.Context, limit: limit, private: private}
	if args.Glob != "" {
		if s.include, err = matcher(args.Glob); err != nil {
			return nil, fmt.Errorf("glob: %w", err)
		}
	}
	return s, nil
}

// file searches one file. One that is binary or cannot be read is passed over.
func (s *search) file(ctx context.Context, full, shown string) error {
	file, err := s.private.openRegular(full)
	if err != nil {
		return nil
	}
	defer file.Close()
	reader := bufio.NewReaderSize(file, 64<<10)
	head, err := reader.Peek(sniffBytes)
	if looksBinary(head, err != nil) {
		return nil
	}
	before := make([]string, 0, s.context) // lines that a match may need
	after := 0                             // lines that the last match still wants
	for number := 1; ; number++ {
		if number%1000 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		line, _, err := readLine(reader, maxGrepChars)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return nil // what could be read has been searched
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
