package fuzzy

import (
	"math/bits"
	"unicode/utf8"

	"github.com/scorel/scorel/apps/host/internal/levenshtein"
)

// measured is a text with properties that are compared before the text itself.
type measured struct {
	text    string
	size    int // characters
	letters letters
}

func measure(text string) measured {
	m := measured{text: text}
	for _, r := range text {
		m.size++
		m.letters.add(int(r % 32))
	}
	return m
}

// within returns the edit distance of two texts in characters, if it is at most limit.
func (m *measured) within(other *measured, limit int) (int, bool) {
	switch {
	case max(m.size-other.size, other.size-m.size) > limit, m.letters.apart(&other.letters) > limit:
		return 0, false
	case m.size == len(m.text) && other.size == len(other.text):
		return levenshtein.Within([]byte(m.text), []byte(other.text), limit)
	}
	return levenshtein.Within([]rune(m.text), []rune(other.text), limit)
}

// alike reports whether two lines are at least 80% the same, ignoring the white space
// around them. A blank line is only like another blank line.
func (m *measured) alike(line *measured) bool {
	_, ok := m.within(line, max(m.size, line.size)/5)
	return ok
}

func alike(a, b string) bool {
	first, second := measure(strip(a)), measure(strip(b))
	return first.alike(&second)
}

// letters counts the characters of a text, up to four in each of 32 groups. Each count is
// unary, so that two texts can be compared in a few instructions.
type letters [2]uint64

func (l *letters) add(group int) {
	for i := range l {
		for _, bit := range []uint64{1 << group, 1 << (group + 32)} {
			if l[i]&bit == 0 {
				l[i] |= bit
				return
			}
		}
	}
}

// apart returns a lower bound of the distance: characters that only one text has must be
// inserted or deleted.
func (l *letters) apart(other *letters) int {
	more := bits.OnesCount64(l[0]&^other[0]) + bits.OnesCount64(l[1]&^other[1])
	less := bits.OnesCount64(other[0]&^l[0]) + bits.OnesCount64(other[1]&^l[1])
	return max(more, less)
}

// maxCompared bounds the length of a compared text, in characters, because the cost is
// quadratic.
const maxCompared = 4 << 10

// tooLong reports whether a text is too long to compare.
func tooLong(text string) bool {
	return len(text) > maxCompared && utf8.RuneCountInString(text) > maxCompared
}
