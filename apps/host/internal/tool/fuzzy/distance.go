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
	count  [buckets]uint8

	up, down []uint64 // work space
}

// buckets sort characters for a quick look at what two texts cannot share.
const buckets = 32

func newPattern(text string) *pattern {
	p := &pattern{text: text, size: utf8.RuneCountInString(text), count: countRunes(text)}
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

// within returns the distance to text when it is at most limit.
func (p *pattern) within(text string, limit int) (int, bool) {
	if text == p.text {
		return 0, limit >= 0
	}
	size := utf8.RuneCountInString(text)
	if max(size-p.size, p.size-size) > limit {
		return 0, false
	}
	if p.size == 0 {
		return size, true
	}
	if limit < max(size, p.size)/2 && size <= 255 && p.size <= 255 && apart(p.count, countRunes(text)) > limit {
		return 0, false
	}
	for i := range p.blocks {
		p.up[i], p.down[i] = ^uint64(0), 0
	}
	score, left := p.size, size
	for _, r := range text {
		score += p.column(p.places(r))
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

func countRunes(text string) (count [buckets]uint8) {
	for _, r := range text {
		count[r%buckets]++
	}
	return count
}

// apart is a distance that two texts with these counts have at least. The texts
// have at most 255 characters.
func apart(a, b [buckets]uint8) int {
	more, less := 0, 0
	for i := range a {
		if d := int(a[i]) - int(b[i]); d > 0 {
			more += d
		} else {
			less -= d
		}
	}
	return max(more, less)
}
