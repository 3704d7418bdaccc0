package fuzzy

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Kind tells errors apart.
type Kind string

// Kinds of errors.
const (
	KindEmptyOld             Kind = "empty_old"
	KindIdentical            Kind = "identical"
	KindNotFound             Kind = "not_found"
	KindAmbiguous            Kind = "ambiguous"
	KindAmbiguousApproximate Kind = "ambiguous_approximate"
	KindApproximateConflict  Kind = "approximate_conflict"
	KindEscapeDrift          Kind = "escape_drift"
)

// Error says why there is no plan, in words that a model can act on.
type Error struct {
	Kind    Kind
	Message string
	Matches int  // how many places there are, when there are too many
	Similar bool // the message shows lines that may have been meant
	Blanks  bool // the message shows that only blanks at the beginning differ

	places string
}

func (e *Error) Error() string { return e.Message }

// Bounds of what an error shows.
const (
	maxPlaces     = 5
	maxPlaceChars = 80
	maxExcerpts   = 3
	excerptAround = 2   // lines before and behind
	maxHintChars  = 200 // of a line that is compared or shown
)

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func (s *subject) ambiguous(found []Span) *Error {
	var b strings.Builder
	for i, span := range found[:min(len(found), maxPlaces)] {
		if i > 0 {
			b.WriteByte('\n')
		}
		line := s.lineAt(span.Start)
		fmt.Fprintf(&b, "  L%d: %s", line+1, cutRunes(strip(s.lines[line]), maxPlaceChars))
	}
	if more := len(found) - maxPlaces; more > 0 {
		fmt.Fprintf(&b, "\n  ... and %d more", more)
	}
	places := b.String()
	return &Error{Kind: KindAmbiguous, Matches: len(found), places: places, Message: fmt.Sprintf(
		"old_string is found %d times; add lines around it until it is unique, or set replace_all. Places:\n%s", len(found), places)}
}

func cutRunes(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return string([]rune(text)[:n])
}

// notFound shows what may have been meant.
func (s *subject) notFound(old string) *Error {
	e := &Error{Kind: KindNotFound, Message: "old_string is not in the file, not even nearly"}
	wanted := firstLine(old)
	best := s.nearest(strip(wanted))
	if len(best) == 0 {
		e.Message += "; read the file again and send the text as it stands there"
		return e
	}
	var b strings.Builder
	b.WriteString(e.Message + ". Did you mean one of these places?\n")
	for i, line := range best {
		if i > 0 {
			b.WriteString("  ---\n")
		}
		b.WriteString(s.excerpt(line))
	}
	e.Message, e.Similar = strings.TrimSuffix(b.String(), "\n"), true
	e.compareBlanks(best[0], s.lines[best[0]], wanted)
	return e
}

// compareBlanks shows how a line that is the same otherwise is indented.
func (e *Error) compareBlanks(line int, has, sent string) {
	if strip(has) == strip(sent) && indentOf(has) != indentOf(sent) {
		e.Blanks = true
		e.Message += fmt.Sprintf("\nLine %d differs in the blanks at its beginning (→ is a tab, · a space):\n  file has: %s\n  you sent: %s",
			line+1, showBlanks(has), showBlanks(sent))
	}
}

// firstLine returns the first line that is not blank.
func firstLine(text string) string {
	for line := range strings.Lines(text) {
		if strip(line) != "" {
			return strings.TrimSuffix(line, "\n")
		}
	}
	return ""
}

// nearest returns the lines that are most like wanted, best first.
func (s *subject) nearest(wanted string) []int {
	type candidate struct{ line, distance, size int }
	want := newPattern(cutRunes(wanted, maxHintChars))
	var found []candidate
	lines := s.measured()
	for i := range lines {
		if lines[i].size == 0 || lines[i].size > maxHintChars {
			continue
		}
		size := max(want.size, lines[i].size)
		limit := (7*size - 1) / 10 // more than 30 % alike
		if d, ok := want.within(&lines[i], limit); ok {
			found = append(found, candidate{i, d, size})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return a.distance*b.size - b.distance*a.size })
	var best []int
	for _, c := range found {
		if near := slices.ContainsFunc(best, func(l int) bool { return max(l-c.line, c.line-l) <= 2*excerptAround }); near {
			continue // shown with a better one
		}
		if best = append(best, c.line); len(best) == maxExcerpts {
			break
		}
	}
	return best
}

func (s *subject) excerpt(line int) string {
	var b strings.Builder
	for i := max(0, line-excerptAround); i <= min(len(s.lines)-1, line+excerptAround); i++ {
		if i == len(s.lines)-1 && s.lines[i] == "" {
			break // what follows the last line end is no line
		}
		fmt.Fprintf(&b, "%4d| %s\n", i+1, cutRunes(s.lines[i], maxHintChars))
	}
	return b.String()
}

func showBlanks(line string) string {
	indent := indentOf(line)
	return strings.NewReplacer(" ", "·", "\t", "→").Replace(indent) + cutRunes(line[len(indent):], maxPlaceChars)
}
