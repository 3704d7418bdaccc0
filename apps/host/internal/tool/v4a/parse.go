// Package v4a parses patches that change several files and plans them, all or nothing:
//
//	*** Begin Patch
//	*** Update File: src/a.go
//	@@ func main
//	 a line that stays
//	-a line that goes
//	+a line that comes
//	*** Add File: b.txt
//	+its content
//	*** Delete File: c.txt
//	*** Move File: d.txt -> e.txt
//	*** End Patch
//
// The lines of a hunk are located by package fuzzy. The first and the last marker may be
// missing. The package writes nothing.
package v4a

import (
	"fmt"
	"regexp"
	"strings"
)

// opKind is the kind of an operation.
type opKind int

const (
	opAdd opKind = iota
	opUpdate
	opDelete
	opMove
)

// Op is one operation of a patch.
type Op struct {
	kind    opKind
	path    string
	to      string // target of a move, or of an update that moves
	content string // content of an added file
	hunks   []hunk
}

// hunk is a change of adjacent lines.
type hunk struct {
	hint  string // a line that precedes the hunk's lines
	lines []hunkLine
}

type hunkLine struct {
	mark byte // ' ', '-' or '+'
	text string
}

// headers begin operations.
const (
	headerAdd    = "*** Add File:"
	headerUpdate = "*** Update File:"
	headerDelete = "*** Delete File:"
	headerMove   = "*** Move File:"
	headerMoveTo = "*** Move to:"
	markerBegin  = "*** Begin Patch"
	markerEnd    = "*** End Patch"
	markerEOF    = "*** End of File"
)

// parser reads the lines of a patch.
type parser struct {
	lines []string
	first int // number of the first line, from 1
	at    int
}

// Parse parses a patch. Errors are *Error of KindBadPatch.
func Parse(text string) ([]Op, error) {
	p := newParser(text)
	var ops []Op
	for p.at < len(p.lines) {
		if strings.TrimSpace(p.lines[p.at]) == "" {
			p.at++
			continue
		}
		op, err := p.op()
		if err != nil {
			return nil, err
		}
		ops = append(ops, op)
	}
	if len(ops) == 0 {
		return nil, bad("the patch has no operations; it needs at least one line like %q", headerUpdate+" PATH")
	}
	return ops, nil
}

// newParser strips what surrounds the patch.
func newParser(text string) *parser {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	first := 0
	for first < len(lines) && strings.TrimSpace(lines[first]) == "" {
		first++
	}
	if first < len(lines) && strings.TrimSpace(lines[first]) == markerBegin {
		first++
	}
	end := len(lines)
	for end > first && strings.TrimSpace(lines[end-1]) == "" {
		end--
	}
	if end > first && strings.TrimSpace(lines[end-1]) == markerEnd {
		end--
	}
	return &parser{lines: lines[first:end], first: first + 1}
}

func (p *parser) errorf(format string, args ...any) error {
	return bad("line %d of the patch: %s", p.first+p.at, fmt.Sprintf(format, args...))
}

// op parses one operation, starting with its header.
func (p *parser) op() (Op, error) {
	line := strings.TrimSpace(p.lines[p.at])
	for _, known := range []struct {
		header string
		kind   opKind
	}{{headerAdd, opAdd}, {headerUpdate, opUpdate}, {headerDelete, opDelete}, {headerMove, opMove}} {
		rest, found := strings.CutPrefix(line, known.header)
		if !found {
			continue
		}
		op := Op{kind: known.kind, path: strings.TrimSpace(rest)}
		if op.kind == opMove {
			from, to, arrow := strings.Cut(rest, " -> ")
			if !arrow || strings.TrimSpace(to) == "" {
				return op, p.errorf("a move is written %q", headerMove+" FROM -> TO")
			}
			op.path, op.to = strings.TrimSpace(from), strings.TrimSpace(to)
		}
		if op.path == "" {
			return op, p.errorf("the path is missing")
		}
		p.at++
		return p.body(op)
	}
	return Op{}, p.errorf("%q is not an operation; the operations are Add File, Update File, Delete File and Move File", line)
}

func (p *parser) body(op Op) (Op, error) {
	switch op.kind {
	case opAdd:
		return p.added(op)
	case opUpdate:
		return p.updated(op)
	}
	return op, nil
}

func (p *parser) added(op Op) (Op, error) {
	var content strings.Builder
	for ; p.at < len(p.lines); p.at++ {
		line := p.lines[p.at]
		if text, ok := strings.CutPrefix(line, "+"); ok {
			content.WriteString(text + "\n")
			continue
		}
		if trimmed := strings.TrimSpace(line); trimmed != "" && !strings.HasPrefix(trimmed, "***") {
			return op, p.errorf("every line of an added file begins with +")
		} else if trimmed != "" && trimmed != markerEOF {
			break
		}
	}
	op.content = content.String()
	return op, nil
}

// unifiedRange matches what unified diffs write after @@; it is ignored.
var unifiedRange = regexp.MustCompile(`^-\d+(,\d+)? \+\d+(,\d+)?( @@)?`)

func (p *parser) updated(op Op) (Op, error) {
	if p.at < len(p.lines) {
		if to, ok := strings.CutPrefix(p.lines[p.at], headerMoveTo); ok {
			if op.to = strings.TrimSpace(to); op.to == "" {
				return op, p.errorf("the path is missing")
			}
			p.at++
		}
	}
	open := false
	for ; p.at < len(p.lines); p.at++ {
		line := p.lines[p.at]
		if hint, ok := strings.CutPrefix(line, "@@"); ok {
			hint = unifiedRange.ReplaceAllString(strings.TrimSpace(hint), "")
			op.hunks = append(op.hunks, hunk{hint: strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(hint), "@@"))})
			open = true
			continue
		}
		if strings.HasPrefix(line, "*** ") && strings.TrimSpace(line) != markerEOF {
			break
		}
		if !open {
			if strings.TrimSpace(line) == "" {
				continue
			}
			op.hunks = append(op.hunks, hunk{}) // the first @@ may be missing
			open = true
		}
		if err := p.hunkLine(&op.hunks[len(op.hunks)-1], line); err != nil {
			return op, err
		}
	}
	op.hunks = tidy(op.hunks)
	if len(op.hunks) == 0 && op.to == "" {
		return op, p.errorf("the update of %s has no hunks; write %q and then lines that begin with a space, - or +", op.path, "@@")
	}
	return op, nil
}

func (p *parser) hunkLine(h *hunk, line string) error {
	switch {
	case line == "":
		h.lines = append(h.lines, hunkLine{0, ""})
	case strings.TrimSpace(line) == markerEOF && line[0] == '*', line[0] == '\\':
	case line[0] == ' ', line[0] == '-', line[0] == '+':
		h.lines = append(h.lines, hunkLine{line[0], line[1:]})
	default:
		return p.errorf("%q does not begin with a space, - or +", line)
	}
	return nil
}

// tidy drops hunks without lines, and empty lines at the end of a hunk. Other empty lines
// are blank lines of the file.
func tidy(hunks []hunk) []hunk {
	var out []hunk
	for _, h := range hunks {
		for len(h.lines) > 0 && h.lines[len(h.lines)-1].mark == 0 {
			h.lines = h.lines[:len(h.lines)-1]
		}
		for i := range h.lines {
			if h.lines[i].mark == 0 {
				h.lines[i].mark = ' '
			}
		}
		if len(h.lines) > 0 {
			out = append(out, h)
		}
	}
	return out
}

// Paths returns the files that the operation names.
func (o Op) Paths() []string {
	if o.to == "" {
		return []string{o.path}
	}
	return []string{o.path, o.to}
}
