package editors

import (
	"bytes"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// change is what a diff changes in one file: the lines that it shows, before and after.
type change struct {
	path          string
	created       bool
	before, after []byte
}

// changesIn splits a unified diff by files. People decide by what they see, so whole says whether
// the changes show every line of it: the lines of a hunk are those that its header counts, whatever
// they begin with. The page reads diffs in the same way; testdata/diffs.json has examples for both.
func changesIn(diff string) (changes []change, whole bool) {
	r := diffReader{whole: true}
	for line := range strings.Lines(diff) {
		r.read(strings.TrimSuffix(line, "\n"))
	}
	r.endFile()
	return r.changes, r.whole
}

var hunkHead = regexp.MustCompile(`^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@`)

type diffReader struct {
	changes []change
	whole   bool
	// state is what the last line was; the zero value is a line between files.
	state diffState
	from  string // the name of the file before, which the heading of a file begins with
	// removes and adds count the lines that the hunk still has. A line of both is in both.
	removes, adds int
	mark          byte // of the last line of a hunk; 0 if none can follow that says how it ends
}

type diffState int

const (
	betweenFiles diffState = iota
	inHeading              // after the name of the file before
	inFile                 // after the name of the file after, or in its hunks
)

// at returns the file that is read.
func (r *diffReader) at() *change { return &r.changes[len(r.changes)-1] }

func (r *diffReader) read(line string) {
	switch {
	case r.removes > 0 || r.adds > 0:
		r.hunkLine(line)
	case strings.HasPrefix(line, `\`) && r.mark != 0:
		r.withoutNewline()
	case strings.HasPrefix(line, "--- "):
		r.endFile()
		r.from, r.state = line[len("--- "):], inHeading
	case strings.HasPrefix(line, "+++ ") && r.state == inHeading:
		r.beginFile(line[len("+++ "):])
	case strings.HasPrefix(line, "@@ ") && r.state == inFile:
		r.beginHunk(line)
	case line != "":
		r.whole = false
	}
}

// endFile checks what came of the file before: one without lines shows nothing.
func (r *diffReader) endFile() {
	if r.state == inFile && bytes.Equal(r.at().before, r.at().after) || r.state == inHeading || r.removes > 0 || r.adds > 0 {
		r.whole = false
	}
	r.state, r.mark = betweenFiles, 0
}

func (r *diffReader) beginFile(to string) {
	from, fromNote, _ := strings.Cut(r.from, "\t") // some programs append a time
	to, toNote, _ := strings.Cut(to, "\t")
	created, deleted := from == "/dev/null", to == "/dev/null"
	if before, after := strings.TrimPrefix(from, "a/"), strings.TrimPrefix(to, "b/"); (created || before != from) && (deleted || after != to) {
		from, to = before, after
	}
	path := to
	if deleted {
		path = from
	}
	if !created && !deleted && from != to || fromNote != "" || toNote != "" {
		r.whole = false // a change has one name
	}
	r.changes, r.state = append(r.changes, change{path: path, created: created}), inFile
}

func (r *diffReader) beginHunk(line string) {
	counts := hunkHead.FindStringSubmatch(line)
	if counts == nil {
		r.whole = false
		return
	}
	r.removes, r.adds, r.mark = countOf(counts[1]), countOf(counts[2]), 0
}

// countOf returns how many lines a side of a hunk has: one, unless its header says otherwise.
func countOf(text string) int {
	if text == "" {
		return 1
	}
	n, err := strconv.Atoi(text)
	if err != nil { // more than any diff has
		return math.MaxInt
	}
	return n
}

// hunkLine reads a line while the hunk has more of them.
func (r *diffReader) hunkLine(line string) {
	if line == "" { // some programs leave out the space of an empty line
		line = " "
	}
	at, text := r.at(), line[1:]+"\n"
	switch mark := line[0]; {
	case mark == '-' && r.removes > 0:
		at.before = append(at.before, text...)
		r.removes--
	case mark == '+' && r.adds > 0:
		at.after = append(at.after, text...)
		r.adds--
	case mark == ' ' && r.removes > 0 && r.adds > 0:
		at.before = append(at.before, text...)
		at.after = append(at.after, text...)
		r.removes--
		r.adds--
	case mark == '\\' && r.mark != 0:
		r.withoutNewline()
		return
	default:
		r.whole = false
		return
	}
	r.mark = line[0]
}

// withoutNewline ends the last line without a line break, which the diff says in a line of its own.
func (r *diffReader) withoutNewline() {
	at := r.at()
	if r.mark != '+' {
		at.before = bytes.TrimSuffix(at.before, []byte("\n"))
	}
	if r.mark != '-' {
		at.after = bytes.TrimSuffix(at.after, []byte("\n"))
	}
	r.mark = 0
}
