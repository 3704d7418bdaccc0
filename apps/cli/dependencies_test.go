package cli

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// directModules returns the names of all modules that the repository's go.mod files
// require, except its own.
func directModules(t *testing.T) map[string]string {
	t.Helper()
	direct := map[string]string{}
	for file, requirements := range modules(t) {
		for _, r := range requirements {
			if !r.Indirect && !strings.HasPrefix(r.Path, root) {
				direct[r.Path] = file
			}
		}
	}
	return direct
}

// requirement is a line of a go.mod file.
type requirement struct {
	Path, Version string
	Indirect      bool
}

// modules returns what each go.mod file of the repository requires, by its path.
func modules(t *testing.T) map[string][]requirement {
	t.Helper()
	files, err := filepath.Glob("../../apps/*/go.mod")
	if err != nil || len(files) < 4 {
		t.Fatalf("apps/*/go.mod: %d files, %v", len(files), err)
	}
	all := map[string][]requirement{}
	for _, file := range append(files, "../../packages/go.mod", "../../docs/examples/go/go.mod", "../../deploy/check/go.mod") {
		out, err := exec.Command("go", "mod", "edit", "-json", file).Output()
		if err != nil {
			t.Fatalf("reading %s: %v", file, err)
		}
		var mod struct{ Require []requirement }
		if err := json.Unmarshal(out, &mod); err != nil {
			t.Fatal(err)
		}
		all[file] = mod.Require
	}
	return all
}

// TestModulesAgreeOnVersions compares the go.mod files: every module must be built alone
// with the versions of the program. apps/bench and deploy/check are not part of the program.
func TestModulesAgreeOnVersions(t *testing.T) {
	first := map[string]requirement{}
	where := map[string]string{}
	all := modules(t)
	for _, file := range slices.Sorted(maps.Keys(all)) {
		if strings.Contains(file, "/bench/") || strings.Contains(file, "/deploy/check/") {
			continue
		}
		for _, r := range all[file] {
			if known, ok := first[r.Path]; ok && known.Version != r.Version {
				t.Errorf("%s requires %s %s, and %s requires %s: make them equal", where[r.Path], r.Path, known.Version, file, r.Version)
			}
			first[r.Path], where[r.Path] = r, file
		}
	}
}

// directPackages returns the packages that a package.json names.
func directPackages(t *testing.T, file string) map[string]string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct{ Dependencies, DevDependencies map[string]string }
	if err := json.Unmarshal(data, &manifest); err != nil {
		t.Fatal(err)
	}
	direct := map[string]string{}
	for _, list := range []map[string]string{manifest.Dependencies, manifest.DevDependencies} {
		for name := range list {
			direct[name] = file
		}
	}
	return direct
}

var codeName = regexp.MustCompile("`([^`]+)`")

// documented returns the names in the first column of the table below a heading.
// Each row must give a reason and a license.
func documented(t *testing.T, text, heading string) []string {
	t.Helper()
	_, rest, ok := strings.Cut(text, "\n## "+heading+"\n")
	if !ok {
		t.Fatalf("docs/dependencies.md has no heading %q", heading)
	}
	section, _, _ := strings.Cut(rest, "\n## ")
	var names []string
	for line := range strings.Lines(section) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		found := codeName.FindAllStringSubmatch(cells[0], -1)
		if !strings.HasPrefix(line, "|") || found == nil {
			continue
		}
		for _, cell := range cells {
			if strings.TrimSpace(cell) == "" {
				t.Errorf("docs/dependencies.md: a cell of %s is empty", cells[0])
			}
		}
		for _, name := range found {
			names = append(names, name[1])
		}
	}
	return names
}

// TestDependenciesAreDocumented: docs/dependencies.md lists exactly the direct
// dependencies, each once with its reason.
func TestDependenciesAreDocumented(t *testing.T) {
	data, err := os.ReadFile("../../docs/dependencies.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for _, part := range []struct {
		heading string
		direct  map[string]string
	}{
		{"Go", directModules(t)},
		{"TypeScript: `apps/web`", directPackages(t, "../../apps/web/package.json")},
		{"TypeScript: `apps/web/docs`", directPackages(t, "../../apps/web/docs/package.json")},
		{"TypeScript: `docs/examples/extensions/feishu`", directPackages(t, "../../docs/examples/extensions/feishu/package.json")},
		{"TypeScript: `packages/protocol/ts`", directPackages(t, "../../packages/protocol/ts/package.json")},
	} {
		names := documented(t, text, part.heading)
		for i, name := range names {
			if part.direct[name] == "" {
				t.Errorf("docs/dependencies.md, %s: nothing requires %s directly: take its line out", part.heading, name)
			}
			if slices.Contains(names[:i], name) {
				t.Errorf("docs/dependencies.md, %s: %s is listed twice", part.heading, name)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(part.direct)) {
			if !slices.Contains(names, name) {
				t.Errorf("docs/dependencies.md, %s: %s of %s has no line with its reason", part.heading, name, part.direct[name])
			}
		}
	}
}
