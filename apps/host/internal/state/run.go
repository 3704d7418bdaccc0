package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/scorel/scorel/packages/protocol/ident"
)

// Run is the content of run/host.json, with which the local command line reaches a running
// host. The file has mode 0600: the token grants full access to the host.
type Run struct {
	PID      int      `json:"pid"`
	Addr     string   `json:"addr"` // host:port of the direct WebSocket
	Token    string   `json:"token"`
	DeviceID ident.ID `json:"deviceId"`
	Label    string   `json:"label"`
	Version  string   `json:"version"`
	RelayURL string   `json:"relayUrl"` // the first; "" without a relay
	// Relays are the URLs on which the host can be paired; absent in the file of an older
	// host, which knows only RelayURL.
	Relays    []string `json:"relays,omitempty"`
	StartedAt int64    `json:"startedAt"`        // Unix milliseconds
	Args      []string `json:"args,omitempty"`   // of the program
	Folder    string   `json:"folder,omitempty"` // in which it was started
}

// ErrNoHost reports that no host is running on this home.
var ErrNoHost = errors.New("no host is running on this machine: start one with `scorel up` or `scorel host serve`")

// WriteRun writes the file.
func WriteRun(paths Paths, run Run) error { return writeJSON(paths.Run(), run) }

// RemoveRun removes the file; it is not an error if it does not exist.
func RemoveRun(paths Paths) error {
	if err := os.Remove(paths.Run()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("state: %w", err)
	}
	return nil
}

// ReadRun reads the file of a running host. If a dead host left the file behind, ReadRun
// removes it and returns ErrNoHost; the lock, which ends with the process, decides.
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
		return Run{}, fmt.Errorf("%w (one is starting or stopping)", ErrNoHost)
	}
	return run, nil
}
