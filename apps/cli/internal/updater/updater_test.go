package updater_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aead.dev/minisign"

	"github.com/scorel/scorel/apps/cli/internal/updater"
	"github.com/scorel/scorel/packages/release"
)

const archiveName = "scorel_2.0.0_linux_amd64.tar.gz"

// script is a program that prints its version.
func script(version string) []byte {
	return []byte("#!/bin/sh\necho scorel " + version + " '(test)'\n")
}

// published is a release that a server offers, by the names of its files.
type published map[string][]byte

func publish(t *testing.T, key release.Key, version string) published {
	t.Helper()
	var archive bytes.Buffer
	zipped := gzip.NewWriter(&archive)
	files := tar.NewWriter(zipped)
	program := script(version)
	err := files.WriteHeader(&tar.Header{Name: "scorel", Mode: 0o755, Size: int64(len(program)), Typeflag: tar.TypeReg})
	if err == nil {
		_, err = files.Write(program)
	}
	if err := errors.Join(err, files.Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(archive.Bytes())
	index, err := json.Marshal(release.Index{Version: version, Files: []release.File{{
		Name: archiveName, Kind: release.KindArchive, OS: "linux", Arch: "amd64", Size: int64(archive.Len()), SHA256: hex.EncodeToString(sum[:]),
	}}})
	if err != nil {
		t.Fatal(err)
	}
	return published{
		archiveName: archive.Bytes(), "release.json": index,
		"release.json.minisig": release.Sign(key, index, "scorel "+version),
	}
}

func (p published) serve(t *testing.T) string {
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	return server.URL
}

func (p published) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	data, ok := p[strings.TrimPrefix(r.URL.Path, "/")]
	if !ok {
		http.NotFound(w, r)
		return
	}
	_, _ = w.Write(data)
}

func newKey(t *testing.T) release.Key {
	t.Helper()
	_, key, err := minisign.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// fetch gets the program of the release at an address.
func fetch(t *testing.T, address string, key release.Key) ([]byte, error) {
	t.Helper()
	source, err := updater.NewSource(address, []string{release.PublicKey(key)})
	if err != nil {
		return nil, err
	}
	defer source.Close()
	index, err := source.Newest(t.Context())
	if err != nil {
		return nil, err
	}
	return source.Program(t.Context(), index, "linux", "amd64")
}

func TestOnlyTheFileOfASignedReleaseIsAccepted(t *testing.T) {
	key := newKey(t)
	good := publish(t, key, "v2.0.0")
	if program, err := fetch(t, good.serve(t), key); err != nil || !bytes.Equal(program, script("v2.0.0")) {
		t.Fatalf("the release: %q, %v", program, err)
	}
	for name, c := range map[string]struct {
		change func(published)
		want   error
	}{
		"signed by another": {func(p published) {
			p["release.json.minisig"] = release.Sign(newKey(t), p["release.json"], "scorel v2.0.0")
		}, updater.ErrForged},
		"another version": {func(p published) {
			p["release.json"] = bytes.Replace(p["release.json"], []byte("v2.0.0"), []byte("v9.0.0"), 1)
		}, updater.ErrForged},
		"signature of another release": {func(p published) {
			p["release.json.minisig"] = publish(t, key, "v1.0.0")["release.json.minisig"]
		}, updater.ErrForged},
		"no signature":    {func(p published) { delete(p, "release.json.minisig") }, updater.ErrUnreachable},
		"another archive": {func(p published) { p[archiveName] = publish(t, key, "v1.0.0")[archiveName] }, updater.ErrWrongFile},
		"one other byte": {func(p published) {
			p[archiveName] = append(bytes.Clone(p[archiveName][:20]), append([]byte{p[archiveName][20] ^ 1}, p[archiveName][21:]...)...)
		}, updater.ErrWrongFile},
		"a cut archive": {func(p published) { p[archiveName] = p[archiveName][:len(p[archiveName])/2] }, updater.ErrWrongFile},
		"a longer one":  {func(p published) { p[archiveName] = append(bytes.Clone(p[archiveName]), 0) }, updater.ErrWrongFile},
		"an endless index": {func(p published) {
			p["release.json"] = make([]byte, release.MaxIndex+1)
		}, updater.ErrWrongFile},
		"no archive": {func(p published) { delete(p, archiveName) }, updater.ErrUnreachable},
	} {
		p := publish(t, key, "v2.0.0")
		c.change(p)
		if _, err := fetch(t, p.serve(t), key); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestADownloadThatBreaksOff is not used, whatever of it arrived.
func TestADownloadThatBreaksOff(t *testing.T) {
	key := newKey(t)
	p := publish(t, key, "v2.0.0")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, archiveName) {
			w.Header().Set("Content-Length", "1000")
			_, _ = w.Write(p[archiveName][:10])
			return // the server closes the connection
		}
		p.ServeHTTP(w, r)
	}))
	defer server.Close()
	if _, err := fetch(t, server.URL, key); !errors.Is(err, updater.ErrWrongFile) {
		t.Errorf("got %v", err)
	}
}

func TestAddressesUseHTTPS(t *testing.T) {
	for _, address := range []string{"http://mirror.example/scorel", "ftp://127.0.0.1/", "mirror.example", ""} {
		if _, err := updater.NewSource(address, nil); !errors.Is(err, updater.ErrUnsafe) {
			t.Errorf("%q: %v", address, err)
		}
	}
	key := newKey(t)
	safe := publish(t, key, "v2.0.0").serve(t)
	for target, allowed := range map[string]bool{safe: true, "http://mirror.example": false, "ftp://127.0.0.1": false} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, target+r.URL.Path, http.StatusFound)
		}))
		_, err := fetch(t, server.URL, key)
		server.Close()
		if allowed && err != nil || !allowed && !errors.Is(err, updater.ErrUnsafe) {
			t.Errorf("a redirect to %s: %v", target, err)
		}
	}
}

// TestHTTPSRedirectsToHTTPSOnly: not even to this machine, where another user may listen.
func TestHTTPSRedirectsToHTTPSOnly(t *testing.T) {
	reached := false
	plain := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	defer plain.Close()
	if err := updater.CheckRedirect(t, "https://releases.example/release.json", plain.URL); !errors.Is(err, updater.ErrUnsafe) || reached {
		t.Errorf("got %v", err)
	}
	if err := updater.CheckRedirect(t, "https://releases.example/release.json", "https://files.example/release.json"); err != nil {
		t.Error(err)
	}
}

func TestAProgramIsReplacedAndRestored(t *testing.T) {
	path := filepath.Join(t.TempDir(), "scorel")
	install := func(version string) {
		t.Helper()
		if err := os.WriteFile(path, script(version), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(want, old string) {
		t.Helper()
		now, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(now, script(want)) {
			t.Errorf("the program is %q, %v", now, err)
		}
		before, err := os.ReadFile(path + updater.OldSuffix)
		if old == "" && !errors.Is(err, os.ErrNotExist) || old != "" && !bytes.Equal(before, script(old)) {
			t.Errorf("the program before it is %q, %v", before, err)
		}
		if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) > 2 {
			t.Errorf("the folder has %v, %v", left, err)
		}
	}
	install("v1.0.0")
	for name, program := range map[string][]byte{"another version": script("v1.5.0"), "no program": []byte("hello"), "one that fails": []byte("#!/bin/sh\nexit 1\n")} {
		if _, err := updater.Stage(t.Context(), path, program, "v2.0.0"); err == nil {
			t.Errorf("%s is accepted", name)
		}
		expect("v1.0.0", "")
	}
	if err := updater.Rollback(t.Context(), path); !errors.Is(err, updater.ErrNoOld) {
		t.Errorf("before the first update: %v", err)
	}
	for _, step := range []struct{ version, old string }{{"v2.0.0", "v1.0.0"}, {"v3.0.0", "v2.0.0"}} {
		staged, err := updater.Stage(t.Context(), path, script(step.version), step.version)
		if err == nil {
			err = staged.Put()
		}
		if err != nil {
			t.Fatal(err)
		}
		staged.Discard() // nothing is left to remove
		expect(step.version, step.old)
	}
	for _, want := range []struct{ version, old string }{{"v2.0.0", "v3.0.0"}, {"v3.0.0", "v2.0.0"}} {
		before, err := os.Stat(path + updater.OldSuffix)
		if err != nil {
			t.Fatal(err)
		}
		if err := updater.Rollback(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		expect(want.version, want.old)
		if now, err := os.Stat(path); err != nil || !os.SameFile(before, now) {
			t.Errorf("the program was copied, for which a full disk has no room: %v", err)
		}
	}
}

// TestAStagedProgramReplacesNothing: until it is put in its place, and it leaves nothing when it is
// discarded.
func TestAStagedProgramReplacesNothing(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "scorel")
	if err := os.WriteFile(path, script("v1.0.0"), 0o755); err != nil {
		t.Fatal(err)
	}
	staged, err := updater.Stage(t.Context(), path, script("v2.0.0"), "v2.0.0")
	if err != nil {
		t.Fatal(err)
	}
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, script("v1.0.0")) {
		t.Errorf("the program is %q, %v", now, err)
	}
	staged.Discard()
	if left, err := os.ReadDir(folder); err != nil || len(left) != 1 {
		t.Errorf("the folder has %v, %v", left, err)
	}
}

// TestOldLeftoversAreRemoved: those of an update that was killed, and no file of somebody else.
func TestOldLeftoversAreRemoved(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "scorel")
	files := map[string]bool{ // whether it stays
		".scorel-ABCDEFGHIJKLMNOPQRSTUVWX23": false, ".scorel-new": false, ".scorel-0123456789abcdef0123456789abcdef.exe": false,
		".scorel-notes": true, ".scorel-": true, "scorel": true, "scorel.old": true,
	}
	longAgo := time.Now().Add(-72 * time.Hour)
	for name := range files {
		at := filepath.Join(folder, name)
		if err := errors.Join(os.WriteFile(at, script("v1.0.0"), 0o755), os.Chtimes(at, longAgo, longAgo)); err != nil {
			t.Fatal(err)
		}
	}
	const recent = ".scorel-AAAAAAAAAAAAAAAAAAAAAAAAAA" // of a command that waits
	if err := os.WriteFile(filepath.Join(folder, recent), nil, 0o755); err != nil {
		t.Fatal(err)
	}
	files[recent] = true
	staged, err := updater.Stage(t.Context(), path, script("v2.0.0"), "v2.0.0")
	if err != nil {
		t.Fatal(err)
	}
	staged.Discard()
	for name, stays := range files {
		if _, err := os.Stat(filepath.Join(folder, name)); (err == nil) != stays {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAPackageNamesItsManager(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "bin", "scorel")
	if name, err := updater.Manager(program); name != "" || err != nil {
		t.Errorf("without a package: %q, %v", name, err)
	}
	marker := filepath.Join(dir, "share", "scorel")
	if err := os.MkdirAll(marker, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(program), 0o755); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{"deb\n": "deb", "": "another program", strings.Repeat("x", 99): "another program"} {
		if err := os.WriteFile(filepath.Join(marker, "package"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if name, err := updater.Manager(program); name != want || err != nil {
			t.Errorf("%.10q: %q, %v", text, name, err)
		}
	}
}
