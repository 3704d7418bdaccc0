package keyfile

import (
	"fmt"
	"io/fs"
	"os"
	"runtime"
)

// CheckFolder refuses a folder that other users of the machine can put files into: who
// keeps keys there also keeps there whom they admit and what is run. A folder that is
// not there is fine, and so is any on Windows, where access is not in the mode.
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

// ofAnother tells whether a file belongs to somebody who is neither the user nor root.
// For root any folder is its own: that is how it serves the one of a user.
func ofAnother(info fs.FileInfo, user int) bool {
	owner, known := ownerOf(info)
	return known && user != 0 && owner != 0 && owner != user
}
