//go:build !linux

package file

func wantLargePages([]byte) {}
