package fuzzy

import (
	"strings"
)

// maxSimilar bounds how many similar places are counted: two are already too many.
const maxSimilar = 100

// blockAnchors returns the windows whose first and last lines equal those of want and whose
// lines in between are at least 60% like it.
func (s *subject) blockAnchors(want []string) []Span {
	n := len(want)
	if n < 2 {
		return nil
	}
	first, last := strip(plain(want[0])), strip(plain(want[n-1]))
	middle := measureAll(want[1 : n-1])
	lines := s.trimmed()
	if !isASCII(s.text) {
		lines = stripAll(strings.Split(plain(s.text), "\n"))
	}
	return s.windows(n, func(i int) bool {
		return lines[i] == first && lines[i+n-1] == last && s.similarBlock(middle, i+1)
	})
}

func measureAll(lines []string) []measured {
	out := make([]measured, len(lines))
	for i, line := range lines {
		out[i] = measure(plain(line))
	}
	return out
}

// similarBlock reports whether the lines starting at a place are, taken together, at least
// 60% like those of want.
func (s *subject) similarBlock(want []measured, at int) bool {
	have := measureAll(s.lines[at : at+len(want)])
	wanted, size := 0, 0
	for i := range want {
		wanted += want[i].size + 1
		size += have[i].size + 1
	}
	left := 2 * max(wanted-1, size-1) / 5
	for i := range want {
		if want[i].text == have[i].text {
			continue
		}
		if tooLong(want[i].text) || tooLong(have[i].text) {
			return false
		}
		d, ok := want[i].within(&have[i], left)
		if !ok {
			return false
		}
		left -= d
	}
	return true
}

// similarWindows returns the windows in which at least half of the non-blank lines of want
// have a similar line in the same position.
func (s *subject) similarWindows(want []string) []Span {
	patterns := make([]measured, 0, len(want))
	full := 0
	for _, line := range want {
		p := measure(strip(line))
		if p.size > 0 {
			full++
		}
		patterns = append(patterns, p)
	}
	if full == 0 {
		return nil
	}
	lines := s.measured()
	found := 0
	return s.windows(len(want), func(i int) bool {
		if found == maxSimilar {
			return false
		}
		need, left := (full+1)/2, full
		for k := range patterns {
			if patterns[k].size == 0 {
				continue
			}
			if left--; patterns[k].alike(&lines[i+k]) {
				if need--; need == 0 {
					found++
					return true
				}
			}
			if left < need {
				return false
			}
		}
		return false
	})
}
