package fuzzy

import (
	"strings"
	"unicode/utf8"
)

// minShared is how many characters in a row two texts must share, between what
// they share at their ends, before that counts as unchanged.
const minShared = 4

// maxAligned bounds the line that is compared within, in characters.
const maxAligned = 1000

// keepTypeset gives the unchanged parts of new the punctuation and blanks that
// the file has in them.
func keepTypeset(matched, new string) string {
	have := strings.Split(matched, "\n")
	want := strings.Split(new, "\n")
	var old, now strings.Builder
	for _, line := range have {
		old.WriteString(strip(plain(line)) + "\n")
	}
	for _, line := range want {
		now.WriteString(strip(plain(line)) + "\n")
	}
	i, j := 0, 0
	for _, op := range lineOps(old.String(), now.String()) {
		for k := range min(len(op.old), len(op.new)) {
			line := want[j+k]
			inner := strip(line)
			at := strings.Index(line, inner)
			want[j+k] = line[:at] + keepInLine(strip(have[i+k]), inner) + line[at+len(inner):]
		}
		i, j = i+len(op.old), j+len(op.new)
	}
	return strings.Join(want, "\n")
}

// glyph is one character of the file and what it is in plain text.
type glyph struct{ shown, plain string }

func glyphs(text string) []glyph {
	var out []glyph
	for _, r := range text {
		out = append(out, glyph{string(r), plain(string(r))})
	}
	return out
}

// keepInLine compares two lines in plain text and takes the shared parts from have.
func keepInLine(have, want string) string {
	if isASCII(have) || utf8.RuneCountInString(have) > maxAligned || utf8.RuneCountInString(want) > maxAligned {
		return want
	}
	return align(glyphs(have), want)
}

// align takes what both share at the ends, then the longest part that they share
// between, and so on on both sides of it.
func align(have []glyph, want string) string {
	front, back := "", ""
	for len(have) > 0 {
		n := sharedLen(have[0], want, strings.HasPrefix)
		if n == 0 {
			break
		}
		front, have, want = front+have[0].shown, have[1:], want[n:]
	}
	for len(have) > 0 {
		last := have[len(have)-1]
		n := sharedLen(last, want, strings.HasSuffix)
		if n == 0 {
			break
		}
		back, have, want = last.shown+back, have[:len(have)-1], want[:len(want)-n]
	}
	if len(have) == 0 || want == "" {
		return front + want + back
	}
	from, to, at, length := longestShared(have, want)
	if to-from < minShared {
		return front + want + back
	}
	middle := ""
	for _, g := range have[from:to] {
		middle += g.shown
	}
	return front + align(have[:from], want[:at]) + middle + align(have[to:], want[at+length:]) + back
}

// sharedLen returns how many bytes of want the glyph covers at its end: as the
// file shows it, or in plain text.
func sharedLen(g glyph, want string, has func(s, part string) bool) int {
	switch {
	case has(want, g.shown):
		return len(g.shown)
	case has(want, g.plain):
		return len(g.plain)
	}
	return 0
}

// longestShared returns the longest run of glyphs that want holds, with its place
// there and its length in bytes.
func longestShared(have []glyph, want string) (from, to, at, length int) {
	for start := range have {
		text := ""
		for end := start; end < len(have); end++ {
			text += have[end].plain
			i := strings.Index(want, text)
			if i < 0 {
				break
			}
			if end+1-start > to-from {
				from, to, at, length = start, end+1, i, len(text)
			}
		}
	}
	return from, to, at, length
}
