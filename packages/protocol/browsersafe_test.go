package protocol_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const modulePath = "github.com/scorel/scorel/packages/protocol"

// forbidden lists imports that no package of this module may have directly, with the reasons.
var forbidden = map[string]string{
	"os":       "a browser has no files and no environment",
	"os/exec":  "a browser starts no processes",
	"net":      "the protocol is bytes in, bytes out: sockets belong to its users",
	"net/http": "it would bring a server into every browser build",
	"syscall":  "it differs from system to system",
	"unsafe":   "decoders of foreign bytes stay inside the language",
}

// allowed lists the modules outside the standard library, with the reasons.
var allowed = map[string]string{
	"golang.org/x/crypto":    "cryptography that the standard library lacks",
	"github.com/flynn/noise": "the Noise handshake of package seal",
	modulePath:               "the layers import each other",
}

// exempt lists folders that do not run in a browser, with the reasons.
var exempt = map[string]string{
	"cmd":      "tools for developers, which read and write files",
	"testdata": "holds no packages",
	"ts":       "holds TypeScript",
}

// importRules lists which layers each layer may import.
var importRules = map[string][]string{
	".": {}, "exactjson": {}, "ident": {}, "session": {"exactjson"}, "openapi": {},
	"wire": {"exactjson", "ident"}, "pair": {"ident", "pair/stretch", "wire"}, "pair/stretch": {}, "seal": {"ident"}, "api": {"exactjson", "ident", "session"},
	"proof": {"api", "ident", "session"}, "guest": {"ident"}, "visible": {},
}

func TestImports(t *testing.T) {
	seen := 0
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if _, skip := exempt[path]; skip && entry.IsDir() {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		seen++
		return checkImports(t, path)
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 10 {
		t.Errorf("only %d files were looked at", seen)
	}
}

func checkImports(t *testing.T, path string) error {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
	if err != nil {
		return err
	}
	folder := filepath.ToSlash(filepath.Dir(path))
	layers, known := importRules[folder]
	if !known {
		t.Errorf("%s: the package %q is not in the table of import rules", path, folder)
	}
	for _, spec := range file.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return err
		}
		if why, bad := forbidden[name]; bad {
			t.Errorf("%s imports %s: %s", path, name, why)
		}
		if !inAllowedModule(name) {
			t.Errorf("%s imports %s, which is neither standard nor allowed", path, name)
		}
		layer, ours := strings.CutPrefix(name, modulePath+"/")
		if ours && !slices.Contains(layers, layer) {
			t.Errorf("%s imports %s: %s may import %v", path, layer, folder, layers)
		}
	}
	return nil
}

func inAllowedModule(name string) bool {
	if first, _, _ := strings.Cut(name, "/"); !strings.Contains(first, ".") {
		return true // the standard library has no dot in its first element
	}
	for module := range allowed {
		if name == module || strings.HasPrefix(name, module+"/") {
			return true
		}
	}
	return false
}

// TestBuildsForBrowsers compiles every layer to WebAssembly. The compiler sees
// what the table above cannot: what the imports import.
func TestBuildsForBrowsers(t *testing.T) {
	args := []string{"build"}
	for folder := range importRules {
		args = append(args, "./"+folder)
	}
	build := exec.CommandContext(t.Context(), "go", args...)
	build.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
