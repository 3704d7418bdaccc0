package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/scorel/scorel/packages/protocol/ident"
)

// Run is what run/host.json tells the local command line of a running host. The
// file has mode 0600: the token admits to everything the host can do.
type Run struct {
	PID       int      `json:"pid"`
	Addr      string   `json:"addr"` // host:port of the direct WebSocket
	Token     string   `json:"token"`
	DeviceID  ident.ID `json:"deviceId"`
	Label     string   `json:"label"`
	Version   string   `json:"version"`
	RelayURL  string   `json:"relayUrl"`  // "" without a relay
	StartedAt int64    `json:"startedAt"` // Unix milliseconds
}

// ErrNoHost says that no host runs on this home.
var ErrNoHost = errors.New("no host runs on this machine: start one with `scorel up` or `scorel host serve`")

// WriteRun writes the file.
func WriteRun(paths Paths, run Run) error { return writeJSON(paths.Run(), run) }

// RemoveRun removes the file; a missing one is fine.
func RemoveRun(paths Paths) error {
	if err := os.Remove(paths.Run()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("state: %w", err)
	}
	return nil
}

// ReadRun reads the file of a live host. A file that a dead host left behind is
// removed, and ErrNoHost returned: the lock tells, for it ends with the process.
func ReadRun(paths Paths) (Run, error) {
	lock, err := Acquire(paths.Lock())
	if err == nil {
		return Run{}, errors.Join(ErrNoHost, RemoveRun(paths), lock.Release())
	}
	if !errors.Is(err, ErrLocked) {
		return Run{}, err
	}
	var run Run
	if err := readJSON(paths.Run(), &run); err != nil {
		return Run{}, err
	}
	if run.PID == 0 {
		return Run{}, fmt.Errorf("%w (one is just starting or ending)", ErrNoHost)
	}
	return run, nil
}
