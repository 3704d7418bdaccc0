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

// forbidden lists what no package of this module imports directly, and why.
var forbidden = map[string]string{
	"os":       "a browser has no files and no environment",
	"os/exec":  "a browser starts no processes",
	"net":      "the protocol is bytes in, bytes out: sockets belong to its users",
	"net/http": "it would bring a server into every browser build",
	"syscall":  "it differs from system to system",
	"unsafe":   "decoders of foreign bytes stay inside the language",
}

// allowed lists the modules beside the standard library, and why.
var allowed = map[string]string{
	"golang.org/x/crypto":    "what the standard library lacks of cryptography",
	"github.com/flynn/noise": "the Noise handshake of package seal",
	modulePath:               "the layers import each other",
}

// exempt lists folders that are no part of what runs in a browser, and why.
var exempt = map[string]string{
	"cmd":      "tools for developers, which read and write files",
	"testdata": "holds no packages",
	"ts":       "holds TypeScript",
}

// arrows lists which layer may import which.
var arrows = map[string][]string{
	".": {}, "ident": {}, "session": {}, "openapi": {},
	"wire": {"ident"}, "pair": {"ident", "wire"}, "seal": {"ident"}, "api": {"ident", "session"},
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
	room := filepath.ToSlash(filepath.Dir(path))
	layers, known := arrows[room]
	if !known {
		t.Errorf("%s: the package %q is not in the table of arrows", path, room)
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
			t.Errorf("%s imports %s: %s may import %v", path, layer, room, layers)
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
	for room := range arrows {
		args = append(args, "./"+room)
	}
	build := exec.CommandContext(t.Context(), "go", args...)
	build.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
