package awake

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
)

// command is a program that keeps the machine awake while it runs.
type command []string

// Hold implements Inhibitor.
func (c command) Hold(context.Context) (func(), error) {
	path, err := exec.LookPath(c[0])
	if err != nil {
		return nil, errors.Join(ErrUnsupported, err)
	}
	cmd := exec.Command(path, c[1:]...)
	cmd.Env = []string{} // it needs nothing, least of all keys
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", c[0], err)
	}
	return func() {
		_ = cmd.Process.Kill() // it may have ended by itself
		_ = cmd.Wait()         // its end is the release
	}, nil
}
