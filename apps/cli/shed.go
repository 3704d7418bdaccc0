package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/scorel/scorel/apps/host"
)

// keysFD names the file descriptor from which a host that restarted itself without keys in
// its environment reads them.
const keysFD = "SCOREL_KEYS_FD"

// maxKeys bounds the keys that are passed on, in bytes: the minimum capacity of a pipe on
// every system.
const maxKeys = 16 << 10

// shedKeys removes the providers' keys and the addresses of databases from what other
// processes can read about this one. Unsetting a variable is not enough, because the system
// shows a process's original environment. So the program restarts itself in the same
// process without them, and gets them through a pipe. It returns if there is nothing to
// remove.
func (i invocation) shedKeys(env *environment) error {
	if i.keysHanded {
		return nil
	}
	home, err := env.home()
	if err != nil {
		return err
	}
	keys := map[string]string{}
	for _, name := range host.SecretVariables(home, env.getenv) {
		if value := os.Getenv(name); value != "" && value == env.getenv(name) {
			keys[name] = value
		}
	}
	if len(keys) == 0 {
		return nil
	}
	return startAgain(keys)
}

// takeKeys reads the keys that shedKeys passed on, and makes them available to the program;
// handed is false if there are none.
func takeKeys() (handed bool, err error) {
	text := os.Getenv(keysFD)
	if text == "" {
		return false, nil
	}
	if err := os.Unsetenv(keysFD); err != nil {
		return false, fmt.Errorf("reading the keys: %w", err)
	}
	fd, err := strconv.ParseUint(text, 10, 16)
	if err != nil || fd < 3 {
		return false, fmt.Errorf("%s is set to %.20q: scorel uses it internally: unset it", keysFD, text)
	}
	file := os.NewFile(uintptr(fd), "keys")
	defer file.Close()
	var keys map[string]string
	if err := json.NewDecoder(io.LimitReader(file, maxKeys)).Decode(&keys); err != nil {
		return false, fmt.Errorf("%s names no keys: scorel uses it internally: unset it", keysFD)
	}
	for name, value := range keys {
		if err := os.Setenv(name, value); err != nil {
			return false, fmt.Errorf("reading the keys: %w", err)
		}
	}
	return true, nil
}

// environmentWithout returns the environment of this process without some variables.
func environmentWithout(names []string) []string {
	return slices.DeleteFunc(os.Environ(), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(names, name)
	})
}
