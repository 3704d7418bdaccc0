package cli

import (
	"errors"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"

	"github.com/scorel/scorel/apps/host"
)

// findHostOfCaller has an update find the host of the person who called sudo, because a program of
// root is updated with it: without --home and SCOREL_HOME, if no host of root runs.
func (env *environment) findHostOfCaller(uid int, lookup func(id string) (*user.User, error)) {
	caller, err := strconv.Atoi(env.getenv("SUDO_UID"))
	if err != nil || uid != 0 || env.homeFlag != "" || env.getenv("SCOREL_HOME") != "" {
		return
	}
	if own, err := os.UserHomeDir(); err == nil && servedBy(filepath.Join(own, ".scorel"), uid) {
		return
	}
	person, err := lookup(strconv.Itoa(caller))
	if err != nil {
		return
	}
	if home := filepath.Join(person.HomeDir, ".scorel"); servedBy(home, caller) {
		env.homeFlag = home
	}
}

// servedBy reports whether a host of a user serves a home. It reads only files that are the user's
// and creates none, which would be those of root.
func servedBy(home string, uid int) bool {
	for _, name := range []string{"host.lock", "host.json"} {
		info, err := os.Lstat(filepath.Join(home, "run", name))
		if err != nil || !info.Mode().IsRegular() {
			return false
		}
		if owner, _, known := ownerOf(info); known && owner != uid {
			return false
		}
	}
	_, err := host.ReadState(home)
	return err == nil
}

// replaceError explains why the program was not replaced. Where it belongs to root, as after
// `curl … | sudo sh`, the same command with sudo replaces it, and the host of this user with it.
func (u *updating) replaceError(err error, uid int) error {
	if uid <= 0 || !errors.Is(err, fs.ErrPermission) { // root, or Windows
		return updateError(err)
	}
	home, unknown := u.env.home()
	if unknown != nil {
		return updateError(err)
	}
	args := withHome(u.args, home)
	if from := u.env.getenv("SCOREL_RELEASE_URL"); from != "" { // sudo does not keep it
		args = append(args, "--from", from)
	}
	return sayf(err, "nothing was changed: you cannot write to the folder %s, which has the program: run `sudo %s`",
		printable(filepath.Dir(u.path)), commandLine(append([]string{u.path}, args...)...))
}
