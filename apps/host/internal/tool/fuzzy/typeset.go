package fuzzy

import (
	"strings"
	"unicode/utf8"
)

// minShared is how many consecutive characters two texts must share, between the parts
// shared at their ends, for that to count as unchanged.
const minShared = 4

// maxAligned bounds the length of a compared line, in characters.
const maxAligned = 400

// keepTypeset gives the unchanged parts of new the punctuation and spaces of the file.
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

// glyph is one character of the file and its plain text.
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
	if isASCII(have) || !utf8.ValidString(have) || !utf8.ValidString(want) || utf8.RuneCountInString(have) > maxAligned || utf8.RuneCountInString(want) > maxAligned {
		return want
	}
	return align(glyphs(have), want)
}

// align takes the parts shared at both ends, then the longest part shared in between, and
// recurses on both sides of it.
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

// sharedLen returns how many bytes of want the glyph covers at its end: as the file has it,
// or in plain text.
func sharedLen(g glyph, want string, has func(s, part string) bool) int {
	switch {
	case has(want, g.shown):
		return len(g.shown)
	case has(want, g.plain):
		return len(g.plain)
	}
	return 0
}

// longestShared returns the longest run of whole glyphs contained in want, with its
// position there and its length in bytes.
func longestShared(have []glyph, want string) (from, to, at, length int) {
	var plainText []rune
	var owner []int // the glyph that each character belongs to
	for i, g := range have {
		for _, r := range g.plain {
			plainText, owner = append(plainText, r), append(owner, i)
		}
	}
	wanted := []rune(want)
	best, end, wantEnd := 0, 0, 0
	row := make([]int, len(wanted)+1) // length of the shared run that ends here
	for i, r := range plainText {
		diagonal := 0
		for j, w := range wanted {
			above := row[j+1]
			row[j+1] = 0
			if r == w {
				if row[j+1] = diagonal + 1; row[j+1] > best {
					best, end, wantEnd = row[j+1], i+1, j+1
				}
			}
			diagonal = above
		}
	}
	start := end - best
	for start < end && start > 0 && owner[start-1] == owner[start] {
		start++ // begins inside a glyph
	}
	for end > start && end < len(owner) && owner[end] == owner[end-1] {
		end-- // ends inside one
		wantEnd--
	}
	if start == end {
		return 0, 0, 0, 0
	}
	first := wantEnd - (end - start)
	return owner[start], owner[end-1] + 1, len(string(wanted[:first])), len(string(wanted[first:wantEnd]))
}
