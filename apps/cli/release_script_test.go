package cli

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"aead.dev/minisign"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/scorel/scorel/packages/release"
)

// Variables that make the program of a script one of a release.
const (
	testVersion = "SCOREL_TEST_VERSION"
	testKeys    = "SCOREL_TEST_KEYS"
)

// released makes this process the program of a release, if a script says so.
func released() {
	if text := os.Getenv(testVersion); text != "" {
		version = text
	}
	releaseKeys = os.Getenv(testKeys)
}

// cmdInstall copies the program to a folder, which comes first in PATH from then on.
func cmdInstall(ts *testscript.TestScript, _ *stage, args []string) {
	wantArgs(ts, args, 1)
	data, err := os.ReadFile(lookPath(ts, "scorel"))
	ts.Check(err)
	for _, folder := range []string{ts.MkAbs(args[0]), ts.MkAbs("newer")} {
		ts.Check(os.MkdirAll(folder, 0o700))
		ts.Check(os.WriteFile(filepath.Join(folder, "scorel"), data, 0o700))
	}
	ts.Setenv("PATH", ts.MkAbs(args[0])+string(os.PathListSeparator)+ts.Getenv("PATH"))
}

// cmdPublish serves a signed release. Its program is the installed one with another version, one
// that can do nothing but print its version, or one that cannot even do that.
func cmdPublish(ts *testscript.TestScript, _ *stage, args []string) {
	wantArgs(ts, args, 3)
	name, number, kind := args[0], args[1], args[2]
	program := map[string]string{
		"good": "#!/bin/sh\nexport " + testVersion + "=" + number + "\nexec '" + ts.MkAbs("newer/scorel") + "' \"$@\"\n",
		"bad":  "#!/bin/sh\n[ \"$1\" = --version ] && echo scorel " + number + " || exit 1\n",
		"dead": "#!/bin/sh\nexit 1\n",
	}[kind]
	_, private, err := minisign.GenerateKey(nil)
	ts.Check(err)
	files := packed(ts, private, number, program)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write(files[strings.TrimPrefix(r.URL.Path, "/")])
	}))
	ts.Defer(server.Close)
	ts.Setenv(name+"_url", server.URL)
	ts.Setenv(testKeys, release.PublicKey(private))
}

func packed(ts *testscript.TestScript, key release.Key, number, program string) map[string][]byte {
	var archive bytes.Buffer
	zipped := gzip.NewWriter(&archive)
	tarred := tar.NewWriter(zipped)
	ts.Check(tarred.WriteHeader(&tar.Header{Name: "scorel", Mode: 0o755, Size: int64(len(program)), Typeflag: tar.TypeReg}))
	_, err := tarred.Write([]byte(program))
	ts.Check(err)
	ts.Check(tarred.Close())
	ts.Check(zipped.Close())
	sum := sha256.Sum256(archive.Bytes())
	file := release.File{
		Name: "scorel_" + runtime.GOARCH + ".tar.gz", Kind: release.KindArchive, OS: runtime.GOOS, Arch: runtime.GOARCH,
		Size: int64(archive.Len()), SHA256: hex.EncodeToString(sum[:]),
	}
	index, err := json.Marshal(release.Index{Version: number, Files: []release.File{file}})
	ts.Check(err)
	return map[string][]byte{file.Name: archive.Bytes(), "release.json": index, "release.json.minisig": release.Sign(key, index, "scorel "+number)}
}
