package permission

import (
	"errors"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

var errLines = errors.New("bash may read its lines differently")

// linesAgree reports whether bash certainly splits a text into the same lines as its parsed
// form. Unlike bash, the parser takes a carriage return for a blank, joins a comment with the
// next line, and misses an operator such as $( that a continuation cuts in two. Bash may drop a backslash
// at the end of the text.
func linesAgree(text string, file *syntax.File) bool {
	ending := len(text) - len(strings.TrimRight(text, `\`))
	if strings.ContainsRune(text, '\r') || ending%2 == 1 {
		return false
	}
	open, rest := map[uint]bool{}, text
	for {
		before, after, more := strings.Cut(rest, "\\\n")
		if !more {
			return commentless(file, open)
		}
		if before == "" || strings.IndexByte(" \t;|&", before[len(before)-1]) < 0 {
			return false
		}
		end := len(text) - len(rest) + len(before)
		for i := strings.LastIndexByte(text[:end], '\n') + 1; i < end; i++ {
			if text[i] == '#' && (i == 0 || strings.IndexByte(wordEnds, text[i-1]) >= 0) {
				open[uint(i)] = true
			}
		}
		rest = after
	}
}

// wordEnds are the characters after which # begins a comment, outside of quotes.
const wordEnds = " \t\n;|&()<>`"

// commentless reports whether each of the signs at these offsets is plain text of a word or
// of a here-document, which begins no comment.
func commentless(file *syntax.File, signs map[uint]bool) bool {
	if len(signs) == 0 {
		return true
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n.(type) {
		case *syntax.Lit, *syntax.SglQuoted:
			for at := range signs {
				if n.Pos().Offset() <= at && at < n.End().Offset() {
					delete(signs, at)
				}
			}
		}
		return true
	})
	return len(signs) == 0
}
