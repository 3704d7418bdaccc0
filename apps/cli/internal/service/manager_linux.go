package service

import (
	"errors"
	"os"
	"os/user"
	"path/filepath"
)

// Find returns the manager of this system for services of the user, or of the system.
func Find(bool) (Manager, error) {
	config, err := os.UserConfigDir() // XDG_CONFIG_HOME, as systemd reads it
	me, named := user.Current()
	if err := errors.Join(err, named); err != nil {
		return nil, err
	}
	return systemd{system: "/etc/systemd/system", user: filepath.Join(config, "systemd", "user"), name: me.Username}, nil
}
