//go:build unix

package cli

import (
	"fmt"
	"io/fs"
	"syscall"
	"testing"
)

// A full disk is named with the folder and with what to do, wherever it was met.
func TestSentenceOfAFullDisk(t *testing.T) {
	err := fmt.Errorf("keyfile: writing: %w", &fs.PathError{Op: "write", Path: "/home/.tmp-X", Err: syscall.ENOSPC})
	if got := sentence(err); got != "no space is left in /home: free some, then try again" {
		t.Errorf("got %q", got)
	}
	if got := sentence(sayf(err, "the picture is not saved")); got != "the picture is not saved" {
		t.Errorf("got %q", got)
	}
}
