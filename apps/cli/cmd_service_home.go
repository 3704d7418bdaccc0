package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
)

// useHomeOf has this command use the home of the user that a system service runs as, unless another
// one was given. Whoever installs such a service is root, whose own home that user cannot open.
func useHomeOf(env *environment, name string) error {
	person, err := user.Lookup(name)
	if err != nil {
		return usagef("there is no user %q on this machine", name)
	}
	if env.homeFlag, err = homeOf(env, person); err != nil {
		return err
	}
	return folderFor(env.homeFlag, person)
}

// homeOf returns the home that was given, or else that of a user.
func homeOf(env *environment, person *user.User) (string, error) {
	home, err := filepath.Abs(cmp.Or(env.homeFlag, env.getenv("SCOREL_HOME"), filepath.Join(person.HomeDir, ".scorel")))
	if err != nil {
		return "", fmt.Errorf("finding the home of the service: %w", err)
	}
	return home, nil
}

// folderFor creates a folder that belongs to a user, or checks that the one there does.
func folderFor(path string, person *user.User) error {
	uid, err := strconv.Atoi(person.Uid)
	if err != nil { // on Windows, where no service of the system runs as a named user
		return nil
	}
	gid, err := strconv.Atoi(person.Gid)
	if err != nil {
		return fmt.Errorf("reading the group of %s: %w", person.Username, err)
	}
	switch err := os.Mkdir(path, 0o700); {
	case err == nil:
		err = os.Lchown(path, uid, gid) // not what a link leads to, which the user may have put there since
		if err != nil {
			return fmt.Errorf("giving %s to %s: %w", path, person.Username, errors.Join(err, os.Remove(path)))
		}
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return usagef("there is no folder %s: create it for %s, or give another --home", filepath.Dir(path), person.Username)
	case errors.Is(err, fs.ErrPermission):
		return sayf(errRefused, "the folder %s cannot be created: a system service needs administrator rights, as with sudo", path)
	case !errors.Is(err, fs.ErrExist):
		return fmt.Errorf("creating the home of the service: %w", err)
	}
	if owner := otherOwner(path, uid); owner != "" {
		return usagef("the folder %s belongs to %s, so a service cannot use it as %s: give --home with a folder of that user", path, owner, person.Username)
	}
	return nil
}
