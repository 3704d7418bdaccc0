package build_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// installed is a program of a release in a folder of its own.
type installed struct{ program, home string }

func unpacked(t *testing.T, folder string) installed {
	t.Helper()
	dir := t.TempDir()
	bin := filepath.Join(dir, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("tar", "-xzf", filepath.Join(folder, archiveName(t, folder)), "-C", bin, "scorel").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return installed{filepath.Join(bin, "scorel"), filepath.Join(dir, "home")}
}

// run runs the program against the release at an address.
func (i installed) run(address string, args ...string) (out string, code int) {
	cmd := exec.Command(i.program, args...)
	cmd.Env = append(os.Environ(), "SCOREL_RELEASE_URL="+address, "SCOREL_HOME="+i.home)
	printed, err := cmd.CombinedOutput()
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		code = -1
	}
	return string(printed), code
}

func (i installed) expectVersion(t *testing.T, want string) {
	t.Helper()
	if out, code := i.run("", "--version"); code != 0 || !strings.HasPrefix(out, "scorel "+want+" ") {
		t.Errorf("the program says %q, exit code %d, want version %s", out, code, want)
	}
}

// testUpdate updates the older of two releases to the newer one, and attacks it.
func testUpdate(t *testing.T, older, newer string) {
	t.Run("forward and back", func(t *testing.T) {
		at := mirror(t, newer, nil)
		scorel := unpacked(t, older)
		if out, code := scorel.run(at, "update", "--check"); code != 0 || !strings.Contains(out, "scorel v1.3.0 is available, this is v1.2.3") {
			t.Errorf("--check: %s, exit code %d", out, code)
		}
		scorel.expectVersion(t, "v1.2.3")
		out, code := scorel.run(at, "update", "--json")
		var result struct {
			Version, Newest string
			Updated         bool
		}
		if err := json.Unmarshal([]byte(out), &result); err != nil || code != 0 || !result.Updated || result.Newest != "v1.3.0" {
			t.Errorf("update: %s, exit code %d, %v", out, code, err)
		}
		scorel.expectVersion(t, "v1.3.0")
		if out, code := scorel.run(at, "update"); code != 0 || !strings.Contains(out, "v1.3.0 is the newest release") {
			t.Errorf("a second update: %s, exit code %d", out, code)
		}
		if out, code := scorel.run(at, "update", "--rollback"); code != 0 {
			t.Errorf("--rollback: %s, exit code %d", out, code)
		}
		scorel.expectVersion(t, "v1.2.3")
	})
	archive := archiveName(t, newer)
	data := read(t, newer, archive)
	for name, c := range map[string]struct {
		have, at, want string
		code           int
	}{
		"a downgrade":           {newer, mirror(t, older, nil), "older than this program", 4},
		"a forged index":        {older, mirror(t, newer, map[string][]byte{"release.json": []byte(`{"version":"v9.0.0"}`)}), "not signed with a key", 4},
		"another archive":       {older, mirror(t, newer, map[string][]byte{archive: read(t, older, archiveName(t, older))}), "not the one of the release", 4},
		"a cut archive":         {older, mirror(t, newer, map[string][]byte{archive: data[:len(data)/2]}), "not the one of the release", 4},
		"an address with http":  {older, "http://mirror.example", "does not use https", 2},
		"a server that is away": {older, "http://127.0.0.1:1", "cannot be reached at http://127.0.0.1:1/release.json (connection refused): check the network", 3},
	} {
		t.Run(name, func(t *testing.T) {
			scorel := unpacked(t, c.have)
			before, err := os.ReadFile(scorel.program)
			if err != nil {
				t.Fatal(err)
			}
			if out, code := scorel.run(c.at, "update"); code != c.code || !strings.Contains(out, c.want) {
				t.Errorf("%s, exit code %d", out, code)
			}
			after, err := os.ReadFile(scorel.program)
			if err != nil || string(after) != string(before) {
				t.Errorf("the program was changed: %v", err)
			}
		})
	}
	t.Run("a package manager", func(t *testing.T) {
		scorel := unpacked(t, older)
		marker := filepath.Join(filepath.Dir(scorel.program), "..", "share", "scorel")
		if err := os.MkdirAll(marker, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(marker, "package"), []byte("deb\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		want := "sudo apt install ./scorel_1.3.0_" + runtime.GOARCH + ".deb"
		if out, code := scorel.run(mirror(t, newer, nil), "update"); code != 4 || !strings.Contains(out, want) {
			t.Errorf("%s, exit code %d", out, code)
		}
		scorel.expectVersion(t, "v1.2.3")
	})
}
