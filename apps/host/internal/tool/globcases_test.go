package tool

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// globCase is a row of the tables of doublestar and globset.
type globCase struct {
	Name, Pattern, Path string
	Match               bool
	Options, Error      *string
}

func loadGlobCases(t *testing.T, file string, least int) []globCase {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var table struct{ Cases []globCase }
	if err := json.Unmarshal(data, &table); err != nil || len(table.Cases) < least {
		t.Fatalf("%s: %d cases, %v", file, len(table.Cases), err)
	}
	return table.Cases
}

// globDifference explains why our patterns differ from those of a table.
func globDifference(c globCase) string {
	switch {
	case c.Pattern == "":
		return "an empty pattern is refused"
	case strings.HasPrefix(c.Pattern, "/"):
		return "a pattern is relative"
	case strings.HasSuffix(c.Pattern, "/"):
		return "a slash at the end asks for a folder, and paths have none there"
	case !strings.Contains(c.Pattern, "/") && strings.Contains(c.Path, "/"):
		return "a pattern without a slash is matched against names"
	case strings.Contains(c.Path, `\`):
		return "paths have slashes"
	case c.Path == "" || strings.HasPrefix(c.Path, "/") || strings.HasSuffix(c.Path, "/") || strings.Contains(c.Path, "//"):
		return "there is no such path in a folder"
	}
	return ""
}

func TestGlobAgreesWithDoublestar(t *testing.T) {
	compared := 0
	for _, c := range loadGlobCases(t, "testdata/glob_match_cases.json", 160) {
		match, err := matcher(c.Pattern)
		if c.Error != nil && err == nil {
			t.Errorf("%q is broken and was taken", c.Pattern)
		}
		if c.Error != nil || globDifference(c) != "" {
			continue
		}
		compared++
		if err != nil || match(c.Path, false) != c.Match {
			t.Errorf("%q matches %q: want %v, error %v", c.Pattern, c.Path, c.Match, err)
		}
	}
	if compared < 120 {
		t.Errorf("only %d rows were compared", compared)
	}
}

// globsetDifferences are rows of globset with a different meaning here.
var globsetDifferences = map[string]string{
	"matchrec34":      "x/** holds x itself, as in doublestar",
	"matchrec33":      "x/** holds x itself, as in doublestar",
	"matchescape":     "a bracket is meant as it is with a backslash before it",
	"matchalt7":       "a bracket is meant as it is with a backslash before it",
	"matchalt15":      "an empty alternative is one",
	"matchpat7":       "a pattern with a slash begins where the search begins, and * stays within a folder",
	"matchnot21":      "./ at the beginning says nothing",
	"matchcasei2":     "upper and lower case differ",
	"matchcasei3":     "upper and lower case differ",
	"matchcasei4":     "upper and lower case differ",
	"matchbackslash4": "a backslash takes the next character as it is",
	"matchbackslash5": "a backslash takes the next character as it is",
	"matchbackslash6": "a backslash takes the next character as it is",
}

func TestGlobAgreesWithGlobset(t *testing.T) {
	compared := 0
	for _, c := range loadGlobCases(t, "testdata/globset_match_cases.json", 120) {
		if _, different := globsetDifferences[c.Name]; different || globDifference(c) != "" {
			continue
		}
		compared++
		match, err := matcher(c.Pattern)
		if err != nil || match(c.Path, false) != c.Match {
			t.Errorf("%s: %q matches %q: want %v, error %v", c.Name, c.Pattern, c.Path, c.Match, err)
		}
	}
	if compared < 80 {
		t.Errorf("only %d rows were compared", compared)
	}
}
