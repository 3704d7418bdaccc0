// Package levenshtein tells how near two names are, to suggest what was meant.
package levenshtein

// maxLen bounds the work: longer names are near or not by their beginning.
const maxLen = 64

// Distance counts the bytes to insert, delete or replace that make b of a. Of
// each it looks at the first 64 bytes.
func Distance(a, b string) int {
	a, b = a[:min(len(a), maxLen)], b[:min(len(b), maxLen)]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		previous := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := previous
			if a[i] != b[j] {
				cost++
			}
			previous = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
