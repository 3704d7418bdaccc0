package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// listed is the output of go list for a package.
type listed struct {
	ImportPath, Dir, Doc string
	Imports, GoFiles     []string
}

var useLine = regexp.MustCompile(`(?m)^\s+(\./\S+)$`)

// listPackages lists the packages of every module in go.work.
func listPackages(t *testing.T) []listed {
	t.Helper()
	top, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	work := filepath.Join(top, "go.work")
	text, err := os.ReadFile(work)
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"list", "-json=ImportPath,Dir,Doc,Imports,GoFiles"}
	for _, use := range useLine.FindAllStringSubmatch(string(text), -1) {
		args = append(args, use[1]+"/...")
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = top
	cmd.Env = append(os.Environ(), "GOWORK="+work, "GOFLAGS=")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.Bytes())
	}
	var packages []listed
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}

func TestImportRules(t *testing.T) {
	for _, p := range listPackages(t) {
		path := strings.TrimPrefix(p.ImportPath, root)
		i := slices.IndexFunc(importRules, func(r importRule) bool { return holds(r.path, path) })
		if i < 0 {
			t.Errorf("no rule matches %s: add one to the table, with its reason", path)
			continue
		}
		for _, imported := range p.Imports {
			if theirs, ours := strings.CutPrefix(imported, root); ours && !importRules[i].allows(theirs) {
				t.Errorf("%s imports %s, but %s", path, theirs, importRules[i].reason)
			}
		}
	}
}

// TestPermissionsAreUsed fails for permissions in the table that no import uses.
func TestPermissionsAreUsed(t *testing.T) {
	used := map[string]bool{}
	for _, p := range listPackages(t) {
		path := strings.TrimPrefix(p.ImportPath, root)
		i := slices.IndexFunc(importRules, func(r importRule) bool { return holds(r.path, path) })
		if i < 0 {
			continue // TestImportRules reports it
		}
		for _, imported := range p.Imports {
			for _, pattern := range importRules[i].may {
				if theirs, ours := strings.CutPrefix(imported, root); ours && holds(pattern, theirs) {
					used[importRules[i].path+" "+pattern] = true
				}
			}
		}
	}
	for _, r := range importRules {
		for _, pattern := range r.may {
			if r.path != "apps/bench/..." && !used[r.path+" "+pattern] { // a module outside go.work
				t.Errorf("%s may import %s but does not: remove the permission", r.path, pattern)
			}
		}
	}
}

// TestRelaySeesTwoPackages checks the most important rule for everything that the relay is
// built from, not only for direct imports: two packages of the protocol, and the helper
// that opens a database.
func TestRelaySeesTwoPackages(t *testing.T) {
	imports := map[string][]string{}
	for _, p := range listPackages(t) {
		imports[p.ImportPath] = p.Imports
	}
	seen := map[string]bool{}
	var visit func(path string)
	visit = func(path string) {
		if seen[path] || !strings.HasPrefix(path, root) {
			return
		}
		seen[path] = true
		for _, next := range imports[path] {
			visit(next)
		}
	}
	visit(root + "apps/relay/cmd/scorel-relay")
	if !seen[root+"apps/relay"] {
		t.Fatal("the relay's command does not reach the relay: the test checks the wrong package")
	}
	for path := range seen {
		short := strings.TrimPrefix(path, root)
		if !holds("apps/relay/...", short) && !slices.Contains([]string{"packages/protocol/exactjson", "packages/protocol/wire", "packages/protocol/ident", "packages/loopback", "packages/pgpool"}, short) {
			t.Errorf("the relay is built with %s", short)
		}
	}
}

func TestEveryPackageHasAContract(t *testing.T) {
	for _, p := range listPackages(t) {
		if len(p.GoFiles) > 0 && p.Doc == "" {
			t.Errorf("%s has no package comment", strings.TrimPrefix(p.ImportPath, root))
		}
	}
}

// TestNoHiddenState rejects init functions and package-level variables without a value:
// such a variable exists only to be changed.
func TestNoHiddenState(t *testing.T) {
	for _, p := range listPackages(t) {
		for _, name := range p.GoFiles {
			path := filepath.Join(p.Dir, name)
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			for _, decl := range file.Decls {
				if what := hiddenState(decl); what != "" {
					t.Errorf("%s: %s", path, what)
				}
			}
		}
	}
}

func hiddenState(decl ast.Decl) string {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil && d.Name.Name == "init" {
			return "func init: wire it by hand where the part is created"
		}
	case *ast.GenDecl:
		embedded := d.Doc != nil && slices.ContainsFunc(d.Doc.List, func(c *ast.Comment) bool { return strings.HasPrefix(c.Text, "//go:embed") })
		if d.Tok != token.VAR || embedded {
			return ""
		}
		for _, spec := range d.Specs {
			if v, ok := spec.(*ast.ValueSpec); ok && len(v.Values) == 0 {
				return "var " + v.Names[0].Name + ": state at package level; give it to a type that owns it"
			}
		}
	}
	return ""
}
