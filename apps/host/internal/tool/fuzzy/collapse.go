package fuzzy

import (
	"strings"
)

// whitespace is the set of characters that whitespace_normalized collapses.
const whitespace = " \t\n\r\v\f"

func isWhite(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// collapseText replaces each run of white space, including line breaks, with one space.
func collapseText(text string) string {
	chars := make([]byte, 0, len(text))
	white := false
	for i := range len(text) {
		was := white
		if white = isWhite(text[i]); !white {
			chars = append(chars, text[i])
		} else if !was {
			chars = append(chars, ' ')
		}
	}
	return string(chars)
}

// collapsedSpans treats every run of white space as one space. White space around old
// extends the match to the white space around it, including line breaks only if old has
// them there.
func (s *subject) collapsedSpans(old string) []Span {
	core := strings.Trim(old, whitespace)
	if core == "" {
		return nil
	}
	lead, trail, _ := strings.Cut(old, core)
	if strings.HasSuffix(trail, "\n") && strings.Count(trail, "\n") == 1 {
		return nil // whole lines: they are searched without their last line end
	}
	want := collapseText(core)
	found := substrings(collapseText(s.text), want)
	if len(found) == 0 {
		return nil
	}
	s.expand(found)
	kept := found[:0]
	for _, span := range found {
		start, before := s.widenLeft(span.Start, lead)
		end, behind := s.widenRight(span.End, trail)
		if before && behind {
			kept = append(kept, Span{start, end})
		}
	}
	return kept
}

// expand converts spans of the collapsed text to spans of the text. They are sorted, and
// begin and end with something other than white space.
func (s *subject) expand(found []Span) {
	at, first, last := 0, 0, 0 // the next collapsed byte, and the next start and end to find
	for i := 0; i < len(s.text) && last < len(found); i++ {
		if isWhite(s.text[i]) && i > 0 && isWhite(s.text[i-1]) {
			continue
		}
		if first < len(found) && found[first].Start == at {
			found[first].Start = i
			first++
		}
		if found[last].End-1 == at {
			found[last].End = i + 1
			last++
		}
		at++
	}
}

// widenLeft returns where a match with leading white space begins, and whether the text has
// white space there.
func (s *subject) widenLeft(start int, lead string) (int, bool) {
	if lead == "" {
		return start, true
	}
	run := len(strings.TrimRight(s.text[:start], whitespace))
	before := s.text[run:start]
	breaks := strings.Count(lead, "\n")
	if breaks == 0 {
		return run + strings.LastIndexByte(before, '\n') + 1, before != "" || start == 0
	}
	for at := len(before) - 1; at >= 0; at-- {
		if before[at] == '\n' {
			if breaks--; breaks == 0 {
				return run + at, true
			}
		}
	}
	return run, strings.Contains(before, "\n")
}

// widenRight is widenLeft for the end.
func (s *subject) widenRight(end int, trail string) (int, bool) {
	if trail == "" {
		return end, true
	}
	rest := s.text[end:]
	behind := rest[:len(rest)-len(strings.TrimLeft(rest, whitespace))]
	breaks := strings.Count(trail, "\n")
	if breaks == 0 {
		return end + len(behind) - len(strings.TrimLeft(behind, " \t")), behind != "" || rest == ""
	}
	if !strings.Contains(behind, "\n") {
		return end, false
	}
	at := 0
	for ; breaks > 0; breaks-- {
		i := strings.IndexByte(behind[at:], '\n')
		if i < 0 {
			break
		}
		at += i + 1
	}
	if !strings.HasSuffix(trail, "\n") { // include the indentation of the next line
		for at < len(behind) && isBlank(behind[at]) {
			at++
		}
	}
	return end + at, true
}

// collapsedPlaces returns where each line of old is in a span found by
// whitespace_normalized, in which line breaks may differ.
func (s *subject) collapsedPlaces(span Span, old []string) []place {
	places := make([]place, len(old))
	at := span.Start
	for i, line := range old {
		if strip(line) == "" {
			places[i] = s.blankPlace(at, span.End)
			at = places[i].End
			continue
		}
		for at < span.End && isWhite(s.text[at]) {
			at++
		}
		start := at
		for left := len(line) - countWhite(line); left > 0 && at < span.End; at++ {
			if !isWhite(s.text[at]) {
				left--
			}
		}
		if rest := strings.TrimLeft(s.text[at:], " \t"); rest == "" || rest[0] == '\n' {
			at = len(s.text) - len(rest) // trailing spaces of the line
		}
		places[i] = s.placeAt(Span{start, min(at, span.End)}, span.Start)
	}
	places[0].Start = span.Start
	places[len(old)-1].End = span.End
	if strip(old[len(old)-1]) == "" {
		places[len(old)-1].Start = max(span.Start, strings.LastIndexByte(s.text[:span.End], '\n')+1)
	}
	return places
}

func countWhite(line string) int {
	n := 0
	for i := range len(line) {
		if isWhite(line[i]) {
			n++
		}
	}
	return n
}

// blankPlace returns the blank line after an offset, or nothing if there is none.
func (s *subject) blankPlace(at, end int) place {
	_, next, more := strings.Cut(s.text[at:end], "\n")
	start := end - len(next)
	blank, _, ended := strings.Cut(next, "\n")
	if !more || !ended || strip(blank) != "" {
		return place{Span: Span{at, at}}
	}
	return place{Span: Span{start, start + len(blank)}, whole: true}
}

// placeAt extends a span to the indentation of its line, but not before limit.
func (s *subject) placeAt(span Span, limit int) place {
	line := s.starts[s.lineAt(span.Start)]
	indent := s.text[line:span.Start]
	if strings.Trim(indent, " \t") != "" {
		return place{Span: span}
	}
	span.Start = max(line, limit)
	return place{Span: span, indent: indent, whole: true}
}
