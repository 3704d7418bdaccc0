// Package fuzzy finds the text that an edit means in a file, although the edit
// was written from memory, and rewrites it.
//
// Nine levels are tried in order, from exact to context_aware; the first that
// finds anything decides. More than one place without "all" is an error that
// names them. The last two levels are approximate: there the change from old to
// new is applied line by line to what the file holds, so that a line the edit
// does not change keeps the bytes of the file, and a line that it does change
// must be nearly the one it names.
//
// Texts have LF line ends here; File carries the ends and the byte order mark of
// a real file around them. Offsets are bytes. Nothing is read or written.
package fuzzy

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Strategy names the level that found a place.
type Strategy string

// The levels, in the order in which they are tried.
const (
	Exact                Strategy = "exact"
	LineTrimmed          Strategy = "line_trimmed"
	WhitespaceNormalized Strategy = "whitespace_normalized"
	IndentFlexible       Strategy = "indent_flexible"
	EscapeNormalized     Strategy = "escape_normalized"
	TrimmedBoundary      Strategy = "trimmed_boundary"
	UnicodeNormalized    Strategy = "unicode_normalized"
	BlockAnchor          Strategy = "block_anchor"
	ContextAware         Strategy = "context_aware"
)

// Strategies returns all levels in their order.
func Strategies() []Strategy {
	return []Strategy{
		Exact, LineTrimmed, WhitespaceNormalized, IndentFlexible, EscapeNormalized, TrimmedBoundary,
		UnicodeNormalized, BlockAnchor, ContextAware,
	}
}

// Approximate tells whether a level accepts text that is only similar.
func (s Strategy) Approximate() bool { return s == BlockAnchor || s == ContextAware }

// Span is a part of a text, in bytes.
type Span struct{ Start, End int }

// Edit replaces a span by text.
type Edit struct {
	Span
	New string
}

// Plan is what an edit comes to.
type Plan struct {
	Edits    []Edit // in order, without overlap
	Strategy Strategy
	NoChange bool     // the file holds the new text already
	Notes    []string // what was written otherwise than it was sent
}

// Spans returns where one level alone finds old. Windows of lines may overlap.
func Spans(level Strategy, text, old string) []Span {
	return newSubject(text).spans(level, old)
}

// minApplied is how long new text must be, in characters, before its presence
// means that the edit was made already.
const minApplied = 8

// Find plans the replacement of old by new in text. The error is an *Error.
func Find(text, old, new string, all bool) (Plan, error) {
	old, new = toLF(old), toLF(new)
	switch {
	case old == "":
		return Plan{}, &Error{Kind: KindEmptyOld, Message: "old_string is empty; send the text that is to be replaced"}
	case strip(old) == "":
		return Plan{}, &Error{Kind: KindEmptyOld, Message: "old_string holds only blanks and line ends; send some of the text around them as well"}
	case old == new && applied(text, new):
		return Plan{NoChange: true}, nil
	case old == new:
		return Plan{}, &Error{Kind: KindIdentical, Message: "old_string and new_string are the same; there is nothing to change"}
	}
	s := newSubject(text)
	if level, found := s.certain(old); level != "" {
		return s.plan(level, found, old, new, all)
	}
	if short, ok := strings.CutSuffix(old, "\n"); ok && strip(short) != "" {
		if level, found := s.certain(short); level != "" {
			if found = s.endingLines(found); len(found) > 0 {
				return s.planLines(level, found, short, new, all)
			}
		}
	}
	if applied(text, new) {
		return Plan{NoChange: true}, nil
	}
	if strings.HasSuffix(old, "\n") && strings.HasSuffix(new, "\n") {
		old, new = strings.TrimSuffix(old, "\n"), strings.TrimSuffix(new, "\n")
	}
	for _, level := range []Strategy{BlockAnchor, ContextAware} {
		if found := s.spans(level, old); len(found) > 0 {
			return s.planSimilar(level, found, old, new, all)
		}
	}
	return Plan{}, s.notFound(old)
}

// applied tells whether text holds new, which is long enough to be no accident.
func applied(text, new string) bool {
	return utf8.RuneCountInString(strip(new)) >= minApplied && strings.Contains(text, new)
}

// certain tries the levels that do not guess.
func (s *subject) certain(old string) (Strategy, []Span) {
	for _, level := range Strategies() {
		if level.Approximate() {
			break
		}
		if found := s.spans(level, old); len(found) > 0 {
			return level, found
		}
	}
	return "", nil
}

// endingLines keeps the spans behind which their line holds only blanks.
func (s *subject) endingLines(found []Span) []Span {
	return slices.DeleteFunc(found, func(span Span) bool {
		rest, _, _ := strings.Cut(s.text[span.End:], "\n")
		return strip(rest) != ""
	})
}

// planLines plans for a span whose old text lost its last line end: the line end
// behind the span belongs to it, when there is one.
func (s *subject) planLines(level Strategy, found []Span, old, new string, all bool) (Plan, error) {
	plan, err := s.plan(level, found, old, new, all)
	if err != nil {
		return plan, err
	}
	for i, edit := range plan.Edits {
		rest := s.text[edit.End:]
		if end := strings.IndexByte(rest, '\n'); end >= 0 {
			plan.Edits[i].End += end + 1
		} else {
			plan.Edits[i].New = strings.TrimSuffix(edit.New, "\n")
		}
	}
	return plan, nil
}

// plan makes the edits of a level that is sure of its spans.
func (s *subject) plan(level Strategy, found []Span, old, new string, all bool) (Plan, error) {
	if len(found) > 1 && !all {
		return Plan{}, s.ambiguous(found)
	}
	if level == EscapeNormalized {
		old, new = unescape(old), unescape(new)
	}
	plan := Plan{Strategy: level}
	end := 0
	for _, span := range found {
		if span.Start < end && len(plan.Edits) > 0 {
			continue // windows overlap; the first one counts
		}
		if level == WhitespaceNormalized {
			span = s.wholeIndent(span, old)
		}
		edit, notes, err := s.rewrite(level, span, old, new)
		if err != nil {
			return Plan{}, err
		}
		plan.Edits = append(plan.Edits, edit)
		plan.addNotes(notes)
		end = span.End
	}
	return plan, nil
}

func (p *Plan) addNotes(notes []string) {
	for _, note := range notes {
		if !slices.Contains(p.Notes, note) {
			p.Notes = append(p.Notes, note)
		}
	}
}

// planSimilar makes the edit of a level that guesses: one place only.
func (s *subject) planSimilar(level Strategy, found []Span, old, new string, all bool) (Plan, error) {
	if len(found) > 1 {
		err := s.ambiguous(found)
		if all {
			err.Kind = KindAmbiguousApproximate
			err.Message = "old_string is only similar to " + plural(len(found), "place") +
				", and replace_all takes exact text; send each place as the file has it. Places:\n" + err.places
		}
		return Plan{}, err
	}
	span := found[0]
	matched := s.text[span.Start:span.End]
	if err := drift(old, new, matched); err != nil {
		return Plan{}, err
	}
	new, notes := realControls(new, matched)
	merged, err := merge(level, matched, old, new, s.lineAt(span.Start))
	if err != nil {
		return Plan{}, err
	}
	return Plan{Strategy: level, Edits: []Edit{{span, merged}}, Notes: notes}, nil
}
