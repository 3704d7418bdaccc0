package cli

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the pictures of docs/architecture.md from the imports")

// TestPicturesShowTheImports compares the diagrams of docs/architecture.md with what the
// packages import. Run `go test . -run Pictures -update` in apps/cli to write them.
func TestPicturesShowTheImports(t *testing.T) {
	const document = "../../docs/architecture.md"
	packages := listPackages(t)
	text := readDocument(t, "docs/architecture.md")
	want := text
	for name, group := range map[string]func(string) string{"parts": appOf, "host": hostPart} {
		begin, end := "<!-- "+name+": generated -->\n", "<!-- end -->"
		before, rest, found := strings.Cut(want, begin)
		_, after, closed := strings.Cut(rest, end)
		if !found || !closed {
			t.Fatalf("%s has no place for the picture %q", document, name)
		}
		want = before + begin + "```mermaid\n" + diagram(importsBetween(packages, group)) + "```\n" + end + after
	}
	if want == text {
		return
	}
	if !*update {
		t.Fatal("the pictures differ from the imports: run `go test . -run Pictures -update` in apps/cli")
	}
	if err := os.WriteFile(document, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// appOf groups packages as a reader sees them first; "" leaves a package out.
func appOf(path string) string {
	for _, p := range []string{"packages/protocol", "packages/client", "apps/relay", "apps/host", "apps/web", "apps/cli"} {
		if holds(p+"/...", path) {
			return filepath.Base(p)
		}
	}
	return ""
}

// hostPart groups the packages inside of the host.
func hostPart(path string) string {
	rest, inside := strings.CutPrefix(path, "apps/host/internal/")
	if inside {
		name, _, _ := strings.Cut(rest, "/")
		return name
	}
	if path == "apps/host" {
		return "host"
	}
	return ""
}

// importsBetween returns which group imports which.
func importsBetween(packages []listed, group func(string) string) map[string]map[string]bool {
	imports := map[string]map[string]bool{}
	for _, p := range packages {
		from := group(strings.TrimPrefix(p.ImportPath, root))
		if from == "" {
			continue
		}
		if imports[from] == nil {
			imports[from] = map[string]bool{}
		}
		for _, imported := range p.Imports {
			if theirs, ours := strings.CutPrefix(imported, root); ours {
				if to := group(theirs); to != "" && to != from {
					imports[from][to] = true
				}
			}
		}
	}
	return imports
}

// diagram renders the imports as Mermaid, without those that follow from others. Groups
// without an arrow are included.
func diagram(imports map[string]map[string]bool) string {
	var reaches func(from, to string, direct bool) bool
	reaches = func(from, to string, direct bool) bool {
		for next := range imports[from] {
			if next == to && direct || next != to && reaches(next, to, true) {
				return true
			}
		}
		return false
	}
	linked := map[string]bool{}
	var lines []string
	for _, from := range slices.Sorted(maps.Keys(imports)) {
		for _, to := range slices.Sorted(maps.Keys(imports[from])) {
			if !reaches(from, to, false) {
				linked[from], linked[to] = true, true
				lines = append(lines, fmt.Sprintf("  %s --> %s", from, to))
			}
		}
	}
	for _, alone := range slices.Sorted(maps.Keys(imports)) {
		if !linked[alone] {
			lines = append(lines, "  "+alone)
		}
	}
	return "flowchart TD\n" + strings.Join(lines, "\n") + "\n"
}
