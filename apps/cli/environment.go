package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/scorel/scorel/packages/keyfile"
)

// environment is where a command finds its files and what the variables of the process set.
type environment struct {
	getenv   func(string) string
	homeFlag string // --home; "" if it is not given
}

// home returns the absolute path of the folder for all of scorel's files.
func (env *environment) home() (string, error) {
	home := env.homeFlag
	if home == "" {
		home = env.getenv("SCOREL_HOME")
	}
	if home == "" {
		user, err := os.UserHomeDir()
		if err != nil {
			return "", usagef("the home folder is unknown: give --home DIR or set SCOREL_HOME")
		}
		home = filepath.Join(user, ".scorel")
	}
	absolute, err := filepath.Abs(home)
	if err != nil {
		return "", fmt.Errorf("resolving %s: %w", home, err)
	}
	if err := os.MkdirAll(absolute, 0o700); err != nil {
		return "", sayf(err, "the folder %s for scorel's files cannot be created (%v): choose another with --home or SCOREL_HOME", absolute, reason(err))
	}
	if err := keyfile.CheckFolder(absolute); err != nil {
		return "", err
	}
	folder, err := os.Open(absolute)
	if err != nil {
		return "", sayf(err, "the folder %s for scorel's files cannot be read (%v): run scorel as the owner of the folder, or choose another with --home or SCOREL_HOME", absolute, reason(err))
	}
	return absolute, folder.Close()
}

// reason returns the system's error without the path and the operation.
func reason(err error) error {
	if at := new(fs.PathError); errors.As(err, &at) {
		return at.Err
	}
	return err
}

// invite returns the given invite, or "".
func (env *environment) invite(flag string) string { return cmp.Or(flag, env.getenv("SCOREL_INVITE")) }

// relayURL returns the given relay, or "".
func (env *environment) relayURL(flag string) string {
	if flag != "" {
		return flag
	}
	return env.getenv("SCOREL_RELAY_URL")
}
