// Package pathname says of the names of files, and of patterns for them, what both the
// judge of calls and the tools must not miss.
package pathname

import (
	"math"
	"slices"
	"strings"
)

// WithinFold tells whether path is folder or lies in it, whatever letters are capitals:
// many machines do not tell them apart in the name of a file. Both are without "." and
// "..", and with slashes. Nothing lies in "".
func WithinFold(folder, path string) bool {
	want, have := strings.Split(strings.TrimSuffix(folder, "/"), "/"), strings.Split(path, "/")
	return folder != "" && len(have) >= len(want) && slices.EqualFunc(want, have[:len(want)], strings.EqualFold)
}

// maxChoices bounds the patterns that one with lists in braces stands for: each is tried
// on each name, and nothing ends that.
const maxChoices = 10_000

// ManyChoices tells whether the lists in braces of a pattern may stand for too many: as
// many as when all have the same length.
func ManyChoices(pattern string) bool {
	lists := float64(strings.Count(pattern, "{"))
	return lists > 0 && math.Pow(float64(strings.Count(pattern, ","))/lists+1, lists) > maxChoices
}
