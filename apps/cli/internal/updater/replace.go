package updater

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// OldSuffix is behind the name of the program in the name of the one before it.
const OldSuffix = ".old"

// tryTimeout bounds how long the new program may take to print its version.
const tryTimeout = 30 * time.Second

// ErrManaged means that a package manager has installed this program.
var ErrManaged = errors.New("a package manager has installed this program")

// ErrNotRunning means that the new program could not do what the one before it did.
var ErrNotRunning = errors.New("the new program does not run")

// Manager returns the name of the package manager that installed the program at a path, or "".
// Each package contains a file that names it.
func Manager(program string) (string, error) {
	data, err := os.ReadFile(filepath.Join(filepath.Dir(program), "..", "share", "scorel", "package"))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("updater: finding out who installed this program: %w", err)
	}
	name := strings.TrimSpace(string(data))
	if name == "" || len(name) > 32 {
		name = "another program"
	}
	return name, nil
}

// Replace puts a new program in the place of the one at the path, which it keeps beside it. At
// every moment, also after a crash, the path has the whole old program or the whole new one,
// except on Windows, where a running program can only be renamed. The new program must run and
// print the version first.
func Replace(ctx context.Context, path string, program []byte, version string) error {
	fresh := filepath.Join(filepath.Dir(path), ".scorel-"+rand.Text()+filepath.Ext(path))
	defer func() { _ = os.Remove(fresh) }() // it is gone if all went well
	if err := write(fresh, program); err != nil {
		return fmt.Errorf("updater: writing the new program: %w", err)
	}
	if err := try(ctx, fresh, version); err != nil {
		return err
	}
	if err := exchange(path, fresh, path+OldSuffix); err != nil {
		return fmt.Errorf("updater: replacing the program: %w", err)
	}
	return nil
}

func write(path string, program []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	_, err = file.Write(program)
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// try runs the new program before it replaces anything.
func try(ctx context.Context, path, version string) error {
	ctx, cancel := context.WithTimeout(ctx, tryTimeout)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return fmt.Errorf("the new program does not run on this machine: %w", err)
	}
	if fields := strings.Fields(string(out)); len(fields) < 2 || fields[1] != version {
		return fmt.Errorf("%w: the program says that it is %.60q, not %s", ErrWrongFile, out, version)
	}
	return nil
}

// ErrNoOld means that there is no earlier program to go back to.
var ErrNoOld = errors.New("there is no earlier program beside this one")

// Rollback exchanges the program at the path and the one before it.
func Rollback(ctx context.Context, path string) error {
	old := path + OldSuffix
	data, err := os.ReadFile(old)
	if errors.Is(err, fs.ErrNotExist) {
		return ErrNoOld
	}
	if err != nil {
		return fmt.Errorf("updater: reading the earlier program: %w", err)
	}
	out, err := exec.CommandContext(ctx, old, "--version").Output()
	if err != nil {
		return fmt.Errorf("the earlier program does not run: %w", err)
	}
	fields := strings.Fields(string(out))
	if len(fields) < 2 {
		return fmt.Errorf("%w: the earlier program says that it is %.60q", ErrWrongFile, out)
	}
	return Replace(ctx, path, data, fields[1])
}
