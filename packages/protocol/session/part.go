package session

import (
	"bytes"
	"runtime"
	"slices"
	"sync"
	"unicode/utf8"
)

// part is a stretch of a file that ends with a line, or with the file.
type part struct {
	lines  []Entry // headers too
	flaws  []flaw  // lines count from 1 at the beginning of the part
	number int     // of lines
	whole  int     // bytes up to and including the last LF
	torn   bool    // the last line has no LF and is not JSON
	room   int     // for lines, in the list of all
}

// flaw is a Damage in a part.
type flaw struct {
	line uint32
	json bool // it is JSON, but no object
}

func (f flaw) what() string {
	if f.json {
		return "it is not a JSON object"
	}
	return "it is not JSON"
}

// read reads the lines of data, which follow those that were read before.
func (p *part) read(data []byte) {
	parser := lineParser{texts: &textSlab{}}
	for valid, looked, at := true, 0, 0; at < len(data); {
		if at >= looked { // some lines ahead, so that they are read while they are near
			looked = endOfLine(data, at+64<<10)
			valid = utf8.Valid(data[at:looked])
		}
		line, _, ended := bytes.Cut(data[at:], []byte{'\n'})
		at += len(line) + 1
		p.number++
		if ended {
			p.whole += len(line) + 1
		}
		if !valid {
			line = validText(line)
		}
		p.readLine(&parser, line[:len(line):len(line)], ended)
	}
}

func (p *part) readLine(parser *lineParser, line []byte, ended bool) {
	p.lines = append(p.lines, Entry{})
	e := &p.lines[len(p.lines)-1]
	if !parser.parse(e, line) && !p.odd(e, line, ended) {
		p.lines = p.lines[:len(p.lines)-1]
	}
}

// odd looks at a line that is no JSON object, and tells whether it is an entry all
// the same.
func (p *part) odd(e *Entry, line []byte, ended bool) (kept bool) {
	if skipSpace(line, 0) == len(line) || trim(string(line)) == "" {
		return false
	}
	var ok bool
	if *e, ok = parseOther(line); !ok {
		p.torn = !ended
		p.flaws = append(p.flaws, flaw{line: uint32(p.number)})
		return false
	}
	p.flaws = append(p.flaws, flaw{uint32(p.number), true})
	return !falsy(line)
}

const (
	partBytes = 512 << 10 // the least that is worth a goroutine of its own
	maxParts  = 8         // so that one long session does not take every processor
)

// partsOf returns in how many parts a file of the given size is read.
func partsOf(size int) int {
	return max(1, min(runtime.GOMAXPROCS(0), size/partBytes, maxParts))
}

// readRest reads what follows the header, in parts side by side. number is that of
// the header's line.
func (f *File) readRest(data []byte, number int, parts []part) {
	pieces := make([][]byte, len(parts))
	for i := range pieces {
		end := endOfLine(data, len(data)/(len(pieces)-i))
		pieces[i], data = data[:end], data[end:]
	}
	f.makeRoom(parts, pieces)
	var others sync.WaitGroup
	for i := 1; i < len(parts); i++ {
		others.Go(func() { parts[i].read(pieces[i]) })
	}
	parts[0].read(pieces[0])
	others.Wait()
	flaws := 0
	for i := range parts {
		flaws += len(parts[i].flaws)
	}
	f.Damage = slices.Grow(f.Damage, flaws)
	for i := range parts {
		f.take(parts[i].flaws, number)
		parts[i].flaws = nil
		number += parts[i].number
		f.Whole += parts[i].whole
		f.Torn = f.Torn || parts[i].torn
	}
	f.join(parts)
}

// take notes the flaws of a part that follows a number of lines.
func (f *File) take(flaws []flaw, number int) {
	for _, flaw := range flaws {
		f.Damage = append(f.Damage, Damage{number + int(flaw.line), flaw.what()})
	}
}

// makeRoom gives each part its place in one list behind the lines of f, so that
// they need not be copied into one.
func (f *File) makeRoom(parts []part, pieces [][]byte) {
	room := len(f.lines)
	for i, piece := range pieces {
		parts[i].room = roomFor(piece)
		if i == len(pieces)-1 {
			parts[i].room++ // it may end without an LF
		}
		room += parts[i].room
	}
	f.lines = append(make([]Entry, 0, room), f.lines...)
	for i, start := 0, len(f.lines); i < len(parts); i++ {
		end := start + parts[i].room
		parts[i].lines, start = f.lines[start:start:end], end
	}
}

// roomFor returns how many lines of a piece that end with an LF may be entries. Few
// entries are shorter than 24 bytes: where there would have to be such, the lines that
// cannot be one are left out, so that neither costs more than it is.
func roomFor(piece []byte) int {
	n := bytes.Count(piece, []byte{'\n'})
	if n <= len(piece)/24 {
		return n
	}
	n = 0
	for at := 0; at < len(piece); {
		end := endOfLine(piece, at)
		if start := skipSpace(piece[:end], at); start < end && mayBegin(piece[start]) {
			n++
		}
		at = end
	}
	return n
}

// mayBegin tells whether a JSON value may begin with a byte.
func mayBegin(c byte) bool {
	switch c {
	case '{', '[', '"', 't', 'f', 'n', '-':
		return true
	}
	return '0' <= c && c <= '9'
}

// join makes one list of the lines of all parts.
func (f *File) join(parts []part) {
	if slices.ContainsFunc(parts, func(p part) bool { return len(p.lines) > p.room }) {
		f.lines = slices.Clone(f.lines) // what a part moved out of stays where it is
		for _, p := range parts {
			f.lines = append(f.lines, p.lines...)
		}
		return
	}
	place, end := len(f.lines), len(f.lines) // of the next part's room, of the list
	for _, p := range parts {
		list := f.lines[:end+len(p.lines)]
		if place != end { // a line before gave no entry
			copy(list[end:], p.lines)
		}
		f.lines, end, place = list, len(list), place+p.room
	}
}
