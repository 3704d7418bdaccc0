package gate

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxScript bounds a command line that is read, in bytes; a longer one asks.
const maxScript = 32 << 10

// maxNesting bounds scripts inside of scripts (bash -c "bash -c ...").
const maxNesting = 8

// maxInner bounds the scripts inside of one that are read, in bytes: one text may be
// that of many shells.
const maxInner = 4 * maxScript

var errInner = fmt.Errorf("it holds more than %d bytes of scripts that it runs", maxInner)

var errLong = fmt.Errorf("it is longer than %d bytes", maxScript)

// script is what a command line is made of.
type script struct {
	commands  []command
	redirects []redirect
	// opaque says which parts are known only when they run.
	opaque []string
	// compound is true when it is more than commands joined by && || ; and |.
	compound bool
	bomb     bool // a function that calls itself without end
	err      error

	spread int // words that lists in braces stood for
	read   int // bytes of scripts inside of it
}

// command is one simple command.
type command struct {
	words []word
	dir   string // where it runs; "" when that is not known
	// wrapped is true for what another command may run, as env and bash -c do: it
	// is judged, and never allowed by itself.
	wrapped bool
	assigns bool // variables are set for it
	piped   bool // it reads what another writes
}

// redirect is a file that a command line opens.
type redirect struct {
	target word
	dir    string
	writes bool
}

// plain returns the words as text.
func (c command) plain() []string {
	texts := make([]string, 0, len(c.words))
	for _, w := range c.words {
		texts = append(texts, w.text)
	}
	return texts
}

// literal tells whether every word is known.
func (c command) literal() bool {
	for _, w := range c.words {
		if w.kind != literalWord {
			return false
		}
	}
	return true
}

// reader collects what a command line is made of.
type reader struct {
	out   *script
	home  string
	dir   string
	depth int
	inner bool // inside of a wrapper
	piped bool
	fed   []word // texts of here-documents: what a shell reads from its input
	// located says where a path leads from a folder.
	located func(dir, path string) string
}

// readScript parses a command line as bash would in the folder of the project.
func (p Policy) readScript(text string) *script {
	out := &script{}
	r := &reader{out: out, home: p.Home, dir: p.Dir, located: p.located}
	r.parse(text)
	return out
}

func (r *reader) parse(text string) {
	switch {
	case len(text) > maxScript:
		r.fail(errLong)
		return
	case strings.ContainsRune(text, 0):
		r.fail(errors.New("it holds a zero byte"))
		return
	case r.depth > maxNesting:
		r.fail(errors.New("scripts are nested too deeply"))
		return
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		r.fail(err)
		return
	}
	r.statements(file.Stmts)
}

func (r *reader) fail(err error) {
	if r.out.err == nil {
		r.out.err = err
	}
}

func (r *reader) opaque(what string) { r.out.opaque = append(r.out.opaque, what) }

func (r *reader) statements(list []*syntax.Stmt) {
	for _, s := range list {
		r.statement(s)
	}
}

func (r *reader) statement(s *syntax.Stmt) {
	if s.Background || s.Coprocess || s.Disown || s.Negated {
		r.out.compound = true
	}
	before := r.fed
	for _, redirection := range s.Redirs {
		r.redirection(redirection)
	}
	defer func() { r.fed = before }()
	switch c := s.Cmd.(type) {
	case nil:
	case *syntax.CallExpr:
		r.call(c)
	case *syntax.BinaryCmd:
		r.binary(c)
	case *syntax.FuncDecl:
		r.function(c)
	default:
		r.compoundCommand(c)
	}
}

func (r *reader) binary(c *syntax.BinaryCmd) {
	before := r.piped
	dir := r.dir
	r.statement(c.X)
	if pipe := c.Op == syntax.Pipe || c.Op == syntax.PipeAll; pipe {
		r.piped, r.dir = true, dir // each side of a pipe is a process of its own
		r.statement(c.Y)
		r.piped, r.dir = before, dir
		return
	}
	r.statement(c.Y)
	if c.Op == syntax.OrStmt && r.dir != dir {
		r.dir = ""
	}
}

// compoundCommand reads every statement and word inside of a node, whatever its
// kind: what is not known to be harmless asks.
func (r *reader) compoundCommand(node syntax.Command) {
	r.out.compound = true
	dir := r.dir
	switch node.(type) {
	case *syntax.Block, *syntax.Subshell, *syntax.IfClause, *syntax.WhileClause, *syntax.ForClause, *syntax.CaseClause:
	case *syntax.TimeClause:
	default: // declarations, arithmetic, tests, coprocesses
		r.opaque("a construct that can change what later commands mean")
	}
	r.inside(node)
	if _, sub := node.(*syntax.Subshell); sub {
		r.dir = dir
	} else if r.dir != dir {
		r.dir = ""
	}
}

// inside reads the statements and words directly below a node.
func (r *reader) inside(node syntax.Node) {
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case nil:
			return true
		case *syntax.Stmt:
			r.statement(n)
			return false
		case *syntax.Word:
			r.word(n)
			return false
		case *syntax.Assign:
			r.opaque("a variable is set")
		}
		return true
	})
}

// function reads a declaration: what it is called with is known only when it runs.
func (r *reader) function(f *syntax.FuncDecl) {
	r.opaque("a function is declared, which can take the place of a command")
	r.out.compound = true
	name := ""
	if f.Name != nil {
		name = f.Name.Value
	}
	calls, spreads := 0, false
	syntax.Walk(f.Body, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			if len(n.Args) > 0 && n.Args[0].Lit() == name {
				calls++
			}
		case *syntax.Stmt:
			spreads = spreads || n.Background
		case *syntax.BinaryCmd:
			spreads = spreads || n.Op == syntax.Pipe
		}
		return true
	})
	r.out.bomb = r.out.bomb || calls > 0 && spreads
	r.statement(f.Body)
}

func (r *reader) redirection(d *syntax.Redirect) {
	if d.Word == nil {
		return
	}
	target := r.word(d.Word)
	switch d.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		r.feed(r.document(d))
		return // text, and no file
	case syntax.WordHdoc:
		r.feed(target)
		return
	case syntax.DplIn, syntax.DplOut:
		if target.kind == literalWord && strings.Trim(target.text, "0123456789-") == "" {
			return // 2>&1
		}
	}
	r.out.redirects = append(r.out.redirects, redirect{target: target, dir: r.dir, writes: d.Op != syntax.RdrIn && d.Op != syntax.DplIn})
}

func (r *reader) call(c *syntax.CallExpr) {
	for _, assign := range c.Assigns {
		r.inside(assign)
	}
	if len(c.Args) == 0 {
		if len(c.Assigns) > 0 {
			r.opaque("a variable is set")
		}
		return
	}
	cmd := command{dir: r.dir, wrapped: r.inner, assigns: len(c.Assigns) > 0, piped: r.piped}
	for _, w := range c.Args {
		cmd.words = append(cmd.words, r.words(w)...)
	}
	if k := cmd.words[0].kind; k != literalWord {
		r.opaque("the name of a command is known only when it runs")
	}
	r.out.commands = append(r.out.commands, cmd)
	r.unwrap(cmd)
	r.follow(cmd)
}

// enter goes to another folder. Where .. stands behind a link, bash tries two ways, and
// which of them it takes is known only when it runs.
func (r *reader) enter(path string) {
	to := join(r.dir, path)
	if slices.Contains(strings.Split(path, "/"), "..") && r.located(r.dir, path) != r.located("", to) {
		r.opaque("the folder that it goes to depends on links")
		to = ""
	}
	r.dir = to
}

// follow keeps track of the folder that later commands run in.
func (r *reader) follow(cmd command) {
	switch name := cmd.words[0].text; {
	case name == "pushd" || name == "popd":
		r.dir = ""
	case name != "cd":
	case len(cmd.words) == 1:
		r.dir = r.home
	case len(cmd.words) == 2 && cmd.words[1].kind == literalWord && cmd.words[1].text != "-" && r.dir != "":
		r.enter(cmd.words[1].text)
	default:
		r.dir = ""
	}
}
