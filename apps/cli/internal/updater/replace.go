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

// tryTimeout bounds how long a program may take to print its version.
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

// Staged is a program in the folder of the one that it is to replace. It was written to the disk
// and has printed its version, so that only renames are left.
type Staged struct{ path, fresh string }

// Stage writes a new program beside the one at the path and tries it: it must run and print the
// version. The caller calls Discard in the end.
func Stage(ctx context.Context, path string, program []byte, version string) (*Staged, error) {
	removeStale(filepath.Dir(path))
	s := &Staged{path, beside(path)}
	err := write(s.fresh, program)
	if err != nil {
		err = fmt.Errorf("updater: writing the new program: %w", err)
	} else {
		err = try(ctx, s.fresh, version)
	}
	if err != nil {
		s.Discard()
		return nil, err
	}
	return s, nil
}

// Put puts the new program in the place of the one at the path, which it keeps beside it. At every
// moment, also after a crash, the path has the whole old program or the whole new one, except on
// Windows, where a running program can only be renamed.
func (s *Staged) Put() error {
	if err := exchange(s.path, s.fresh, s.path+OldSuffix); err != nil {
		return fmt.Errorf("updater: replacing the program: %w", err)
	}
	return nil
}

// Discard removes the new program, unless it was put in its place. What it cannot remove, a later
// Stage does.
func (s *Staged) Discard() { _ = os.Remove(s.fresh) }

// beside returns the name of a new file in the folder of the program at a path; see leftover.
func beside(path string) string {
	return filepath.Join(filepath.Dir(path), ".scorel-"+rand.Text()+filepath.Ext(path))
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
	printed, err := versionOf(ctx, path)
	if err != nil {
		return fmt.Errorf("the new program does not run on this machine: %w", err)
	}
	if printed != version {
		return fmt.Errorf("%w: the program says that its version is %.60q, not %s", ErrWrongFile, printed, version)
	}
	return nil
}

// versionOf returns the version that a program prints.
func versionOf(ctx context.Context, path string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, tryTimeout)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return "", err
	}
	fields := strings.Fields(string(out))
	if len(fields) < 2 {
		return "", fmt.Errorf("%w: it printed %.60q for its version", ErrWrongFile, out)
	}
	return fields[1], nil
}

// ErrNoOld means that there is no earlier program to go back to.
var ErrNoOld = errors.New("there is no earlier program beside this one")

// StageEarlier stages the program before the one at the path.
func StageEarlier(ctx context.Context, path string) (*Staged, error) {
	old := path + OldSuffix
	data, err := os.ReadFile(old) // for file systems without links
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNoOld
	}
	if err != nil {
		return nil, fmt.Errorf("updater: reading the earlier program: %w", err)
	}
	version, err := versionOf(ctx, old)
	if err != nil {
		return nil, fmt.Errorf("the earlier program does not run: %w", err)
	}
	removeStale(filepath.Dir(path))
	s := &Staged{path, beside(path)}
	if os.Link(old, s.fresh) == nil { // a second name needs no space on a full disk
		return s, nil
	}
	return Stage(ctx, path, data, version)
}

// Rollback exchanges the program at the path and the one before it.
func Rollback(ctx context.Context, path string) error {
	staged, err := StageEarlier(ctx, path)
	if err != nil {
		return err
	}
	defer staged.Discard()
	return staged.Put()
}
