package channel

import (
	"strings"

	"github.com/rivo/uniseg"
)

// Split divides a text into messages that each take at most limits.Text. It prefers the end
// of a paragraph, then of a line, then of a word; it never divides a grapheme, and a block of
// code that is divided is closed and opened again. A grapheme that alone exceeds the limit is
// replaced by "…". The result has no empty message.
func Split(rich []Segment, limits Limits) [][]Segment {
	s := splitter{limits: limits, left: limits.Text}
	for _, segment := range rich {
		s.add(segment)
	}
	s.flush()
	return s.messages
}

type splitter struct {
	limits   Limits
	messages [][]Segment
	now      []Segment
	left     int
}

func (s *splitter) flush() {
	if strings.TrimSpace(String(s.now)) != "" {
		s.messages = append(s.messages, s.now)
	}
	s.now, s.left = nil, s.limits.Text
}

func (s *splitter) add(segment Segment) {
	for segment.Text != "" {
		if units := s.limits.Units(segment); units <= s.left {
			s.now, s.left = append(s.now, segment), s.left-units
			return
		}
		head, rest := s.divide(segment)
		switch {
		case head.Text != "":
			s.now = append(s.now, head)
		case len(rest.Text) == len(segment.Text) && len(s.now) == 0: // not even one grapheme fits
			segment = s.replace(segment)
			continue
		}
		s.flush()
		segment = rest
	}
}

// replace shortens a segment by its first grapheme, in whose place "…" is sent.
func (s *splitter) replace(segment Segment) Segment {
	_, rest, _, _ := uniseg.FirstGraphemeClusterInString(segment.Text, -1)
	dots := Segment{Kind: segment.Kind, Text: "…", Lang: segment.Lang}
	if units := s.limits.Units(dots); units <= s.left {
		s.now, s.left = append(s.now, dots), s.left-units
	}
	segment.Text = rest
	return segment
}

// divide returns the longest good beginning of a segment that fits what is left, and the
// rest.
func (s *splitter) divide(segment Segment) (head, rest Segment) {
	fits := s.fits(segment)
	cut := goodEnd(segment.Text[:fits], len(s.now) > 0)
	head, rest = segment, segment
	head.Text, rest.Text = segment.Text[:cut], segment.Text[cut:]
	switch {
	case cut == 0:
	case segment.Kind == Block:
		head.Text = strings.TrimSuffix(head.Text, "\n")
	default:
		head.Text, rest.Text = strings.TrimRight(head.Text, " \n"), strings.TrimLeft(rest.Text, " \n")
	}
	return head, rest
}

// fits returns how many bytes of a segment fit, which end between two graphemes.
func (s *splitter) fits(segment Segment) int {
	end, state := 0, -1
	probe := segment
	// Most of a long text fits or does not at once: look for the place in steps that halve.
	low, high := 0, len(segment.Text)
	for high-low > 256 {
		middle := runeStart(segment.Text, (low+high)/2)
		probe.Text = segment.Text[:middle]
		if middle <= low || s.limits.Units(probe) > s.left {
			high = (low + high) / 2
		} else {
			low = middle
		}
	}
	limit := min(len(segment.Text), high+256)
	for rest := segment.Text; rest != "" && end < limit; {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		next := end + len(cluster)
		if next > low {
			probe.Text = segment.Text[:next]
			if s.limits.Units(probe) > s.left {
				break
			}
		}
		end = next
	}
	return end
}

func runeStart(text string, i int) int {
	for i > 0 && text[i]&0xC0 == 0x80 {
		i--
	}
	return i
}

// goodEnd returns where to end a text that continues: after a paragraph, line or word in its
// second half, or at its end. If something else is in the message already, a text
// may also move to the next message as a whole.
func goodEnd(text string, mayMove bool) int {
	for _, end := range []string{"\n\n", "\n", " "} {
		if i := strings.LastIndex(text, end); i > len(text)/2 {
			return i + len(end)
		}
	}
	if mayMove && len(text) < 64 {
		return 0
	}
	return len(text)
}
