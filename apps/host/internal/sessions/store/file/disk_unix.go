//go:build unix

package file

// renamesOpenFiles: a rename may replace an open file.
const renamesOpenFiles = true
