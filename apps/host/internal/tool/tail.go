package tool

import (
	"bytes"
	"fmt"
	"os"
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

	spill   *spill   // where all of it goes when it gets long; may be nil
	file    *os.File // nil until then
	spilled int      // bytes that are in the file
}

// Write never fails. The outputs of a command may be written by one goroutine each.
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
	progress := t.progress
	t.mu.Unlock()
	if text != "" && progress != nil {
		progress(text)
	}
	return len(p), nil
}

func (t *tail) cut(n int) {
	t.flush()
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
	t.flush()
	advice := "To see them, send the output to a file and read that."
	if t.file != nil {
		advice = "All of it is in " + t.file.Name() + "; read_file and grep can look at it."
	}
	left := t.lines + bytes.Count(t.kept[:start], []byte("\n"))
	return fmt.Sprintf("[%d lines (%d bytes) before this are left out. %s]\n",
		left, start+t.dropped, advice) + text, true
}

// flush puts into the file what is not there yet. Without a file, or when it is
// full or broken, the end is all that is kept.
func (t *tail) flush() {
	if t.spill == nil {
		return
	}
	if t.file == nil {
		file, err := t.spill.create("bash")
		if file == nil || err != nil {
			t.spill = nil
			return
		}
		t.file = file
	}
	fresh := t.kept[max(0, t.spilled-t.dropped):]
	fresh = fresh[:min(len(fresh), max(0, maxSpill-t.spilled))]
	n, err := t.file.Write(fresh)
	t.spilled += n
	if err != nil {
		t.spill = nil
	}
}

// close ends the file, with all that came.
func (t *tail) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.file == nil {
		return
	}
	t.flush()
	t.spill = nil
	_ = t.file.Close() // what could be written is there
}

// mute ends the handing on: the call that wanted it has returned.
func (t *tail) mute() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.progress = nil
}

// since returns what came behind the first seen bytes, as far as it is kept, and
// where the next look begins.
func (t *tail) since(seen int) (text string, next int, missed bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	next = t.dropped + len(t.kept)
	start := max(0, seen-t.dropped, len(t.kept)-MaxBytes)
	start = lastLines(t.kept, start, MaxLines)
	return strings.ToValidUTF8(string(t.kept[min(start, len(t.kept)):]), "\uFFFD"), next, start+t.dropped > seen
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
