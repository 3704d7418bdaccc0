// Package pathname contains checks of file names and patterns that both the permission
// rules and the tools depend on.
package pathname

import (
	"math"
	"slices"
	"strings"
)

// WithinFold reports whether path is folder or is inside it, ignoring case, because many
// file systems do. Both must use slashes and contain neither "." nor "..". Nothing is
// inside "".
func WithinFold(folder, path string) bool {
	want, have := strings.Split(strings.TrimSuffix(folder, "/"), "/"), strings.Split(path, "/")
	return folder != "" && len(have) >= len(want) && slices.EqualFunc(want, have[:len(want)], strings.EqualFold)
}

// maxChoices bounds how many patterns brace lists may expand to: each is tried on each
// name, and that cannot be canceled.
const maxChoices = 10_000

// ManyChoices reports whether the brace lists of a pattern may expand to too many patterns.
// It counts as if all lists had the same length.
func ManyChoices(pattern string) bool {
	lists := float64(strings.Count(pattern, "{"))
	return lists > 0 && math.Pow(float64(strings.Count(pattern, ","))/lists+1, lists) > maxChoices
}
