//go:build unix

package cli

import (
	"errors"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/scorel/scorel/apps/host"
)

func TestTheOwnerOfAFolderIsNamed(t *testing.T) {
	folder := t.TempDir()
	if owner := otherOwner(folder, os.Geteuid()); owner != "" {
		t.Errorf("one's own folder belongs to %q", owner)
	}
	want := "user " + strconv.Itoa(os.Geteuid())
	if me, err := user.Current(); err == nil {
		want = me.Username
	}
	if owner := otherOwner(folder, os.Geteuid()+1); owner != want {
		t.Errorf("for another user it belongs to %q, want %q", owner, want)
	}
}

// TestTheHostOfAnotherUserIsNotStarted: not as this user, who may be root.
func TestTheHostOfAnotherUserIsNotStarted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		home := t.TempDir()
		if _, err := reviveHost(t.Context(), home, "/nosuch", host.State{}, os.Geteuid()+1); !errors.Is(err, errOtherOwner) {
			t.Errorf("got %v", err)
		}
		if _, err := os.Stat(filepath.Join(home, hostLogName)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("it left a log: %v", err)
		}
	})
}

// TestTheUserOfAHostIsToldHowToStartIt: with the arguments that it had and its home.
func TestTheUserOfAHostIsToldHowToStartIt(t *testing.T) {
	home := t.TempDir()
	err := (&updating{path: "/usr/local/bin/scorel"}).undoneForOther(errOtherOwner, home, host.State{Args: []string{"host", "serve", "--label=my desk"}})
	if want := "run `/usr/local/bin/scorel host serve '--label=my desk' --home " + home + "`"; !errors.Is(err, errOtherOwner) || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
	if args := withHome([]string{"up", "--home=/srv"}, "/other"); len(args) != 2 {
		t.Errorf("a second home was added: %q", args)
	}
}
