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
)

// TestAnUpdateWithoutRightsNamesTheCommand: the same one with sudo, and the home of this user, which
// sudo would not find.
func TestAnUpdateWithoutRightsNamesTheCommand(t *testing.T) {
	variables := map[string]string{}
	env := &environment{getenv: func(name string) string { return variables[name] }, homeFlag: t.TempDir()}
	u := &updating{env: env, args: []string{"update", "--wait", "1h"}, path: "/usr/local/bin/scorel"}
	denied := &fs.PathError{Op: "open", Path: "/usr/local/bin/.scorel-X", Err: fs.ErrPermission}
	err := u.replaceError(denied, 1000)
	want := "you cannot write to the folder /usr/local/bin, which has the program: run `sudo /usr/local/bin/scorel update --wait 1h --home " + env.homeFlag + "`"
	if err == nil || !strings.Contains(err.Error(), want) || exitCode(err) != ExitFailed {
		t.Errorf("got %v, want %s", err, want)
	}
	variables["SCOREL_RELEASE_URL"] = "https://mirror.example"
	if err := u.replaceError(denied, 1000); !strings.Contains(err.Error(), "--from https://mirror.example`") {
		t.Errorf("the mirror is lost: %v", err)
	}
	if err := u.replaceError(denied, 0); strings.Contains(err.Error(), "sudo") {
		t.Errorf("root should call sudo: %v", err)
	}
	if err := u.replaceError(errors.New("no space left on device"), 1000); strings.Contains(err.Error(), "sudo") {
		t.Errorf("a full disk needs sudo: %v", err)
	}
}

// TestOnlyTheHostOfItsUserIsFound: root reads no files of others, and leaves none in a home.
func TestOnlyTheHostOfItsUserIsFound(t *testing.T) {
	home := ownHost(t, true)
	if !servedBy(home, os.Geteuid()) {
		t.Error("the host that runs was not found")
	}
	if servedBy(home, os.Geteuid()+1) {
		t.Error("the files of another user were used")
	}
	empty := t.TempDir()
	if servedBy(empty, os.Geteuid()) {
		t.Error("a host was found where none is")
	}
	if left, err := os.ReadDir(empty); err != nil || len(left) > 0 {
		t.Errorf("it left %v, %v", left, err)
	}
}

// TestSudoFindsTheHostOfItsCaller: and a home that was given stays.
func TestSudoFindsTheHostOfItsCaller(t *testing.T) {
	t.Setenv("HOME", t.TempDir()) // of root, without a host
	anna := &user.User{HomeDir: t.TempDir()}
	home := filepath.Join(anna.HomeDir, ".scorel")
	if err := os.Symlink(ownHost(t, true), home); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		uid               int
		given, sudo, want string
	}{
		"sudo":                   {0, "", strconv.Itoa(os.Geteuid()), home},
		"root itself":            {0, "", "", ""},
		"no root":                {1000, "", strconv.Itoa(os.Geteuid()), ""},
		"--home":                 {0, "/srv", strconv.Itoa(os.Geteuid()), "/srv"},
		"a host of another user": {0, "", strconv.Itoa(os.Geteuid() + 1), ""},
	} {
		variables := map[string]string{"SUDO_UID": c.sudo}
		env := &environment{getenv: func(name string) string { return variables[name] }, homeFlag: c.given}
		env.findHostOfCaller(c.uid, func(string) (*user.User, error) { return anna, nil })
		if env.homeFlag != c.want {
			t.Errorf("%s: got %q, want %q", name, env.homeFlag, c.want)
		}
	}
	if entries, err := filepath.Glob(filepath.Join(os.Getenv("HOME"), ".*")); err != nil || len(entries) > 0 {
		t.Errorf("it left %v, %v", entries, err)
	}
}
