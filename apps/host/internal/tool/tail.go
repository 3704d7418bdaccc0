package tool

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"
)

// tail is a writer that keeps the end of what is written, within the bounds of
// one result, and hands every piece on while it comes.
type tail struct {
	mu       sync.Mutex
	progress func(string)
	kept     []byte
	dropped  int // bytes that are no longer kept
	lines    int // line ends among them
	rest     []byte
}

// Write never fails. It is called by one goroutine.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	t.kept = append(t.kept, p...)
	// Cut seldom: every cut copies what is kept.
	if len(t.kept) > 4*MaxBytes {
		t.cut(len(t.kept) - 2*MaxBytes)
	}
	t.rest = append(t.rest, p...)
	piece := wholeCharacters(t.rest)
	text := strings.ToValidUTF8(string(piece), "\uFFFD")
	t.rest = append(t.rest[:0], t.rest[len(piece):]...)
	t.mu.Unlock()
	if text != "" {
		t.progress(text)
	}
	return len(p), nil
}

func (t *tail) cut(n int) {
	t.lines += bytes.Count(t.kept[:n], []byte("\n"))
	t.dropped += n
	t.kept = append(t.kept[:0], t.kept[n:]...)
}

// wholeCharacters leaves out a character at the end that is not complete yet.
func wholeCharacters(p []byte) []byte {
	for i := 1; i < utf8.UTFMax && i <= len(p); i++ {
		if c := p[len(p)-i]; utf8.RuneStart(c) {
			if !utf8.FullRune(p[len(p)-i:]) {
				return p[:len(p)-i]
			}
			break
		}
	}
	return p
}

// text returns the end of the output, whole lines where it can, and tells
// whether something before it is left out.
func (t *tail) text() (text string, truncated bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	start := max(0, len(t.kept)-MaxBytes)
	if start > 0 || t.dropped > 0 {
		if end := bytes.IndexByte(t.kept[start:], '\n'); end >= 0 && start+end+1 < len(t.kept) {
			start += end + 1
		}
	}
	start = lastLines(t.kept, start, MaxLines)
	text = strings.ToValidUTF8(string(t.kept[start:]), "\uFFFD")
	if start+t.dropped == 0 {
		return text, false
	}
	left := t.lines + bytes.Count(t.kept[:start], []byte("\n"))
	return fmt.Sprintf("[%d lines (%d bytes) before this are left out. To see them, send the output to a file and read that.]\n",
		left, start+t.dropped) + text, true
}

// lastLines moves start so far that at most n lines follow.
func lastLines(data []byte, start, n int) int {
	end := len(data)
	if end > start && data[end-1] == '\n' {
		end--
	}
	for range n {
		i := bytes.LastIndexByte(data[start:end], '\n')
		if i < 0 {
			return start
		}
		end = start + i
	}
	return end + 1
}
