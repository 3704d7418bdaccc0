package keyfile

import (
	"fmt"
	"io/fs"
	"os"
	"runtime"
)

// CheckFolder rejects a folder in which other users of the machine can create
// files: a folder with keys also contains the list of admitted clients and programs
// to run. A missing folder is accepted, as is any folder on Windows, where the mode
// does not describe access.
func CheckFolder(path string) error {
	info, err := os.Stat(path)
	if os.IsNotExist(err) || runtime.GOOS == "windows" {
		return nil
	}
	switch {
	case err != nil:
		return fmt.Errorf("keyfile: %w", err)
	case info.Mode().Perm()&0o002 != 0:
		return fmt.Errorf("keyfile: every user of this machine can write to %s (mode %04o): look for files that are not yours and run chmod 700 on it, or use a folder in it", path, info.Mode().Perm())
	case ofAnother(info, os.Geteuid()):
		return fmt.Errorf("keyfile: the folder %s belongs to another user: use one of your own", path)
	}
	return nil
}

// ofAnother reports whether a file belongs to neither the user nor root. For root
// every folder counts as its own, so that root can serve the folder of a user.
func ofAnother(info fs.FileInfo, user int) bool {
	owner, known := ownerOf(info)
	return known && user != 0 && owner != 0 && owner != user
}
