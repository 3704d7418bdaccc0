package build_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"aead.dev/minisign"

	"github.com/scorel/scorel/packages/release"
	"github.com/scorel/scorel/packages/release/build"
)

// makeRelease makes a release of this checkout for this platform, without the parts that need
// programs compiled first; `make test-install` makes those. It runs the command, which the
// race detector would make ten times as slow.
func makeRelease(t *testing.T, program string, key release.Key, version string) string {
	t.Helper()
	text, err := key.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "release")
	cmd := exec.CommandContext(t.Context(), program, "-version", version, "-out", out,
		"-only", runtime.GOOS+"/"+runtime.GOARCH, "-tools=false", "-again=false", "-dirty")
	cmd.Dir = filepath.Join("..", "..", "..")
	cmd.Env = append(os.Environ(), "SCOREL_RELEASE_KEY="+string(text))
	if printed, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("makerelease: %v: %s", err, printed)
	}
	return out
}

// command builds makerelease.
func command(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "makerelease")
	if out, err := exec.Command("go", "build", "-o", program, "../cmd/makerelease").CombinedOutput(); err != nil {
		t.Fatalf("building makerelease: %v: %s", err, out)
	}
	return program
}

func newKey(t *testing.T) release.Key {
	t.Helper()
	_, key, err := minisign.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// TestARelease: two builds have the same bytes, and what they contain installs and runs.
func TestARelease(t *testing.T) {
	key, program := newKey(t), command(t)
	first := makeRelease(t, program, key, "v1.2.3")
	t.Run("is reproducible", func(t *testing.T) { expectSame(t, first, makeRelease(t, program, key, "v1.2.3")) })
	t.Run("is signed", func(t *testing.T) {
		for _, name := range []string{release.IndexName, release.SumsName} {
			err := release.Verify([]string{release.PublicKey(key)}, read(t, first, name), read(t, first, name+release.SignatureSuffix))
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
	t.Run("install.sh", func(t *testing.T) { testInstall(t, first) })
	t.Run("npx", func(t *testing.T) { testNPX(t, first) })
	t.Run("update", func(t *testing.T) { testUpdate(t, first, makeRelease(t, program, key, "v1.3.0")) })
}

func expectSame(t *testing.T, first, second string) {
	files, err := os.ReadDir(first)
	if err != nil || len(files) < 8 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, f := range files {
		if !bytes.Equal(read(t, first, f.Name()), read(t, second, f.Name())) {
			t.Errorf("%s differs", f.Name())
		}
	}
	p := build.Platform{OS: runtime.GOOS, Arch: runtime.GOARCH}
	if err := build.Same(first, second, p); err != nil {
		t.Error(err)
	}
	name := archiveName(t, second)
	if err := os.WriteFile(filepath.Join(second, name), []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := build.Same(first, second, p); err == nil || !strings.Contains(err.Error(), name) {
		t.Errorf("of two releases that differ: %v", err)
	}
}

func read(t *testing.T, folder, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func archiveName(t *testing.T, folder string) string {
	t.Helper()
	index, err := release.Parse(read(t, folder, release.IndexName))
	if err != nil {
		t.Fatal(err)
	}
	archive, err := index.Archive(runtime.GOOS, runtime.GOARCH)
	if err != nil {
		t.Fatal(err)
	}
	return archive.Name
}

// mirror serves a release, and other content for some of its files.
func mirror(t *testing.T, folder string, instead map[string][]byte) string {
	files := http.FileServer(http.Dir(folder))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if data, ok := instead[strings.TrimPrefix(r.URL.Path, "/")]; ok {
			_, _ = w.Write(data)
			return
		}
		files.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// testInstall runs install.sh against a mirror of the release, good and bad.
func testInstall(t *testing.T, folder string) {
	archive := archiveName(t, folder)
	other := t.TempDir()
	forged := []byte(strings.Repeat("0", 64) + "  " + archive + "\n")
	unsafe := httptest.NewServer(http.RedirectHandler("ftp://127.0.0.1/", http.StatusFound))
	defer unsafe.Close()
	cut := read(t, folder, archive)
	for name, c := range map[string]struct {
		url  string
		want string // in what the script prints; "" if it succeeds
	}{
		"the release":        {mirror(t, folder, nil), ""},
		"forged checksums":   {mirror(t, folder, map[string][]byte{"SHA256SUMS": forged}), "signature of this release is not valid"},
		"another archive":    {mirror(t, folder, map[string][]byte{archive: []byte("evil")}), "checksum of " + archive + " is wrong"},
		"a cut archive":      {mirror(t, folder, map[string][]byte{archive: cut[:len(cut)/2]}), "checksum of " + archive + " is wrong"},
		"an empty folder":    {mirror(t, other, nil), "SHA256SUMS cannot be downloaded"},
		"another protocol":   {unsafe.URL, "cannot be downloaded"},
		"http from far away": {"http://mirror.example", "must begin with https://"},
	} {
		t.Run(name, func(t *testing.T) {
			bin := filepath.Join(t.TempDir(), "bin")
			cmd := exec.Command("sh", filepath.Join(folder, "install.sh"))
			cmd.Env = append(os.Environ(), "SCOREL_RELEASE_URL="+c.url, "SCOREL_INSTALL_DIR="+bin, "SCOREL_REQUIRE_SIGNATURE=1")
			out, err := cmd.CombinedOutput()
			program := filepath.Join(bin, "scorel")
			if c.want != "" {
				if err == nil || !strings.Contains(string(out), c.want) {
					t.Errorf("the script printed %s, %v", out, err)
				}
				if _, err := os.Stat(program); !errors.Is(err, os.ErrNotExist) {
					t.Errorf("it left a program: %v", err)
				}
				return
			}
			if err != nil || !strings.Contains(string(out), "signature and checksum") {
				t.Fatalf("the script printed %s, %v", out, err)
			}
			if line, err := exec.Command(program, "--version").Output(); err != nil || !strings.HasPrefix(string(line), "scorel v1.2.3 ") {
				t.Errorf("the program says %q, %v", line, err)
			}
		})
	}
}

func TestARunNeedsAVersionAndAnEmptyFolder(t *testing.T) {
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	onlyPage := t.TempDir()
	embed := filepath.Join(onlyPage, "apps", "web", "embed")
	if err := errors.Join(os.MkdirAll(embed, 0o700), os.WriteFile(filepath.Join(embed, "page.zip"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for want, o := range map[string]build.Options{
		"not a semantic version":         {Root: root, Version: "feff3f89", Out: t.TempDir()},
		"is not empty":                   {Root: root, Version: "v1.0.0", Out: full},
		"the web UI is not built":        {Root: t.TempDir(), Version: "v1.0.0", Out: t.TempDir()},
		"the documentation is not built": {Root: onlyPage, Version: "v1.0.0", Out: t.TempDir()},
	} {
		o.Log, o.Trust = io.Discard, []string{"a key"}
		if err := build.Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}
