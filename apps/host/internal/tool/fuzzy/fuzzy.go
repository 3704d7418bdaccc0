// Package fuzzy finds the text that an edit refers to in a file, even if the edit was
// written from memory, and rewrites it.
//
// Nine levels are tried in order, from exact to context_aware; the first that finds
// anything decides. More than one place without "all" is an error that names them. At every
// level except exact, the change from old to new is applied line by line to the content of
// the file: a line that the edit does not change keeps the bytes of the file, and the
// others get the file's indentation. The last two levels are approximate; at the last one,
// a line that the edit changes must be nearly the one that it names.
//
// Texts have LF line ends in this package; File handles the line ends and the byte order
// mark of real files. Offsets are in bytes. The package does no I/O.
package fuzzy

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Strategy is the level that found a place.
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

// Approximate reports whether a level accepts text that is only similar.
func (s Strategy) Approximate() bool { return s == BlockAnchor || s == ContextAware }

// Span is a range of a text, in bytes.
type Span struct{ Start, End int }

// Edit replaces a span with text.
type Edit struct {
	Span
	New string
}

// Plan is the result of planning an edit.
type Plan struct {
	Edits    []Edit // sorted, without overlap
	Strategy Strategy
	NoChange bool // the file already contains the new text
	// Reindented reports that lines were written with a different indentation than they
	// were sent with.
	Reindented bool
	Notes      []string // other differences between the sent and the written text
}

// Spans returns the places where a single level finds old. Windows of lines may overlap.
func Spans(level Strategy, text, old string) []Span {
	return newSubject(text).spans(level, old)
}

// minApplied is the minimum length of new text, in characters, for its presence to mean
// that the edit was already made.
const minApplied = 8

// Find plans the replacement of old with new in text. The error is an *Error.
func Find(text, old, new string, all bool) (Plan, error) {
	old, new = toLF(old), toLF(new)
	switch {
	case old == "":
		return Plan{}, &Error{Kind: KindEmptyOld, Message: "old_string is empty; send the text to replace"}
	case strip(old) == "":
		return Plan{}, &Error{Kind: KindEmptyOld, Message: "old_string contains only spaces and line ends; send some of the text around them as well"}
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

// applied reports whether text contains new, and new is long enough for that not to be a
// coincidence.
func applied(text, new string) bool {
	return utf8.RuneCountInString(strip(new)) >= minApplied && strings.Contains(text, new)
}

// certain tries the levels that are not approximate.
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

// endingLines keeps the spans that are followed only by white space on their line.
func (s *subject) endingLines(found []Span) []Span {
	return slices.DeleteFunc(found, func(span Span) bool {
		rest, _, _ := strings.Cut(s.text[span.End:], "\n")
		return strip(rest) != ""
	})
}

// planLines plans for spans whose old text lost its last line end: a line end after the
// span belongs to it.
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

// plan makes the edits of a level that is not approximate.
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
			continue // windows overlap; the first one wins
		}
		edit, mapped, notes, err := s.rewrite(level, span, old, new)
		if err != nil {
			return Plan{}, err
		}
		plan.Reindented = plan.Reindented || mapped
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

// planSimilar makes the edit of an approximate level, in one place only.
func (s *subject) planSimilar(level Strategy, found []Span, old, new string, all bool) (Plan, error) {
	if len(found) > 1 {
		err := s.ambiguous(found)
		if all {
			err.Kind = KindAmbiguousApproximate
			err.Message = "old_string is only similar to " + plural(len(found), "place") +
				", but replace_all needs exact text; send each place as it is in the file. Places:\n" + err.places
		}
		return Plan{}, err
	}
	edit, mapped, notes, err := s.rewrite(level, found[0], old, new)
	if err != nil {
		return Plan{}, err
	}
	return Plan{Strategy: level, Edits: []Edit{edit}, Reindented: mapped, Notes: notes}, nil
}
