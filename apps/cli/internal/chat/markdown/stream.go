package markdown

import (
	"strings"

	"github.com/scorel/scorel/apps/cli/internal/chat/theme"
)

// Stream renders a text that grows. Finished blocks are rendered once; only the last, open
// block is rendered again.
type Stream struct {
	width int
	dark  bool
	done  int      // bytes of the text that are rendered for good
	lines []string // of those
}

// Render returns the lines of the text, which begins with that of the last call.
func (s *Stream) Render(text string, width int, t *theme.Theme) []string {
	if width != s.width || t.Dark != s.dark || s.done > len(text) {
		*s = Stream{width: width, dark: t.Dark}
	}
	if end := s.done + settled(text[s.done:]); end > s.done {
		s.lines = append(s.join(), Render(text[s.done:end], width, t)...)
		s.done = end
	}
	if strings.TrimSpace(text[s.done:]) == "" {
		return s.lines
	}
	open := text[s.done:]
	if len(open) > maxOpen && fence.MatchString(open) { // a long listing: its end is what is watched
		mark := fence.FindString(open)
		tail := open[len(open)-maxOpen:]
		open = mark + "\n" + tail[strings.IndexByte(tail, '\n')+1:]
	}
	return append(s.join(), Render(open, width, t)...)
}

// maxOpen is how much of an unfinished listing is shown, in bytes.
const maxOpen = 8 << 10

// join returns a copy of the finished lines with a gap behind.
func (s *Stream) join() []string {
	lines := make([]string, len(s.lines), len(s.lines)+16)
	copy(lines, s.lines)
	if len(lines) > 0 {
		lines = append(lines, "")
	}
	return lines
}

// settled returns how much of a text is finished: up to the last empty line that is followed
// by a new block.
func settled(text string) int {
	end, at, open := 0, 0, ""
	blank := false
	for at < len(text) {
		stop := strings.IndexByte(text[at:], '\n')
		if stop < 0 {
			break
		}
		line := text[at : at+stop]
		trimmed := strings.TrimSpace(line)
		if open == "" && blank && trimmed != "" && line[0] != ' ' && line[0] != '\t' {
			end = at
		}
		if match := fence.FindStringSubmatch(line); match != nil {
			switch {
			case open == "":
				open = match[2]
			case strings.HasPrefix(trimmed, open) && strings.Trim(trimmed, open[:1]) == "":
				open = ""
			}
		}
		blank = trimmed == ""
		at += stop + 1
	}
	return end
}
