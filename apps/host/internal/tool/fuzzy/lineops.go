package fuzzy

import (
	"strings"

	udiff "github.com/aymanbagabas/go-udiff"
)

// lineOp is a run of lines that are equal or different in two texts. Lines include their
// line ends.
type lineOp struct {
	equal    bool
	old, new []string
}

// lineOps returns how old becomes new, line by line.
func lineOps(old, new string) []lineOp {
	var ops []lineOp
	at := 0
	same := func(to int) {
		if to > at {
			lines := splitLines(old[at:to])
			ops = append(ops, lineOp{equal: true, old: lines, new: lines})
		}
	}
	for _, edit := range udiff.Lines(old, new) {
		same(edit.Start)
		ops = append(ops, lineOp{old: splitLines(old[edit.Start:edit.End]), new: splitLines(edit.New)})
		at = edit.End
	}
	same(len(old))
	return ops
}

// splitLines splits after every line end.
func splitLines(text string) []string {
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}
