package tool

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"sync"
	"unicode/utf8"
)

// tail is a writer that keeps the end of its input, within the bounds of one result, and
// passes on every chunk as it arrives.
type tail struct {
	mu       sync.Mutex
	progress func(string)
	kept     []byte
	dropped  int // bytes no longer kept
	lines    int // line ends among them
	rest     []byte

	spill   *spill   // stores all output once it is long; may be nil
	file    *os.File // nil until then
	spilled int      // bytes written to the file
}

// Write never fails. The outputs of a command may be written by separate goroutines.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	t.kept = append(t.kept, p...)
	// Trim rarely: every trim copies what is kept.
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

// wholeCharacters drops an incomplete character at the end.
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

// text returns the end of the output, in whole lines if possible, and reports whether
// something before it is left out.
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
		advice = "All of it is in " + t.file.Name() + "; use read_file or grep."
	}
	left := t.lines + bytes.Count(t.kept[:start], []byte("\n"))
	return fmt.Sprintf("[%d lines (%d bytes) before this are left out. %s]\n",
		left, start+t.dropped, advice) + text, true
}

// flush writes new output to the file. Without a file, or if it is full or broken, only the
// end is kept.
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

// close flushes and closes the file.
func (t *tail) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.file == nil {
		return
	}
	t.flush()
	t.spill = nil
	_ = t.file.Close() // whatever could be written is there
}

// mute stops passing on output: the call that wanted it has returned.
func (t *tail) mute() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.progress = nil
}

// since returns the output after the first seen bytes, as far as it is kept, and the offset
// for the next call.
func (t *tail) since(seen int) (text string, next int, missed bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	next = t.dropped + len(t.kept)
	start := max(0, seen-t.dropped, len(t.kept)-MaxBytes)
	start = lastLines(t.kept, start, MaxLines)
	return strings.ToValidUTF8(string(t.kept[min(start, len(t.kept)):]), "\uFFFD"), next, start+t.dropped > seen
}

// lastLines advances start so that at most n lines follow.
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
