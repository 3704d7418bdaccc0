//go:build unix

package state

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestALockIsGivenBackWhileAnotherProcessSharesTheFile: a process that was just started
// shares it until it executes its program.
func TestALockIsGivenBackWhileAnotherProcessSharesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	lock, err := Acquire(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Acquire(path); !errors.Is(err, ErrLocked) {
		t.Fatalf("taken twice: %v", err)
	}
	sharer := exec.CommandContext(t.Context(), "cat")
	sharer.ExtraFiles = []*os.File{lock.file}
	in, err := sharer.StdinPipe()
	if err == nil {
		err = sharer.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := lock.Release(); err != nil {
		t.Error(err)
	}
	again, err := Acquire(path)
	if err != nil {
		t.Errorf("the lock was given back, and taking it again fails: %v", err)
	} else {
		err = again.Release()
	}
	if err := errors.Join(err, in.Close(), sharer.Wait()); err != nil {
		t.Error(err)
	}
}
