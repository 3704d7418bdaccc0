// Package permission decides whether a tool call may run: immediately, after a person
// approves it, or never. It is pure: it reads no files, knows no sessions and prompts no
// one. Everything that depends on the machine is passed in with the Policy.
//
// A floor that no mode or rule lifts is checked first. Then come the rules: deny beats ask,
// and ask beats allow, however specific each rule is. Then the mode decides. A command line
// is parsed as bash and each command in it is judged separately; the strictest verdict
// applies to the whole line. Anything that cannot be parsed asks, in every mode. When in
// doubt, the answer is to ask.
package permission

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/pathname"
	"github.com/scorel/scorel/packages/protocol/api"
)

// Action is the outcome for a call. A greater value is stricter.
type Action int

const (
	Allow Action = iota
	Ask
	Deny
)

// Request describes a call that is about to run.
type Request struct {
	Tool    string
	As      []string // further tools whose rules are about the call; the strictest verdict applies
	Subject string   // the text that rules match, as in Tools
	Writes  bool     // the tool changes something
	Note    bool     // it saves a note for later sessions, and changes nothing else
	Command string   // bash: the command line
	Paths   []string // files it names, absolute or relative to the policy's Dir
	URL     string
	// Foreign reports that a third-party program, such as an MCP server, carries out the
	// call. ReadOnly is that program's own claim; only the mode auto trusts it.
	Foreign, ReadOnly bool
}

// Policy holds everything that calls are judged by.
type Policy struct {
	Mode  api.Mode
	Rules Rules
	// Only limits the tools that its rules name to the calls that the rules match, whatever
	// the mode and other rules say. It denies all other calls of those tools and allows
	// none by itself.
	Only []Rule
	// Dir is the project folder: absolute, with symbolic links resolved.
	Dir string
	// Home is the user's home folder, which replaces ~ and $HOME.
	Home string
	// Private lists folders with the host's own keys and logs; Open lists the parts of them
	// that are accessible.
	Private, Open []string
	// Readable lists parts of Private that may be read and executed but not changed.
	Readable []string
	// PrivateHidden reports that a sandbox hides Private from commands.
	PrivateHidden bool
	// UnconfinedRoot reports that commands run with full root privileges and without a strong
	// sandbox: the mode auto then asks about every command that does more than read.
	UnconfinedRoot bool
	// Resolve follows symbolic links as far as the path exists, including a ".." after a
	// link. If it is nil, paths are used as written.
	Resolve func(string) string
	// List returns the names in a folder; complete is false if some are missing. If List is
	// nil, a shell pattern is treated as a literal name.
	List func(folder string) (names []string, complete bool)
	// Exists reports whether a file or folder exists at an absolute path, and whether it is
	// a folder. If Exists is nil, nothing exists.
	Exists func(path string) (there, folder bool)
	// Env returns a variable of the environment that commands get, and HomeOf the home
	// folder of a user of the machine. "" means unknown.
	Env, HomeOf func(name string) string
	// FoldsCase reports that the file system ignores case, so rules must as well.
	FoldsCase bool
	// GitRuns describes what git would run in a folder because the repository there
	// configures it, or returns "". If GitRuns is nil, git runs nothing.
	GitRuns func(folder string) string
}

// Verdict is the decision about a call and what a person is shown about it.
type Verdict struct {
	Action Action
	Floor  bool   // denied regardless of mode and rules
	Reason string // one sentence that explains the decision
	Risk   api.Risk
	// Propose lists the rules that would let the call pass without asking. It is empty if
	// none may be offered.
	Propose []string
	// Rules lists the rules that let parts of an allowed call pass. ByMode reports that the
	// mode allowed a part. If both are empty, the call only reads and needed no permission.
	Rules  []string
	ByMode bool
}

// Judge decides whether a call may run.
func (p Policy) Judge(r Request) Verdict {
	v := p.judge(r)
	for _, tool := range r.As {
		r.Tool = tool
		v = strictest(v, p.judge(r))
	}
	return v
}

func (p Policy) judge(r Request) Verdict {
	var v Verdict
	switch {
	case r.Command != "" || r.Tool == "bash":
		v = p.judgeCommand(r)
		if r.Tool != "bash" { // a command run by another tool is subject to both tools' rules
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

// absolute returns path as the machine would resolve it from dir.
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

// closed reports whether an absolute path holds the host's own keys or logs, or state that
// it trusts and that nothing else may change.
func (p Policy) closed(path string) bool {
	return slices.ContainsFunc(p.Private, func(folder string) bool { return pathname.WithinFold(folder, path) }) && !withinAny(p.Open, path)
}

// readable reports whether a closed path may nevertheless be read.
func (p Policy) readable(path string) bool {
	return withinAny(p.Readable, path)
}

// gitControl reports whether writing to path can make git run something.
func gitControl(path string) bool {
	return strings.Contains(strings.ToLower(path)+"/", "/.git/")
}

func gitHooks(path string) bool { return strings.Contains(strings.ToLower(path)+"/", "/.git/hooks/") }
