// Package gate decides whether a call of a tool may run: at once, after a person
// said yes, or not at all. It is pure: it reads no file, knows no session and asks
// nobody; what depends on the machine comes in with the Policy.
//
// A floor that no mode and no rule lifts comes first. Then rules: deny before ask
// before allow, however specific each is. Then the mode. A command line is parsed
// as bash and every command in it is judged for itself; the strictest verdict is
// that of the whole. What cannot be read asks, in every mode. In doubt the answer
// is to ask.
package gate

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/pathname"
	"github.com/scorel/scorel/packages/protocol/api"
)

// Action is what happens to a call. A greater one is stricter.
type Action int

const (
	Allow Action = iota
	Ask
	Deny
)

// Request is a call that wants to run.
type Request struct {
	Tool    string
	Subject string   // what its rules are about, as in Tools
	Writes  bool     // the tool changes something
	Command string   // bash: the command line
	Paths   []string // files that it names, absolute or relative to the policy's Dir
	URL     string
	// Foreign says that a program of somebody else carries it out, as an MCP server does;
	// ReadOnly is that program's own word. Only the mode auto takes it.
	Foreign, ReadOnly bool
}

// Policy is what calls are judged by.
type Policy struct {
	Mode  api.Mode
	Rules Rules
	// Only says for which calls the tools may be used that it is about, whatever mode and
	// rules say: it denies the others and allows none.
	Only []Rule
	// Dir is the folder of the project: absolute, symbolic links resolved.
	Dir string
	// Home is the user's home folder, which ~ and $HOME stand for.
	Home string
	// Private are folders with the host's own keys and logs; Open are parts of them
	// that are not closed.
	Private, Open []string
	// Readable are parts of Private that are read and run, and not changed.
	Readable []string
	// Sheltered says that commands do not see Private: a sandbox hides it from them.
	Sheltered bool
	// Resolve follows symbolic links as far as a path exists, also where .. stands behind
	// one; nil takes paths as they are written.
	Resolve func(string) string
	// List names what lies in a folder; complete is false when that is not all. nil takes
	// a pattern of the shell for a name.
	List func(folder string) (names []string, complete bool)
	// FoldsCase says that capital letters make no other file here, so that rules see none.
	FoldsCase bool
	// GitRuns says what git, started in a folder, runs because the repository there says
	// so, or ""; nil knows of nothing.
	GitRuns func(folder string) string
}

// Verdict is the decision about a call and what a person is shown of it.
type Verdict struct {
	Action Action
	Floor  bool   // denied whatever mode and rules say
	Reason string // one sentence: why
	Risk   api.Risk
	// Propose are the rules that would let the call pass without asking; empty where
	// none may be offered.
	Propose []string
	// Rules are those that let parts of an allowed call pass; ByMode says that the mode
	// did that for a part. Neither: nobody had to allow it, as it only reads.
	Rules  []string
	ByMode bool
}

// Judge decides about a call.
func (p Policy) Judge(r Request) Verdict {
	var v Verdict
	switch {
	case r.Command != "" || r.Tool == "bash":
		v = p.judgeCommand(r)
		if r.Tool != "bash" { // a command that another tool runs has rules of both
			v = stricter(v, p.ruleOnTool(r))
		}
	case r.Writes && len(r.Paths) > 0:
		v = p.judgeWrite(r)
	default:
		v = p.judgeOther(r)
	}
	if only := p.onlyFor(r.Tool); v.Action != Deny && len(only) > 0 && !p.covered(r, only) {
		v = denied(fmt.Sprintf(textOnly, r.Tool, texts(only)), v.Risk)
	}
	if v.Risk.Level == "" {
		v.Risk.Level = api.RiskLow
	}
	if v.Action == Deny || v.Risk.Level == api.RiskHigh {
		v.Propose = nil
	}
	return v
}

// absolute returns a path as the machine would find it from dir.
func (p Policy) absolute(dir, path string) string {
	if path == "~" || strings.HasPrefix(path, "~/") {
		path = p.Home + path[1:]
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	path = filepath.Clean(path)
	if p.Resolve != nil {
		path = p.Resolve(path)
	}
	return path
}

func within(folder, path string) bool {
	return folder != "" && (path == folder || strings.HasPrefix(path, strings.TrimSuffix(folder, "/")+"/"))
}

func withinAny(folders []string, path string) bool {
	for _, folder := range folders {
		if within(folder, path) {
			return true
		}
	}
	return false
}

// closed tells whether an absolute path holds the host's own keys and logs, or what it
// believes, which nothing changes.
func (p Policy) closed(path string) bool {
	return slices.ContainsFunc(p.Private, func(folder string) bool { return pathname.WithinFold(folder, path) }) && !withinAny(p.Open, path)
}

// readable tells whether a path may be read though it is closed.
func (p Policy) readable(path string) bool {
	return withinAny(p.Readable, path)
}

// gitControl tells whether writing there lets git run something.
func gitControl(path string) bool {
	return strings.Contains(strings.ToLower(path)+"/", "/.git/")
}

func gitHooks(path string) bool { return strings.Contains(strings.ToLower(path)+"/", "/.git/hooks/") }
