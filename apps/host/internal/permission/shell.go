package permission

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxScript bounds a command line that is parsed, in bytes. A longer one asks.
const maxScript = 32 << 10

// maxNesting bounds scripts inside scripts (bash -c "bash -c ...").
const maxNesting = 8

// maxInner bounds the total size of nested scripts, in bytes: one text may be the script of
// many shells.
const maxInner = 4 * maxScript

var errInner = fmt.Errorf("it contains more than %d bytes of nested scripts", maxInner)

// textVariable is the reason why a line that sets a variable asks.
const textVariable = "a variable is set"

var errLong = fmt.Errorf("it is longer than %d bytes", maxScript)

// script is a parsed command line.
type script struct {
	commands  []command
	redirects []redirect
	// opaque lists the parts that are known only at run time.
	opaque []string
	// compound is true if the line is more than commands joined by && || ; and |.
	compound bool
	bomb     bool // it contains a function that calls itself endlessly
	err      error

	spread int // words that braces expand to
	read   int // bytes of nested scripts
}

// command is one simple command.
type command struct {
	words []word
	dir   string // working folder; "" if unknown
	// wrapped is true for a command that another one may run, such as env or bash -c. It is
	// judged, but never allowed on its own.
	wrapped bool
	assigns bool // variables are set for it
	piped   bool // it reads the output of another command
	origin
}

// origin describes where the input and the words of a command come from.
type origin struct {
	source  []command // the commands before it in the pipeline
	fed     bool      // xargs or parallel adds words to it
	sink    bool      // it reads the output of a command through >( )
	fetched bool      // its input is a substitution that downloads
}

// redirect is a file that a command line opens.
type redirect struct {
	target word
	dir    string
	writes bool
	cuts   bool // the content of the file is lost
}

// plain returns the words as text.
func (c command) plain() []string {
	texts := make([]string, 0, len(c.words))
	for _, w := range c.words {
		texts = append(texts, w.text)
	}
	return texts
}

// literal reports whether every word is known.
func (c command) literal() bool {
	for _, w := range c.words {
		if w.kind != literalWord {
			return false
		}
	}
	return true
}

// reader collects the parts of a command line.
type reader struct {
	surroundings
	out   *script
	dir   string
	depth int
	inner bool // inside a wrapper
	piped bool
	from  origin
	fed   []word          // here-documents, which a shell may read as its input
	vars  map[string]word // variables that the line sets
}

// readScript parses a command line as bash would in the project folder.
func (p Policy) readScript(text string) *script {
	out := &script{}
	r := &reader{out: out, dir: p.Dir, surroundings: surroundings{home: p.Home, env: p.Env, homeOf: p.HomeOf, located: p.located}}
	r.parse(text)
	return out
}

func (r *reader) parse(text string) {
	switch {
	case len(text) > maxScript:
		r.fail(errLong)
		return
	case strings.ContainsRune(text, 0):
		r.fail(errors.New("it contains a zero byte"))
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
	if !linesAgree(text, file) || !documentsAgree(text, file) {
		r.fail(errLines) // the rest is read for the floor and for rules that deny
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
	before, from := r.fed, r.from
	for _, redirection := range s.Redirs {
		r.redirection(redirection)
	}
	defer func() { r.fed, r.from = before, from }()
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
	before, from := r.piped, r.from
	dir, first := r.dir, len(r.out.commands)
	r.statement(c.X)
	if pipe := c.Op == syntax.Pipe || c.Op == syntax.PipeAll; pipe {
		r.from.source = slices.Concat(from.source, r.out.commands[first:])
		r.piped, r.dir = true, dir // each side of a pipe is a separate process
		r.statement(c.Y)
		r.piped, r.dir, r.from = before, dir, from
		return
	}
	entered := r.dir
	r.statement(c.Y)
	if c.Op == syntax.OrStmt && (entered != dir || r.dir != entered) && !leaves(c.Y) {
		r.dir = ""
	}
}

// leaves reports whether the shell exits at a statement: cd x || exit.
func leaves(s *syntax.Stmt) bool {
	call, simple := s.Cmd.(*syntax.CallExpr)
	return simple && len(call.Args) > 0 && (call.Args[0].Lit() == "exit" || call.Args[0].Lit() == "return")
}

// compoundCommand reads every statement and word inside a node of any kind. Anything not
// known to be harmless asks.
func (r *reader) compoundCommand(node syntax.Command) {
	r.out.compound = true
	dir := r.dir
	switch node := node.(type) {
	case *syntax.ForClause:
		r.loop(node)
		return
	case *syntax.Block, *syntax.Subshell, *syntax.IfClause, *syntax.WhileClause, *syntax.CaseClause:
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

// loop reads the body of a loop once for each word it iterates over.
func (r *reader) loop(f *syntax.ForClause) {
	dir := r.dir
	iter, words := f.Loop.(*syntax.WordIter)
	if !words || f.Select || iter.InPos == (syntax.Pos{}) {
		r.inside(f)
	} else {
		length := int(f.DonePos.Offset() - f.DoPos.Offset())
		for _, item := range iter.Items {
			for _, w := range r.words(item) {
				if r.out.read += length; r.out.err != nil || r.out.read > maxInner {
					r.fail(errInner)
					return
				}
				r.set(iter.Name.Value, w)
				r.statements(f.Do)
			}
		}
	}
	if r.dir != dir {
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
			r.opaque(textVariable)
		}
		return true
	})
}

// function reads a declaration. Its arguments are known only at run time.
func (r *reader) function(f *syntax.FuncDecl) {
	r.opaque("a function is declared, which can replace a command")
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
		return // text, not a file
	case syntax.RdrIn:
		r.from.fetched = r.from.fetched || target.fetched
	case syntax.WordHdoc:
		r.feed(target)
		return
	case syntax.DplIn, syntax.DplOut:
		if target.kind == literalWord && strings.Trim(target.text, "0123456789-") == "" {
			return // 2>&1
		}
	}
	writes := d.Op != syntax.RdrIn && d.Op != syntax.DplIn
	cuts := writes && d.Op != syntax.AppOut && d.Op != syntax.AppAll && d.Op != syntax.RdrInOut
	r.out.redirects = append(r.out.redirects, redirect{target, r.dir, writes, cuts})
}

func (r *reader) call(c *syntax.CallExpr) {
	if len(c.Args) == 0 {
		for _, assign := range c.Assigns {
			r.assign(assign)
			r.opaque(textVariable)
		}
		return
	}
	for _, assign := range c.Assigns {
		r.inside(assign)
	}
	cmd := command{dir: r.dir, wrapped: r.inner, assigns: len(c.Assigns) > 0, piped: r.piped, origin: r.from}
	for _, w := range c.Args {
		cmd.words = append(cmd.words, r.words(w)...)
	}
	if len(cmd.words) == 0 {
		r.opaque("a command that has no name")
		return
	}
	if k := cmd.words[0].kind; k != literalWord {
		r.opaque("the name of a command is known only when it runs")
	}
	r.out.commands = append(r.out.commands, cmd)
	if plain := cmd.bare(); changesMeaning(plain[0], plain[1:]) {
		r.opaque(plain[0] + " can change what later words mean")
		r.vars = map[string]word{"HOME": {kind: dynamicWord}, "PWD": {kind: dynamicWord}}
		r.readEvaluated(plain[0], cmd.words[len(cmd.words)-len(plain)+1:])
	}
	r.unwrap(cmd)
	r.follow(cmd)
}

// enter changes the working folder. If ".." follows a link, bash tries two ways, and which
// one it takes is known only at run time.
func (r *reader) enter(path string) {
	to := join(r.dir, path)
	if slices.Contains(strings.Split(path, "/"), "..") && r.located(r.dir, path) != r.located("", to) {
		r.opaque("the folder that it changes to depends on links")
		to = ""
	}
	r.dir = to
}

// bare returns the words of a command without the ones that only mark it as a builtin.
func (c command) bare() []string {
	texts := c.plain()
	for len(texts) > 1 && (texts[0] == "builtin" || texts[0] == "command") {
		rest := texts[1:]
		for len(rest) > 1 && (rest[0] == "--" || texts[0] == "command" && rest[0] == "-p") {
			rest = rest[1:]
		}
		if strings.HasPrefix(rest[0], "-") { // it describes a command
			return texts
		}
		texts = rest
	}
	return texts
}

// follow tracks the folder that later commands run in.
func (r *reader) follow(cmd command) {
	cmd.words = cmd.words[len(cmd.words)-len(cmd.bare()):]
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
