package cli

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

func readDocument(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestTheReadmeNamesEveryCommand(t *testing.T) {
	readme := readDocument(t, "README.md")
	for _, cmd := range newRoot(quietApp()).Commands() {
		if named := "`scorel " + cmd.Name(); cmd.Name() != "help" && !strings.Contains(readme, named) {
			t.Errorf("README.md does not name %s`", named)
		}
	}
}

// TestTheChineseReadmeIsCurrent: README.zh-CN.md ends with the hash of the English text that it
// translates, which is the one before the list of commands.
func TestTheChineseReadmeIsCurrent(t *testing.T) {
	english, _, found := strings.Cut(readDocument(t, "README.md"), "\n## Commands\n")
	if !found {
		t.Fatal("README.md has no section Commands")
	}
	want := fmt.Sprintf("\n<!-- README.md: %x -->\n", sha256.Sum256([]byte(english)))
	if chinese := readDocument(t, "README.zh-CN.md"); !strings.HasSuffix(chinese, want) {
		t.Errorf("README.md has changed: translate the change in README.zh-CN.md, and end that file with%s", want)
	}
}

// TestTheChineseQuickstartFollowsTheDocument: the same for docs/quickstart.zh-CN.md, which translates
// the whole page.
func TestTheChineseQuickstartFollowsTheDocument(t *testing.T) {
	want := fmt.Sprintf("\n<!-- quickstart.md: %x -->\n", sha256.Sum256([]byte(readDocument(t, "docs/quickstart.md"))))
	if chinese := readDocument(t, "docs/quickstart.zh-CN.md"); !strings.HasSuffix(chinese, want) {
		t.Errorf("docs/quickstart.md has changed: translate the change in docs/quickstart.zh-CN.md, and end that file with%s", want)
	}
}

var homeFile = regexp.MustCompile(`filepath\.Join\(p\.Home, "([^"]+)"`)

// TestOperationsNameEveryFileOfTheHome: the table of files in the home is complete.
func TestOperationsNameEveryFileOfTheHome(t *testing.T) {
	_, table, ok := strings.Cut(readDocument(t, "docs/operations.md"), "\n### Files in SCOREL_HOME\n")
	if !ok {
		t.Fatal("docs/operations.md has no table of files")
	}
	table, _, _ = strings.Cut(table, "\n## ")
	found := homeFile.FindAllStringSubmatch(readDocument(t, "apps/host/internal/state/paths.go"), -1)
	if len(found) < 10 {
		t.Fatalf("only %d files were found", len(found))
	}
	for _, name := range found {
		if !strings.Contains(table, "`"+name[1]) {
			t.Errorf("docs/operations.md does not say what %s in SCOREL_HOME is", name[1])
		}
	}
}

func TestTheArchitectureNamesEveryPackage(t *testing.T) {
	_, table, ok := strings.Cut(readDocument(t, "docs/architecture.md"), "\n## Packages\n")
	if !ok {
		t.Fatal("docs/architecture.md has no table of packages")
	}
	table, _, _ = strings.Cut(table, "\n## ")
	for _, pattern := range []string{"apps/*", "packages/*", "apps/host/internal/*"} {
		folders, err := filepath.Glob(filepath.Join("../..", pattern))
		if err != nil || len(folders) < 5 {
			t.Fatalf("%s: %d folders, %v", pattern, len(folders), err)
		}
		for _, folder := range folders {
			if name := filepath.Base(folder); filepath.Ext(name) == "" && !strings.Contains(table, "/"+name+"`") && !strings.Contains(table, "`"+name+"`") {
				t.Errorf("docs/architecture.md does not name the package %s", folder)
			}
		}
	}
}

var sourceName = regexp.MustCompile("`([\\w./-]+\\.(?:go|ts|tsx))`")

// TestSourcesThatTheDocumentsNameAreThere: source files named in documents exist.
func TestSourcesThatTheDocumentsNameAreThere(t *testing.T) {
	sources := []string{}
	for _, top := range []string{"../../apps", "../../packages"} {
		err := filepath.WalkDir(top, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.IsDir() && (entry.Name() == "node_modules" || entry.Name() == "dist") {
				return filepath.SkipDir
			}
			sources = append(sources, filepath.ToSlash(path))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	count := 0
	for _, name := range []string{"AGENTS.md", "docs/architecture.md", "docs/internals.md", "docs/protocol.md", "docs/session-format.md", "docs/threat-model.md", "docs/http.md", "docs/models.md"} {
		for _, found := range sourceName.FindAllStringSubmatch(readDocument(t, name), -1) {
			count++
			if !slices.ContainsFunc(sources, func(path string) bool { return strings.HasSuffix(path, "/"+found[1]) }) {
				t.Errorf("%s names %s, which is not there", name, found[1])
			}
		}
	}
	if count < 30 {
		t.Errorf("only %d names were found", count)
	}
}

var (
	docLink   = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	docHeader = regexp.MustCompile(`(?m)^#+ (.+)$`)
	codeBlock = regexp.MustCompile("(?s)```.*?```")
)

// anchor returns the anchor of a heading.
func anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(heading))
}

func TestLinksOfTheDocumentsLeadSomewhere(t *testing.T) {
	var names []string
	for _, pattern := range []string{"../../*.md", "../../docs/*.md", "../../docs/decisions/*.md"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		names = append(names, files...)
	}
	count := 0
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, link := range docLink.FindAllSubmatch(codeBlock.ReplaceAll(data, nil), -1) {
			if to := string(link[1]); !strings.Contains(to, "://") {
				count++
				checkLink(t, name, to)
			}
		}
	}
	if count < 50 {
		t.Errorf("only %d links were found", count)
	}
}

func checkLink(t *testing.T, from, to string) {
	t.Helper()
	file, fragment, _ := strings.Cut(to, "#")
	target := from
	if file != "" {
		target = filepath.Join(filepath.Dir(from), file)
	}
	info, err := os.Stat(target)
	if err != nil {
		t.Errorf("%s links to %s, which is not there", from, to)
		return
	}
	if fragment == "" || info.IsDir() {
		return
	}
	data, err := os.ReadFile(target)
	if err != nil {
		t.Fatal(err)
	}
	for _, heading := range docHeader.FindAllSubmatch(codeBlock.ReplaceAll(data, nil), -1) {
		if anchor(string(heading[1])) == fragment {
			return
		}
	}
	t.Errorf("%s links to %s, and %s has no such heading", from, to, target)
}
