package protocol_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// repository is the root as the tests of this package see it.
const repository = "../.."

// sources joins the text of the test files whose names end so, and tells how many
// there are.
func sources(t *testing.T, endings ...string) (string, int) {
	t.Helper()
	var all strings.Builder
	n := 0
	err := filepath.WalkDir(repository, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains([]string{".git", "node_modules", "dist"}, entry.Name()):
			return fs.SkipDir
		case entry.IsDir() || !slices.ContainsFunc(endings, func(end string) bool { return strings.HasSuffix(path, end) }):
			return nil
		}
		text, err := os.ReadFile(path)
		all.Write(text)
		n++
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String(), n
}

// documents reads every Markdown file that a reader may open, by its path below
// the root.
func documents(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md"} {
		paths, err := filepath.Glob(filepath.Join(repository, filepath.FromSlash(pattern)))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			texts[path] = string(text)
		}
	}
	if len(texts) < 10 {
		t.Fatalf("only %d documents were found", len(texts))
	}
	return texts
}

// TestDocsNameRealTests: a claim that a test holds is worth as much as the test.
func TestDocsNameRealTests(t *testing.T) {
	goTests, n := sources(t, "_test.go")
	webTests, m := sources(t, ".test.ts", ".test.tsx", ".spec.ts")
	if n < 30 || m < 10 {
		t.Fatalf("only %d and %d test files were found", n, m)
	}
	named := regexp.MustCompile("`((?:Test|Fuzz)[A-Z]\\w+)`")
	quoted := regexp.MustCompile(`web: ("[^"]+"(?:, "[^"]+")*)`) // a name in quotes may hold commas
	for path, text := range documents(t) {
		if strings.HasSuffix(path, "-reference.md") {
			continue // generated: TestHookRequest is a type there
		}
		for _, match := range named.FindAllStringSubmatch(text, -1) {
			if !strings.Contains(goTests, "func "+match[1]+"(") {
				t.Errorf("%s names %s, which is no test", path, match[1])
			}
		}
		for _, match := range quoted.FindAllStringSubmatch(text, -1) {
			for name := range strings.SplitSeq(strings.Trim(match[1], `"`), `", "`) {
				if !strings.Contains(webTests, `"`+name+`"`) {
					t.Errorf("%s names the web test %s, which does not exist", path, name)
				}
			}
		}
	}
}

var notInSlug = regexp.MustCompile(`[^\p{L}\p{N} _-]`)

// anchors lists what a link may point to inside a document.
func anchors(text string) []string {
	var all []string
	for line := range strings.Lines(text) {
		if title := strings.TrimLeft(line, "#"); title != line {
			slug := notInSlug.ReplaceAllString(strings.ToLower(strings.TrimSpace(title)), "")
			all = append(all, strings.ReplaceAll(slug, " ", "-"))
		}
	}
	return all
}

func TestDocsLinksLead(t *testing.T) {
	links := regexp.MustCompile(`\]\(([^)]+)\)`)
	texts := documents(t)
	for path, text := range texts {
		for _, match := range links.FindAllStringSubmatch(text, -1) {
			target, anchor, _ := strings.Cut(match[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			to := path
			if target != "" {
				to = filepath.Join(filepath.Dir(path), filepath.FromSlash(target))
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s links to %s, which is not there", path, match[1])
			} else if anchor != "" && !slices.Contains(anchors(texts[to]), anchor) {
				t.Errorf("%s links to %s, which has no such heading", path, match[1])
			}
		}
	}
}
