// Package levenshtein computes edit distances.
package levenshtein

// maxLen bounds the cost of Distance: of longer names only the beginning is compared.
const maxLen = 64

// Distance returns how many bytes must be inserted, deleted or replaced to turn a into b.
// It compares only the first 64 bytes of each.
func Distance(a, b string) int {
	a, b = a[:min(len(a), maxLen)], b[:min(len(b), maxLen)]
	d, _ := Within([]byte(a), []byte(b), maxLen)
	return d
}

// Within returns how many elements must be inserted, deleted or replaced to turn a into b,
// if that is at most limit. The cost is proportional to the length of the shorter text
// times the limit.
func Within[T byte | rune](a, b []T, limit int) (int, bool) {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	if max(len(a)-len(b), len(b)-len(a)) > limit {
		return 0, false
	}
	// row[j] is the distance between the beginning of a and b[:j]. Only entries less than
	// limit from the diagonal matter; the others count as too far.
	far := limit + 1
	var short [128]int // most texts are lines; this avoids an allocation
	row := short[:]
	if len(b) >= len(short) {
		row = make([]int, len(b)+1)
	}
	row = row[:len(b)+1]
	for j := range row {
		row[j] = min(j, far)
	}
	for i := range a {
		from, to := max(0, i-limit), min(len(b), i+limit+1)
		diagonal := row[from]
		if row[from] = far; from == 0 {
			row[0] = i + 1
		}
		best := row[from]
		for j := from; j < to; j++ {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, far)
			best = min(best, cost)
		}
		if best > limit {
			return 0, false
		}
	}
	d := row[len(b)]
	return d, d <= limit
}

// Nearest returns the candidate nearest to a name, or "" if none is near: more than half of
// the name, and more than two bytes, would have to change.
func Nearest(name string, candidates []string) string {
	nearest, distance := "", len(name)
	for _, candidate := range candidates {
		if d := Distance(name, candidate); d < distance {
			nearest, distance = candidate, d
		}
	}
	if distance > max(2, len(name)/2) {
		return ""
	}
	return nearest
}
