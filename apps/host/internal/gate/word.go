package gate

import (
	"fmt"
	"path/filepath"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// wordKind tells how much is known of a word before it runs.
type wordKind int

const (
	literalWord wordKind = iota // all
	globWord                    // it stands for names of files
	dynamicWord                 // the value of a variable is in it
	opaqueWord                  // anything may be in it
)

// word is one word of a command, with what is known of its text: ~ and $HOME are
// replaced, quotes are gone, what is not known is left out.
type word struct {
	text string
	kind wordKind
}

func join(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

func (r *reader) word(w *syntax.Word) word {
	b := wordBuilder{r: r}
	for i, part := range w.Parts {
		b.part(part, i == 0, false)
	}
	return word{b.text.String(), b.kind}
}

// maxBraces bounds the words that lists in braces stand for in a command line.
const maxBraces = 1000

var errBraces = fmt.Errorf("a list in braces stands for more than %d words", maxBraces)

// words returns what a word stands for: more than one where it holds a list in braces,
// which bash writes out before it looks at anything else.
func (r *reader) words(w *syntax.Word) []word {
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
		all = append(all, r.word(each))
	}
	return all
}

// literally is a word as it is written, for what is not looked through any more.
func (r *reader) literally(w *syntax.Word) word { return word{w.Lit(), opaqueWord} }

// document is the text of a here-document. Where its mark is quoted nothing in it is
// replaced.
func (r *reader) document(d *syntax.Redirect) word {
	if d.Hdoc == nil {
		return word{}
	}
	mark := d.Word.Lit()
	quoted := mark == "" || strings.Contains(mark, "\\")
	b := wordBuilder{r: r}
	for _, part := range d.Hdoc.Parts {
		if text, plain := part.(*syntax.Lit); plain && quoted {
			b.text.WriteString(text.Value)
			continue
		}
		b.part(part, false, true)
	}
	return word{b.text.String(), b.kind}
}

type wordBuilder struct {
	r    *reader
	text strings.Builder
	kind wordKind
}

func (b *wordBuilder) atLeast(kind wordKind) { b.kind = max(b.kind, kind) }

func (b *wordBuilder) part(part syntax.WordPart, first, quoted bool) {
	switch p := part.(type) {
	case *syntax.Lit:
		b.literal(p.Value, first, quoted)
	case *syntax.SglQuoted:
		b.text.WriteString(p.Value)
		if p.Dollar {
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
		b.parameter(p)
	case *syntax.CmdSubst:
		b.substitution(p.Stmts, p)
	case *syntax.ProcSubst:
		b.substitution(p.Stmts, p)
	case *syntax.ExtGlob:
		b.text.WriteString("*")
		b.atLeast(globWord)
	default: // arithmetic runs what a variable says; what is new is not known
		b.atLeast(opaqueWord)
		b.r.opaque("an expression that can run commands")
		b.r.inside(part)
	}
}

// literal adds plain text: outside of quotes a backslash hides the next sign, and
// some signs stand for files.
func (b *wordBuilder) literal(text string, first, quoted bool) {
	if first && !quoted {
		switch {
		case text == "~" || strings.HasPrefix(text, "~/"):
			b.text.WriteString(b.r.home)
			text = text[1:]
		case strings.HasPrefix(text, "~"):
			b.atLeast(dynamicWord)
		}
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\\' && i+1 < len(text) && (!quoted || strings.IndexByte("$`\"\\\n", text[i+1]) >= 0):
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

func (b *wordBuilder) parameter(p *syntax.ParamExp) {
	simple := p.Param != nil && !p.Excl && !p.Length && !p.Width && p.Index == nil && p.Slice == nil && p.Repl == nil &&
		p.Names == 0 && p.Exp == nil && p.NestedParam == nil && p.Flags == nil && p.Modifiers == nil
	if !simple {
		b.atLeast(opaqueWord)
		b.r.opaque("a variable is changed or computed")
		b.r.insideParameter(p)
		return
	}
	b.atLeast(dynamicWord)
	if p.Param.Value == "HOME" {
		b.text.WriteString(b.r.home)
	}
}

// insideParameter reads what an expansion runs.
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

// substitution reads the commands whose output becomes the word.
func (b *wordBuilder) substitution(list []*syntax.Stmt, _ syntax.Node) {
	b.atLeast(dynamicWord)
	b.r.out.compound = true
	b.r.nested(list)
}

// nested reads statements that run in a process of their own.
func (r *reader) nested(list []*syntax.Stmt) {
	dir, piped := r.dir, r.piped
	r.piped = false
	r.statements(list)
	r.dir, r.piped = dir, piped
}
