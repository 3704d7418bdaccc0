package permission

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// documentsAgree reports whether bash certainly ends the here-documents of a text where the
// parser does. In a substitution, bash 5.2 also ends one at a line that only begins with the
// delimiter, if a parenthesis follows: in "E); b" the substitution ends, and b runs.
func documentsAgree(text string, file *syntax.File) bool {
	agree := true
	syntax.Walk(file, func(n syntax.Node) bool {
		if d, ok := n.(*syntax.Redirect); ok && d.Hdoc != nil {
			start, end := int(d.Hdoc.Pos().Offset()), int(d.Hdoc.End().Offset())
			delimiter, known := delimiterOf(d.Word)
			tabs := ""
			if d.Op == syntax.DashHdoc {
				tabs = "\t"
			}
			agree = agree && known && start <= end && end <= len(text) && !endsEarly(text[start:end], delimiter, tabs)
		}
		return agree
	})
	return agree
}

// endsEarly reports whether a line of a here-document only begins with its delimiter, and a
// parenthesis follows there or later. tabs are dropped from the lines of <<-.
func endsEarly(body, delimiter, tabs string) bool {
	for line := range strings.Lines(body) {
		switch line = strings.TrimLeft(strings.TrimSuffix(line, "\n"), tabs); {
		case line == delimiter: // body may include the last line
			return false
		case strings.HasPrefix(line, delimiter):
			return strings.Contains(body, ")")
		}
	}
	return false
}

// delimiterOf returns the delimiter of a here-document without its quotes.
func delimiterOf(w *syntax.Word) (delimiter string, known bool) {
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			delimiter += strings.ReplaceAll(p.Value, `\`, "")
		case *syntax.SglQuoted:
			if delimiter += p.Value; p.Dollar {
				return "", false
			}
		case *syntax.DblQuoted:
			inner, plain := delimiterOf(&syntax.Word{Parts: p.Parts})
			if delimiter += inner; !plain && len(p.Parts) > 0 || p.Dollar {
				return "", false
			}
		default:
			return "", false
		}
	}
	return delimiter, delimiter != ""
}
