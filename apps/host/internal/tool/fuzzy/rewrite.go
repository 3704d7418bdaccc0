package fuzzy

import (
	"fmt"
	"strings"
)

// place is the position of a line of old in the text.
type place struct {
	Span
	indent string // of its line there, if the line is whole
	whole  bool   // only white space precedes it on its line
}

// places returns the position of each line of old in a span.
func (s *subject) places(level Strategy, span Span, old []string) []place {
	if level == WhitespaceNormalized {
		return s.collapsedPlaces(span, old)
	}
	places := make([]place, 0, len(old))
	at := span.Start
	for line := range strings.SplitSeq(s.text[span.Start:span.End], "\n") {
		p := place{Span: Span{at, at + len(line)}}
		if before := s.text[s.starts[s.lineAt(at)]:at]; strings.Trim(before, " \t") == "" {
			p.indent, p.whole = before+indentOf(line), true
		}
		places = append(places, p)
		at += len(line) + 1
	}
	return places
}

// withIndent extends a span that begins after the indentation of its line to include all of
// it.
func (s *subject) withIndent(span Span) Span {
	if line := s.starts[s.lineAt(span.Start)]; strings.Trim(s.text[line:span.Start], " \t") == "" {
		span.Start = line
	}
	return span
}

// rewriter writes the new text of one span line by line: a line that the edit does not
// change keeps the bytes of the file, the others get its indentation.
type rewriter struct {
	*subject
	level  Strategy
	span   Span
	old    []string
	places []place // of each line of old
	new    []string
	shown  []string // new as it will be written, except for the indentation
	depths *indents

	out    []string
	mapped bool // a line was written with a different indentation than it was sent with
}

// rewrite makes the edit of one span.
func (s *subject) rewrite(level Strategy, span Span, old, new string) (edit Edit, mapped bool, notes []string, err error) {
	matched := s.text[span.Start:span.End]
	if level == Exact {
		new, notes = realControls(new, matched)
		return Edit{span, new}, false, notes, nil
	}
	if err := drift(old, new, matched); err != nil {
		return Edit{}, false, nil, err
	}
	span = s.withIndent(span)
	shown, notes := realControls(new, matched)
	if level == UnicodeNormalized {
		shown = keepTypeset(matched, shown)
	}
	r := &rewriter{subject: s, level: level, span: span,
		old: strings.Split(old, "\n"), new: strings.Split(new, "\n"), shown: strings.Split(shown, "\n")}
	r.places = s.places(level, span, r.old)
	r.depths = newIndents(s, r.old, r.new)
	r.learn()
	if err := r.run(lineOps(old+"\n", new+"\n")); err != nil {
		return Edit{}, false, nil, err
	}
	return Edit{span, strings.Join(r.out, "\n")}, r.mapped, notes, nil
}

// learn compares the indentation of old with that of the file. If lines only need to be
// similar, those that differ are ignored, provided others are equal.
func (r *rewriter) learn() {
	sure := func(i int) bool { return true }
	if r.level.Approximate() {
		like := func(i int) bool {
			return alike(r.old[i], r.text[r.places[i].Start:r.places[i].End])
		}
		for i := range r.old {
			if strip(r.old[i]) != "" && like(i) {
				sure = like
				break
			}
		}
	}
	for i, line := range r.old {
		if strip(line) != "" && r.places[i].whole && sure(i) {
			r.depths.learn(indentOf(line), r.places[i].indent)
		}
	}
}

func (r *rewriter) run(ops []lineOp) error {
	at, line := 0, 0 // line numbers in old and in new
	for _, op := range ops {
		if op.equal {
			last := at + len(op.old) - 1
			r.out = append(r.out, r.text[r.places[at].Start:r.places[last].End])
			for ; at <= last; at++ {
				r.wrote(r.old[at], r.places[at])
			}
			line += len(op.new)
			continue
		}
		if r.level == ContextAware {
			if err := r.conflict(at, len(op.old)); err != nil {
				return err
			}
		}
		for k := range op.new {
			r.changed(line+k, at, k < len(op.old), at+k)
		}
		at, line = at+len(op.old), line+len(op.new)
	}
	return nil
}

func (r *rewriter) wrote(line string, p place) {
	if strip(line) != "" && p.whole {
		r.depths.wrote(indentOf(line), p.indent)
	}
}

// changed writes a line of new. It replaces line number replaced of old, or is inserted
// after other lines.
func (r *rewriter) changed(line, from int, replaces bool, replaced int) {
	text := r.shown[line]
	switch {
	case line == 0 && !r.places[0].whole: // begins inside a line
	case strip(text) == "" && (line < len(r.new)-1 || r.endsLine()):
		text = ""
	case strip(text) != "":
		depth := indentOf(r.new[line])
		file := r.depths.of(depth, func() (string, bool) { return r.near(depth, from, replaces, replaced) })
		r.depths.wrote(depth, file)
		r.mapped = r.mapped || file != depth
		text = file + text[len(indentOf(text)):]
	}
	r.out = append(r.out, text)
}

// near finds the indentation for a line whose depth maps to several in the file: that of
// the line it replaces, or else of the previous line, or else of the next.
func (r *rewriter) near(depth string, from int, replaces bool, replaced int) (string, bool) {
	if replaces && indentOf(r.old[replaced]) == depth && r.places[replaced].whole && strip(r.old[replaced]) != "" {
		return r.places[replaced].indent, true
	}
	if file, ok := r.depths.last[depth]; ok {
		return file, true
	}
	for i := from; i < len(r.old); i++ {
		if indentOf(r.old[i]) == depth && r.places[i].whole && strip(r.old[i]) != "" {
			return r.places[i].indent, true
		}
	}
	return "", false
}

// endsLine reports whether the span ends with its line.
func (r *rewriter) endsLine() bool {
	return r.span.End == len(r.text) || r.text[r.span.End] == '\n'
}

// conflict refuses to change n lines of the file, starting at at, that differ from those
// that the edit names.
func (r *rewriter) conflict(at, n int) error {
	first := r.lineAt(r.span.Start)
	for i := at; i < at+n; i++ {
		has := r.text[r.places[i].Start:r.places[i].End]
		if alike(r.old[i], has) {
			continue
		}
		err := &Error{Kind: KindApproximateConflict, Similar: true, Message: fmt.Sprintf(
			"old_string is only similar to lines %d to %d, and line %d, which the edit would change, is different there:\n  file has: %s\n  you sent: %s\nSend old_string as it is in the file",
			first+1, first+len(r.places), first+i+1, cutRunes(has, maxHintChars), cutRunes(r.old[i], maxHintChars))}
		err.compareBlanks(first, r.text[r.places[0].Start:r.places[0].End], r.old[0])
		return err
	}
	return nil
}

// drift refuses wrongly escaped quotes: \' and \" that both texts contain and the file does
// not.
func drift(old, new, matched string) error {
	for _, escaped := range []string{`\'`, `\"`} {
		if strings.Contains(old, escaped) && strings.Contains(new, escaped) && !strings.Contains(matched, escaped) {
			return &Error{Kind: KindEscapeDrift, Message: fmt.Sprintf(
				"old_string and new_string contain %s, but the file has the quote without a backslash; send both without the backslash", escaped)}
		}
	}
	return nil
}

// realControls converts the two-character sequences \t and \r to control characters if the
// replaced text has real ones and no such sequences.
func realControls(new, matched string) (string, []string) {
	var notes []string
	for _, c := range []struct{ pair, char, name string }{{`\t`, "\t", "tab"}, {`\r`, "\r", "carriage return"}} {
		if strings.Contains(new, c.pair) && strings.Contains(matched, c.char) && !strings.Contains(matched, c.pair) {
			new = strings.ReplaceAll(new, c.pair, c.char)
			notes = append(notes, fmt.Sprintf("%s in new_string was written as a real %s, as in the file", c.pair, c.name))
		}
	}
	return new, notes
}
