package fuzzy

import (
	"math/bits"
	"unicode/utf8"
)

// pattern measures how many characters must be inserted, deleted or replaced to
// make a text of it. It works on 64 rows of the edit matrix at a time, as
// differences that are kept in bits (Myers 1999, Hyyrö 2003).
type pattern struct {
	text   string
	size   int // characters
	blocks int
	ascii  []uint64 // for each ASCII character, the bits of its places
	other  map[rune][]uint64
	none   []uint64
	same   measured

	up, down []uint64 // work space
}

// census tells, for each of 32 groups of characters, whether a text has at least
// 1 or 2 of them, and at least 3 or 4: one bit for each.
type census [2]uint64

// add counts one more of a group.
func (c *census) add(group int) {
	for i := range c {
		for _, bit := range []uint64{1 << group, 1 << (group + 32)} {
			if c[i]&bit == 0 {
				c[i] |= bit
				return
			}
		}
	}
}

func newPattern(text string) *pattern {
	m := measure(text)
	p := &pattern{text: text, size: m.size, same: m}
	p.blocks = (p.size + 63) / 64
	p.ascii = make([]uint64, utf8.RuneSelf*p.blocks)
	p.none = make([]uint64, p.blocks)
	p.up, p.down = make([]uint64, p.blocks), make([]uint64, p.blocks)
	i := 0
	for _, r := range text {
		p.mask(r)[i/64] |= 1 << (i % 64)
		i++
	}
	return p
}

// mask returns the places of a character, to be changed.
func (p *pattern) mask(r rune) []uint64 {
	if r < utf8.RuneSelf {
		return p.ascii[int(r)*p.blocks : (int(r)+1)*p.blocks]
	}
	if p.other == nil {
		p.other = map[rune][]uint64{}
	}
	if p.other[r] == nil {
		p.other[r] = make([]uint64, p.blocks)
	}
	return p.other[r]
}

func (p *pattern) places(r rune) []uint64 {
	if r < utf8.RuneSelf {
		return p.ascii[int(r)*p.blocks : (int(r)+1)*p.blocks]
	}
	if places, ok := p.other[r]; ok {
		return places
	}
	return p.none
}

// measured is a text with what is looked at first.
type measured struct {
	text  string
	size  int // characters
	ascii bool
	count census
}

func measure(text string) measured {
	m := measured{text: text, ascii: true}
	for _, r := range text {
		m.size++
		m.count.add(int(r % 32))
		m.ascii = m.ascii && r < utf8.RuneSelf
	}
	return m
}

// within returns the distance to a text when it is at most limit.
func (p *pattern) within(m *measured, limit int) (int, bool) {
	if m.text == p.text {
		return 0, limit >= 0
	}
	if max(m.size-p.size, p.size-m.size) > limit {
		return 0, false
	}
	if p.size == 0 {
		return m.size, true
	}
	if apart(&p.same.count, &m.count) > limit {
		return 0, false
	}
	if p.blocks == 1 && m.ascii {
		return p.short(m.text, limit)
	}
	for i := range p.blocks {
		p.up[i], p.down[i] = ^uint64(0), 0
	}
	score, left := p.size, m.size
	for _, r := range m.text {
		score += p.column(p.places(r))
		if left--; score-left > limit {
			return 0, false
		}
	}
	return score, score <= limit
}

// short is the way for a pattern of one block and a text of ASCII.
func (p *pattern) short(text string, limit int) (int, bool) {
	up, down := ^uint64(0), uint64(0)
	last := uint64(1) << (p.size - 1)
	score, left := p.size, len(text)
	for i := range len(text) {
		equal := p.ascii[text[i]]
		vertical := equal | down
		horizontal := (((equal & up) + up) ^ up) | equal
		plus := down | ^(horizontal | up)
		minus := up & horizontal
		if plus&last != 0 {
			score++
		} else if minus&last != 0 {
			score--
		}
		plus, minus = plus<<1|1, minus<<1
		up = minus | ^(vertical | plus)
		down = plus & vertical
		if left--; score-left > limit {
			return 0, false
		}
	}
	return score, score <= limit
}

// column goes on by one character and returns how the last row changes.
func (p *pattern) column(places []uint64) int {
	carry := 1
	last := uint64(1) << ((p.size - 1) % 64)
	for i := range p.blocks {
		equal, up, down := places[i], p.up[i], p.down[i]
		vertical := equal | down
		if carry < 0 {
			equal |= 1
		}
		horizontal := (((equal & up) + up) ^ up) | equal
		plus := down | ^(horizontal | up)
		minus := up & horizontal
		high := uint64(1) << 63
		if i == p.blocks-1 {
			high = last
		}
		out := bits.OnesCount64(plus&high) - bits.OnesCount64(minus&high)
		plus, minus = plus<<1, minus<<1
		switch {
		case carry < 0:
			minus |= 1
		case carry > 0:
			plus |= 1
		}
		p.up[i] = minus | ^(vertical | plus)
		p.down[i] = plus & vertical
		carry = out
	}
	return carry
}

// apart is a distance that two texts have at least: what one has and the other
// has not must be put in or taken out.
func apart(a, b *census) int {
	more := bits.OnesCount64(a[0]&^b[0]) + bits.OnesCount64(a[1]&^b[1])
	less := bits.OnesCount64(b[0]&^a[0]) + bits.OnesCount64(b[1]&^a[1])
	return max(more, less)
}
