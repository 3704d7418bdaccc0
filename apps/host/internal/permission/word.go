package permission

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// wordKind is how much of a word is known before it runs.
type wordKind int

const (
	literalWord wordKind = iota // everything is known
	globWord                    // it expands to names of files
	dynamicWord                 // it contains the value of a variable
	opaqueWord                  // it may contain anything
)

// word is one word of a command, with what is known of its text: ~ and $HOME are replaced,
// quotes are removed, and unknown parts are left out.
type word struct {
	text    string
	kind    wordKind
	fetched bool // it contains a command that downloads
}

func join(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

func (r *reader) word(w *syntax.Word) word {
	b := wordBuilder{r: r, escapes: "$`\"\\\n"}
	if unclearTilde(w.Parts) {
		b.atLeast(dynamicWord)
	}
	for i, part := range w.Parts {
		b.part(part, i == 0, false)
	}
	return word{b.text.String(), b.kind, b.fetched}
}

// assignment matches the begin of an argument in which bash expands ~ as it does in an
// assignment: if=~/x.
var assignment = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(\[.*\])?\+?=`)

// unclearTilde reports whether it depends on more than the first part of a word whether bash
// expands a ~ in it: the name after ~ may continue in the next part.
func unclearTilde(parts []syntax.WordPart) bool {
	if len(parts) == 0 {
		return false
	}
	first, plain := parts[0].(*syntax.Lit)
	if !plain {
		return false
	}
	if assignment.MatchString(first.Value) {
		return slices.ContainsFunc(parts, func(part syntax.WordPart) bool {
			text, plain := part.(*syntax.Lit)
			return plain && strings.Contains(text.Value, "~")
		})
	}
	return len(parts) > 1 && strings.HasPrefix(first.Value, "~") && !strings.Contains(first.Value, "/")
}

// maxBraces bounds the words that the braces of a command line expand to.
const maxBraces = 1000

var errBraces = fmt.Errorf("a brace list expands to more than %d words", maxBraces)

// words expands a word. A brace list yields more than one word; bash expands it before
// anything else.
func (r *reader) words(w *syntax.Word) []word {
	if w.Lit() == "{}" { // stays literal
		return []word{{text: "{}"}}
	}
	split := *w
	if !syntax.SplitBraces(&split) {
		return []word{r.word(w)}
	}
	var all []word
	for each, err := range expand.BracesSeq(nil, &split) {
		if r.out.spread++; err != nil || r.out.spread > maxBraces {
			r.fail(errBraces)
			return append(all, r.literally(w))
		}
		if w, empty := r.braced(each); !empty {
			all = append(all, w)
		}
	}
	return all
}

// braced reads a word that braces were expanded to. Bash parses its variables only now, so one
// may have become longer than the parser saw: $A{b,c} is $Ab and $Ac. An empty word without
// quotes is none.
func (r *reader) braced(w *syntax.Word) (read word, empty bool) {
	joined, formed := &syntax.Word{}, false
	var last syntax.WordPart
	for _, part := range w.Parts {
		text, plain := part.(*syntax.Lit)
		if plain && text.Value == "" {
			continue
		}
		if variable, ok := last.(*syntax.ParamExp); ok && plain && variable.Short && text.Value[0] != '/' {
			formed = true
		}
		formed = formed || plain && strings.ContainsAny(text.Value, `$\`)
		if before, ok := last.(*syntax.Lit); ok && plain {
			part = &syntax.Lit{Value: before.Value + text.Value}
			joined.Parts = joined.Parts[:len(joined.Parts)-1]
		}
		joined.Parts, last = append(joined.Parts, part), part
	}
	if read = r.word(joined); formed {
		read.kind = max(read.kind, dynamicWord)
	}
	return read, last == nil
}

// literally returns a word as written, if it is not analyzed further.
func (r *reader) literally(w *syntax.Word) word { return word{text: w.Lit(), kind: opaqueWord} }

// document returns the text of a here-document. If its delimiter is quoted, nothing is
// expanded.
func (r *reader) document(d *syntax.Redirect) word {
	if d.Hdoc == nil {
		return word{}
	}
	mark := d.Word.Lit()
	quoted := mark == "" || strings.Contains(mark, "\\")
	b := wordBuilder{r: r, escapes: "$`\\\n"} // a quote is plain text there
	for _, part := range d.Hdoc.Parts {
		if text, plain := part.(*syntax.Lit); plain && quoted {
			b.text.WriteString(text.Value)
			continue
		}
		b.part(part, false, true)
	}
	text := b.text.String()
	if d.Op == syntax.DashHdoc {
		text = indented.ReplaceAllString(text, "")
	}
	return word{text, b.kind, b.fetched}
}

// indented matches the tabs that <<- strips from each line.
var indented = regexp.MustCompile(`(?m)^\t+`)

type wordBuilder struct {
	r       *reader
	escapes string // what a backslash escapes in quotes
	text    strings.Builder
	kind    wordKind
	fetched bool
}

func (b *wordBuilder) atLeast(kind wordKind) { b.kind = max(b.kind, kind) }

func (b *wordBuilder) part(part syntax.WordPart, first, quoted bool) {
	switch p := part.(type) {
	case *syntax.Lit:
		b.literal(p.Value, first, quoted)
	case *syntax.SglQuoted:
		text, known := p.Value, true
		if p.Dollar {
			text, known = ansiC(text)
		}
		if b.text.WriteString(text); !known {
			b.atLeast(dynamicWord)
		}
	case *syntax.DblQuoted:
		if p.Dollar {
			b.atLeast(dynamicWord)
		}
		for _, inner := range p.Parts {
			b.part(inner, false, true)
		}
	case *syntax.ParamExp:
		b.parameter(p, quoted)
	case *syntax.CmdSubst:
		b.substitution(p.Stmts, quoted, false)
	case *syntax.ProcSubst:
		b.substitution(p.Stmts, false, p.Op == syntax.CmdOut)
	case *syntax.ExtGlob:
		b.text.WriteString("*")
		b.atLeast(dynamicWord)
	default: // arithmetic can run what a variable contains; new kinds of node are unknown
		b.atLeast(opaqueWord)
		b.r.opaque("an expression that can run commands")
		b.r.inside(part)
	}
}

// literal adds plain text. Outside of quotes a backslash escapes the next character, and
// some characters match files.
func (b *wordBuilder) literal(text string, first, quoted bool) {
	if first && !quoted && strings.HasPrefix(text, "~") {
		folder, rest, known := b.r.tilde(text)
		b.text.WriteString(folder)
		if text = rest; !known {
			b.atLeast(dynamicWord)
		}
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\\' && i+1 < len(text) && (!quoted || strings.IndexByte(b.escapes, text[i+1]) >= 0):
			i++
			if text[i] == '\n' {
				continue
			}
			c = text[i]
		case !quoted && strings.IndexByte("*?[{", c) >= 0:
			b.atLeast(globWord)
		}
		b.text.WriteByte(c)
	}
}

func (b *wordBuilder) parameter(p *syntax.ParamExp, quoted bool) {
	simple := p.Param != nil && !p.Excl && !p.Length && !p.Width && p.Index == nil && p.Slice == nil && p.Repl == nil &&
		p.Names == 0 && p.Exp == nil && p.NestedParam == nil && p.Flags == nil && p.Modifiers == nil
	if !simple {
		b.atLeast(opaqueWord)
		b.r.opaque("a variable is changed or computed")
		b.r.insideParameter(p)
		return
	}
	value, known := b.r.variable(p.Param.Value)
	b.text.WriteString(value.text)
	b.atLeast(value.kind)
	if !known || !quoted && splits(value) {
		b.atLeast(dynamicWord)
	}
}

// splits reports whether an unquoted value is more or less than one word.
func splits(value word) bool {
	return value.text == "" || value.kind != literalWord || strings.ContainsAny(value.text, " \t\n*?[\\")
}

// insideParameter reads the commands that an expansion runs.
func (r *reader) insideParameter(p *syntax.ParamExp) {
	syntax.Walk(p, func(n syntax.Node) bool {
		if s, ok := n.(*syntax.Stmt); ok {
			r.out.compound = true
			r.nested([]*syntax.Stmt{s})
			return false
		}
		return true
	})
}

// substitution reads the commands whose output becomes the word. sink reports that they
// read what is written to the word instead.
func (b *wordBuilder) substitution(list []*syntax.Stmt, quoted, sink bool) {
	text, known := b.r.output(list)
	if b.text.WriteString(text); !known || !quoted && splits(word{text: text}) {
		b.atLeast(dynamicWord)
	}
	b.r.out.compound = true
	first, from := len(b.r.out.commands), b.r.from
	b.r.from = origin{sink: sink}
	if sink {
		b.r.from.source = from.source
	}
	b.r.nested(list)
	b.r.from = from
	b.fetched = b.fetched || slices.ContainsFunc(b.r.out.commands[first:], downloads)
}

// nested reads statements that run in a separate process.
func (r *reader) nested(list []*syntax.Stmt) {
	dir, piped := r.dir, r.piped
	r.piped = false
	r.statements(list)
	r.dir, r.piped = dir, piped
}
