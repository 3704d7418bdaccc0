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

const root = "github.com/scorel/scorel/"

// room is a part of the house. Its packages may import those of ours that are
// listed, themselves, and nothing else of ours. "x/..." is x and all below it.
type room struct {
	path   string
	may    []string
	reason string
}

// rooms is the table of arrows; the first room that holds a package counts. Inside
// a Go workspace modules are no fence, so this is.
var rooms = []room{
	{"packages/protocol/cmd/...", []string{"packages/protocol/..."},
		"the generator reads every type that travels"},
	{"packages/protocol/ident", nil, "who somebody is depends on nothing"},
	{"packages/protocol/session", nil, "the log's vocabulary is pure: the type on disk is the type on the wire"},
	{"packages/protocol/wire", []string{"packages/protocol/ident"}, "what the relay sees must not reach what is sealed"},
	{"packages/protocol/pair", []string{"packages/protocol/ident", "packages/protocol/wire"},
		"the ceremony knows keys and slots, no transport"},
	{"packages/protocol/seal", []string{"packages/protocol/ident"}, "bytes in, bytes out"},
	{"packages/protocol/api", []string{"packages/protocol/ident", "packages/protocol/session"},
		"what travels inside the seal knows nothing of what carries it"},
	{"packages/protocol/openapi", nil, "a document"},
	{"packages/protocol", nil, "the map of the protocol imports nothing"},
	{"packages/client/link", []string{"packages/protocol/wire", "packages/protocol/ident"},
		"a link carries records that it cannot open"},
	{"packages/client", []string{"packages/client/link", "packages/protocol/..."},
		"a client speaks every layer, and no more than the protocol"},
	{"packages/pgpool", nil, "a database's address and errors: the relay is built with it, so it must reach nothing of ours"},
	{"packages/keyfile", []string{"packages/atomicfile", "packages/protocol/ident"}, "keys in a file"},
	{"packages/...", nil, "a small helper helps everybody and needs nobody"},
	{"apps/relay/...", []string{"packages/protocol/wire", "packages/protocol/ident", "packages/pgpool", "packages/leakcheck"},
		"the relay's blindness is a fact of the build: it cannot seal, pair, or read a request or a session"},
	{"apps/host/internal/agent/...", []string{"packages/protocol/session", "packages/protocol/api"},
		"the turn loop knows neither storage nor network nor interface"},
	{"apps/host/internal/gate/...", []string{"packages/protocol/session", "packages/protocol/api", "apps/host/internal/agent", "apps/host/internal/pathname"},
		"an approval is decided on the host, whoever asks"},
	{"apps/host/internal/model/...", []string{"apps/host/internal/agent", "packages/protocol/session", "packages/leakcheck"},
		"a provider turns a stream into messages and nothing else"},
	{"apps/host/internal/instructions/...", []string{"packages/protocol/session"},
		"files of people, read and no more"},
	{"apps/host/internal/definition", []string{"apps/host/internal/instructions", "packages/protocol/session"},
		"files of people, read and no more"},
	{"apps/host/internal/skill", []string{"apps/host/internal/definition", "packages/protocol/session"},
		"files of people, read and no more"},
	{"apps/host/internal/preset", []string{"apps/host/internal/definition"},
		"files of people, read and no more"},
	{"apps/host/internal/crew", []string{"apps/host/internal/agent", "apps/host/internal/preset", "apps/host/internal/process", "apps/host/internal/sessions", "apps/host/internal/tool", "packages/protocol/session", "packages/protocol/api"},
		"agents of agents run in sessions as any other; they know no connection"},
	{"apps/host/internal/procgroup", nil, "processes of the system"},
	{"apps/host/internal/process", []string{"packages/protocol/session", "packages/protocol/api", "packages/leakcheck"},
		"progress is for people: who reports it knows no session and no model"},
	{"apps/host/internal/mcp", []string{"apps/host/internal/agent", "apps/host/internal/process", "apps/host/internal/procgroup", "apps/host/internal/state", "packages/protocol/session", "packages/protocol/api", "packages/leakcheck"},
		"servers give tools; they know no session"},
	{"apps/host/internal/tool/...", []string{"apps/host/internal/agent", "apps/host/internal/process", "apps/host/internal/levenshtein", "apps/host/internal/pathname", "apps/host/internal/procgroup", "apps/host/internal/skill", "packages/protocol/session", "packages/atomicfile", "packages/leakcheck"},
		"a tool acts on files and processes; it knows no session"},
	{"apps/host/internal/sessions/read", []string{"apps/host/internal/agent", "packages/protocol/session", "packages/protocol/api"},
		"what a log says is told from its entries alone: nothing here can write"},
	{"apps/host/internal/sessions/window", []string{"packages/protocol/session", "packages/protocol/api"},
		"how much is sent at once depends on sizes alone"},
	{"apps/host/internal/sessions/queue", []string{"apps/host/internal/gate", "packages/protocol/session", "packages/protocol/api"},
		"what an edit makes of a queue depends on the queue and on who edits it"},
	{"apps/host/internal/sessions/...", []string{"apps/host/internal/agent", "apps/host/internal/process", "apps/host/internal/gate", "apps/host/internal/state", "packages/protocol/session", "packages/protocol/api", "packages/pgpool", "packages/leakcheck", "packages/testdb"},
		"sessions own the log and run the agent; they know no connection"},
	{"apps/host/internal/sandbox", nil, "a command's limits are the same whoever runs it"},
	{"apps/host/internal/levenshtein", nil, "arithmetic"},
	{"apps/host/internal/pathname", nil, "names as text; no file is looked at"},
	{"apps/host/internal/state/...", []string{"apps/host/internal/levenshtein", "packages/atomicfile", "packages/protocol/ident", "packages/protocol/api"},
		"files of the home, and nothing that runs"},
	{"apps/host/...", []string{"packages/...", "apps/host/internal/..."}, "the daemon wires its own parts and never sees the relay's"},
	{"apps/web/...", nil, "the page is files"},
	{"apps/cli/internal/...", []string{"packages/..."}, "the command line's own parts know the client, not the servers"},
	{"apps/cli/...", []string{"apps/...", "packages/..."}, "the composition root wires all"},
	{"apps/bench/...", []string{"apps/...", "packages/..."}, "measurements run whatever they measure"},
}

func holds(pattern, path string) bool {
	if folder, ok := strings.CutSuffix(pattern, "/..."); ok {
		return path == folder || strings.HasPrefix(path, folder+"/")
	}
	return path == pattern
}

func (r room) allows(path string) bool {
	return holds(r.path, path) || slices.ContainsFunc(r.may, func(pattern string) bool { return holds(pattern, path) })
}

// listed is what go list tells of a package.
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

func TestArrows(t *testing.T) {
	for _, p := range listPackages(t) {
		path := strings.TrimPrefix(p.ImportPath, root)
		i := slices.IndexFunc(rooms, func(r room) bool { return holds(r.path, path) })
		if i < 0 {
			t.Errorf("%s stands in no room: add one to the table, with its reason", path)
			continue
		}
		for _, imported := range p.Imports {
			if theirs, ours := strings.CutPrefix(imported, root); ours && !rooms[i].allows(theirs) {
				t.Errorf("%s imports %s, but %s", path, theirs, rooms[i].reason)
			}
		}
	}
}

// TestRelaySeesTwoPackages holds the arrow that matters most for the whole of what
// the relay is built and tested from, not only for direct imports: two packages of
// the protocol, and the helper that opens a database.
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
		t.Fatal("the relay's command does not reach the relay: the test looks at the wrong place")
	}
	for path := range seen {
		short := strings.TrimPrefix(path, root)
		if !holds("apps/relay/...", short) && !slices.Contains([]string{"packages/protocol/wire", "packages/protocol/ident", "packages/pgpool"}, short) {
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

// TestNoHiddenState refuses init functions and package-level variables that begin
// empty: such a variable is only there to be changed.
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
			return "func init: wire by hand where the part is made"
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
