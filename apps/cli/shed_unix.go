//go:build unix

package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"syscall"
)

// startAgain executes this program again in the same process, with the same arguments and
// without the keys, which it leaves in a pipe.
func startAgain(keys map[string]string) error {
	data, err := json.Marshal(keys)
	if err == nil && len(data) > maxKeys {
		err = fmt.Errorf("they have %d bytes, the limit is %d", len(data), maxKeys)
	}
	if err != nil {
		return fmt.Errorf("handing over the keys of the environment: %w", err)
	}
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this program: %w", err)
	}
	out, in, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("handing over the keys of the environment: %w", err)
	}
	_, err = in.Write(data)
	if err = errors.Join(err, in.Close()); err != nil {
		return errors.Join(fmt.Errorf("handing over the keys of the environment: %w", err), out.Close())
	}
	fd, err := syscall.Dup(int(out.Fd())) // the duplicate stays open across exec
	if err == nil {
		environment := append(environmentWithout(slices.Collect(maps.Keys(keys))), keysFD+"="+strconv.Itoa(fd))
		err = syscall.Exec(program, os.Args, environment)
		err = errors.Join(err, syscall.Close(fd))
	}
	return errors.Join(fmt.Errorf("starting without keys in the environment: %w", err), out.Close())
}
