package fuzzy

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Kind identifies a class of errors.
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

// Error explains why there is no plan, in words that a model can act on.
type Error struct {
	Kind    Kind
	Message string
	Matches int  // number of places, if there are too many
	Similar bool // the message shows lines that may have been meant
	Blanks  bool // the message shows that only the indentation differs

	places string
}

func (e *Error) Error() string { return e.Message }

// Bounds of what an error shows.
const (
	maxPlaces     = 5
	maxPlaceChars = 80
	maxExcerpts   = 3
	excerptAround = 2   // lines before and after
	maxHintChars  = 200 // of a compared or displayed line
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

// notFound shows which lines may have been meant.
func (s *subject) notFound(old string) *Error {
	e := &Error{Kind: KindNotFound, Message: "the file contains neither old_string nor anything similar"}
	wanted := firstLine(old)
	best := s.nearest(strip(wanted))
	if len(best) == 0 {
		e.Message += "; read the file again and copy the text exactly"
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

// compareBlanks shows how the indentation of an otherwise equal line differs.
func (e *Error) compareBlanks(line int, has, sent string) {
	if strip(has) == strip(sent) && indentOf(has) != indentOf(sent) {
		e.Blanks = true
		e.Message += fmt.Sprintf("\nLine %d differs in its indentation (→ is a tab, · a space):\n  file has: %s\n  you sent: %s",
			line+1, showBlanks(has), showBlanks(sent))
	}
}

// firstLine returns the first non-blank line.
func firstLine(text string) string {
	for line := range strings.Lines(text) {
		if strip(line) != "" {
			return strings.TrimSuffix(line, "\n")
		}
	}
	return ""
}

// maxNear bounds how many lines are compared to find the nearest. Those with the most
// letters in common come first.
const maxNear = 200

// nearest returns the lines most similar to wanted, best first.
func (s *subject) nearest(wanted string) []int {
	type candidate struct{ line, distance, size int }
	want := measure(cutRunes(wanted, maxHintChars))
	var found []candidate
	lines := s.measured()
	for i := range lines {
		if lines[i].size > 0 && lines[i].size <= maxHintChars {
			found = append(found, candidate{i, want.letters.apart(&lines[i].letters), max(want.size, lines[i].size)})
		}
	}
	nearer := func(a, b candidate) int { return a.distance*b.size - b.distance*a.size }
	slices.SortStableFunc(found, nearer)
	likely := found[:min(len(found), maxNear)]
	found = nil
	for _, c := range likely {
		limit := (7*c.size - 1) / 10 // more than 30% alike
		if d, ok := want.within(&lines[c.line], limit); ok {
			found = append(found, candidate{c.line, d, c.size})
		}
	}
	slices.SortStableFunc(found, nearer)
	var best []int
	for _, c := range found {
		if near := slices.ContainsFunc(best, func(l int) bool { return max(l-c.line, c.line-l) <= 2*excerptAround }); near {
			continue // already shown with a better match
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
			break // nothing follows the last line end
		}
		fmt.Fprintf(&b, "%4d| %s\n", i+1, cutRunes(s.lines[i], maxHintChars))
	}
	return b.String()
}

func showBlanks(line string) string {
	indent := indentOf(line)
	return strings.NewReplacer(" ", "·", "\t", "→").Replace(indent) + cutRunes(line[len(indent):], maxPlaceChars)
}
