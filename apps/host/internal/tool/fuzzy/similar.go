package fuzzy

import (
	"strings"
)

// maxMiddle bounds the block that block_anchor compares, in bytes: the work grows
// with its square.
const maxMiddle = 64 << 10

// maxSimilar bounds how many similar places are counted: two are too many already.
const maxSimilar = 100

// blockAnchors returns the windows whose first and last lines are those of want
// and whose middle is at least 60 % like it.
func (s *subject) blockAnchors(want []string) []Span {
	n := len(want)
	if n < 2 {
		return nil
	}
	first, last := strip(plain(want[0])), strip(plain(want[n-1]))
	middle := ""
	if n > 2 {
		middle = plain(strings.Join(want[1:n-1], "\n"))
	}
	if len(middle) > maxMiddle {
		return nil
	}
	compared := newPattern(middle)
	lines := s.trimmed()
	if !isASCII(s.text) {
		lines = stripAll(strings.Split(plain(s.text), "\n"))
	}
	return s.windows(n, func(i int) bool {
		if lines[i] != first || lines[i+n-1] != last {
			return false
		}
		if n == 2 {
			return true
		}
		span := s.window(i+1, n-2)
		have := plain(s.text[span.Start:span.End])
		if len(have) > 3*maxMiddle {
			return false
		}
		m := measure(have)
		_, alike := compared.within(&m, 2*max(compared.size, m.size)/5)
		return alike
	})
}

// alike tells whether two lines, without the blanks around them, are at least
// 80 % the same. A blank line is like a blank line only.
func (p *pattern) alike(line *measured) bool {
	_, ok := p.within(line, max(p.size, line.size)/5)
	return ok
}

// similarWindows returns the windows in which at least half of the lines of want
// that are not blank have a line like them in their place.
func (s *subject) similarWindows(want []string) []Span {
	patterns := make([]*pattern, 0, len(want))
	full := 0
	for _, line := range want {
		p := newPattern(strip(line))
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
		for k, p := range patterns {
			if p.size == 0 {
				continue
			}
			if left--; p.alike(&lines[i+k]) {
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
