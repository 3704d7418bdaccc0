package fuzzy

import (
	"sort"
	"strings"
)

const bom = "\ufeff"

// File is the content of a file, with its byte order mark and line ends set aside. A CR
// without LF is text.
type File struct {
	raw  string // without the mark
	mark string
	text string
	crlf []int // offsets in text of CRLF line ends
}

// Read parses the content of a file.
func Read(content string) *File {
	raw, marked := strings.CutPrefix(content, bom)
	f := &File{raw: raw, text: toLF(raw)}
	if marked {
		f.mark = bom
	}
	if len(f.text) == len(raw) {
		return f
	}
	for i, removed := 0, 0; ; {
		at := strings.Index(raw[i:], "\r\n")
		if at < 0 {
			return f
		}
		f.crlf = append(f.crlf, i+at-removed)
		removed++
		i += at + len("\r\n")
	}
}

// Text returns the content with LF line ends and no byte order mark.
func (f *File) Text() string { return f.text }

// Apply returns the content of the file after the edits, which must be sorted and must not
// overlap. Lines that no edit touches keep their bytes. New lines get the line end of the
// line they replace, or else of the previous line.
func (f *File) Apply(edits []Edit) string {
	var out strings.Builder
	out.WriteString(f.mark)
	at := 0
	for _, edit := range edits {
		out.WriteString(f.raw[f.offset(at):f.offset(edit.Start)])
		out.WriteString(f.withEnds(edit))
		at = edit.End
	}
	out.WriteString(f.raw[f.offset(at):])
	return out.String()
}

// offset converts an offset in text to one in raw.
func (f *File) offset(at int) int { return at + sort.SearchInts(f.crlf, at) }

func (f *File) isCRLF(at int) bool {
	i := sort.SearchInts(f.crlf, at)
	return i < len(f.crlf) && f.crlf[i] == at
}

// withEnds returns the new text of an edit with the line ends of the file.
func (f *File) withEnds(edit Edit) string {
	switch {
	case len(f.crlf) == 0 || !strings.Contains(edit.New, "\n"):
		return edit.New
	case len(f.crlf) == strings.Count(f.text, "\n"):
		return strings.ReplaceAll(edit.New, "\n", "\r\n")
	}
	var out strings.Builder
	at := edit.Start
	last := f.endBefore(edit.Start)
	write := func(line string, crlf bool) {
		if text, ended := strings.CutSuffix(line, "\n"); ended && crlf {
			line = text + "\r\n"
		}
		out.WriteString(line)
	}
	for _, op := range lineOps(f.text[edit.Start:edit.End], edit.New) {
		for k := range max(len(op.old), len(op.new)) {
			if k < len(op.old) {
				at += len(op.old[k])
				last = f.endOf(at, op.old[k])
			}
			if k < len(op.new) {
				write(op.new[k], last)
			}
		}
	}
	return out.String()
}

// endOf reports whether the line that stops at an offset ends with CRLF. A line that the
// edit cuts ends after it.
func (f *File) endOf(at int, line string) bool {
	if strings.HasSuffix(line, "\n") {
		return f.isCRLF(at - 1)
	}
	if end := strings.IndexByte(f.text[at:], '\n'); end >= 0 {
		return f.isCRLF(at + end)
	}
	return f.endBefore(at)
}

// endBefore reports whether the last line end before an offset is CRLF. If there is none,
// the first of the file counts.
func (f *File) endBefore(at int) bool {
	end := strings.LastIndexByte(f.text[:at], '\n')
	if end < 0 {
		end = strings.IndexByte(f.text, '\n')
	}
	return end >= 0 && f.isCRLF(end)
}
