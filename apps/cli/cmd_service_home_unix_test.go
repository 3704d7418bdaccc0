//go:build unix

package cli

import (
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestASystemServiceUsesTheHomeOfItsUser: not that of root, who installs it.
func TestASystemServiceUsesTheHomeOfItsUser(t *testing.T) {
	anna := &user.User{Username: "anna", HomeDir: "/home/anna"}
	for want, c := range map[string]struct{ flag, variable string }{
		"/home/anna/.scorel": {},
		"/srv/variable":      {"", "/srv/variable"},
		"/srv/flag":          {"/srv/flag", "/srv/variable"},
	} {
		env := &environment{getenv: func(string) string { return c.variable }, homeFlag: c.flag}
		if home, err := homeOf(env, anna); err != nil || home != want {
			t.Errorf("got %s, %v, want %s", home, err, want)
		}
	}
}

// TestAHomeIsCreatedForItsUser: and one of another user is refused, since the service could not start.
func TestAHomeIsCreatedForItsUser(t *testing.T) {
	home := filepath.Join(t.TempDir(), ".scorel")
	me := &user.User{Username: "anna", Uid: strconv.Itoa(os.Geteuid()), Gid: strconv.Itoa(os.Getegid())}
	for range 2 { // there the second time
		if err := folderFor(home, me); err != nil {
			t.Fatal(err)
		}
	}
	if info, err := os.Stat(home); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("got %v, %v", info, err)
	}
	other := &user.User{Username: "ben", Uid: strconv.Itoa(os.Geteuid() + 1), Gid: me.Gid}
	if err := folderFor(home, other); exitCode(err) != ExitUsage || !strings.Contains(err.Error(), "give --home") {
		t.Errorf("the folder of another user: %v", err)
	}
	if err := folderFor(filepath.Join(home, "no", "such"), me); exitCode(err) != ExitUsage {
		t.Errorf("without the folder above: %v", err)
	}
}
