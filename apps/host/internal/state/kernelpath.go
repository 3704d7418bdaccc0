package state

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxLinks bounds how many symbolic links a path may pass through.
const maxLinks = 255

// throughKernel reports whether a path leads into /proc, /sys or /dev, directly or through
// a symbolic link on the way. The kernel generates their content: /proc/PID/cwd and
// /proc/PID/fd/N lead to whatever a process has open, regardless of permissions, and change
// with it. It checks the way and not the end, which is an ordinary folder.
func throughKernel(path string) (folder string, found bool) {
	todo := strings.Split(filepath.Clean(path), string(filepath.Separator))
	at := string(filepath.Separator)
	for links := 0; len(todo) > 0 && links <= maxLinks; {
		next := filepath.Join(at, todo[0])
		todo = todo[1:]
		if folder := kernelFolder(next); folder != "" {
			return folder, true
		}
		target, err := os.Readlink(next)
		if err != nil { // not a link, or missing, which a later check reports
			at = next
			continue
		}
		links++
		if filepath.IsAbs(target) {
			at = string(filepath.Separator)
		}
		todo = append(strings.Split(target, string(filepath.Separator)), todo...)
	}
	return "", false
}

func kernelFolder(path string) string {
	folders := []string{"/proc", "/sys", "/dev"}
	i := slices.IndexFunc(folders, func(folder string) bool { return path == folder || strings.HasPrefix(path, folder+"/") })
	if i < 0 {
		return ""
	}
	return folders[i]
}
