//go:build unix

package moves

import "golang.org/x/sys/unix"

// freeSpace returns the bytes that are free on the disk of a folder; false if that is unknown.
func freeSpace(folder string) (uint64, bool) {
	var stat unix.Statfs_t
	if unix.Statfs(folder, &stat) != nil || stat.Bsize <= 0 {
		return 0, false
	}
	return uint64(stat.Bavail) * uint64(stat.Bsize), true
}
