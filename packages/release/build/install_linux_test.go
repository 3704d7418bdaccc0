package build

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/pem"
	"errors"
	"io"
	"io/fs"
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
)

// runsOnlyInstalled is a program that runs where it is installed and nowhere else, as on a machine
// whose folder for temporary files allows no programs.
const runsOnlyInstalled = "#!/bin/sh\ncase $0 in \"$SCOREL_INSTALL_DIR\"/*) echo scorel v1.2.3 ;; *) exit 126 ;; esac\n"

// packed writes a release whose program is a script, and returns its folder.
func packed(t *testing.T, program string) string {
	t.Helper()
	_, key, err := minisign.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	b := &builder{Options: Options{Root: "../../..", Out: t.TempDir(), Version: "v1.2.3", Key: key, Trust: []string{release.PublicKey(key)}, Log: io.Discard}}
	var archive bytes.Buffer
	zipped := gzip.NewWriter(&archive)
	files := tar.NewWriter(zipped)
	err = files.WriteHeader(&tar.Header{Name: "scorel", Mode: 0o755, Size: int64(len(program)), Typeflag: tar.TypeReg})
	if err == nil {
		_, err = io.WriteString(files, program)
	}
	err = errors.Join(err, files.Close(), zipped.Close())
	if err == nil {
		name := "scorel_1.2.3_linux_" + runtime.GOARCH + ".tar.gz"
		err = b.add(release.File{Name: name, Kind: release.KindArchive, OS: "linux", Arch: runtime.GOARCH}, archive.Bytes())
	}
	if err = errors.Join(err, b.scripts(), b.sign()); err != nil {
		t.Fatal(err)
	}
	return b.Out
}

// tools returns a folder with the programs that install.sh needs and one that downloads, such as
// "curl", or "busybox wget" for a program that is several.
func tools(t *testing.T, downloads string) string {
	t.Helper()
	folder := t.TempDir()
	program, name, several := strings.Cut(downloads, " ")
	if !several {
		name = program
	}
	for tool, from := range map[string]string{
		name: program, "awk": "awk", "cat": "cat", "chmod": "chmod", "cp": "cp", "grep": "grep", "gzip": "gzip", "id": "id", "mkdir": "mkdir",
		"mktemp": "mktemp", "mv": "mv", "openssl": "openssl", "rm": "rm", "sed": "sed", "sh": "sh", "sha256sum": "sha256sum", "tail": "tail", "tar": "tar",
		"tr": "tr", "uname": "uname",
	} {
		path, err := exec.LookPath(from)
		if err == nil {
			err = os.Symlink(path, filepath.Join(folder, tool))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// installation is a run of install.sh.
type installation struct {
	release, path, bin string
	env                []string
}

func (i installation) run(url string) (printed string, err error) {
	cmd := exec.Command("sh", filepath.Join(i.release, "install.sh"))
	cmd.Env = append(i.env, "PATH="+i.path, "SCOREL_RELEASE_URL="+url, "SCOREL_INSTALL_DIR="+i.bin)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// expectFiles checks what is in the folder of the program.
func (i installation) expectFiles(t *testing.T, want ...string) {
	t.Helper()
	var names []string
	entries, err := os.ReadDir(i.bin)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	if strings.Join(names, " ") != strings.Join(want, " ") {
		t.Errorf("the folder has %q, want %q", names, want)
	}
}

// redirecting serves a folder below /files, and redirects what is below the other folders.
func redirecting(t *testing.T, folder string, secure bool) *httptest.Server {
	t.Helper()
	plain := httptest.NewServer(http.FileServer(http.Dir(folder)))
	t.Cleanup(plain.Close)
	scheme := "http://"
	if secure {
		scheme = "https://"
	}
	files := http.StripPrefix("/files", http.FileServer(http.Dir(folder)))
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		kind, name := filepath.Split(r.URL.Path)
		switch kind {
		case "/absolute/":
			http.Redirect(w, r, scheme+r.Host+"/files/"+name, http.StatusFound)
		case "/relative/":
			w.Header().Set("Location", "/files/"+name)
			w.WriteHeader(http.StatusFound)
		case "/plain/":
			http.Redirect(w, r, plain.URL+"/"+name, http.StatusFound)
		case "/endless/":
			http.Redirect(w, r, r.URL.Path, http.StatusFound)
		default:
			files.ServeHTTP(w, r)
		}
	}))
	if secure {
		server.StartTLS()
	} else {
		server.Start()
	}
	t.Cleanup(server.Close)
	return server
}

// TestInstallDownloadsWithWhatIsThere: with curl, GNU wget and BusyBox's wget. The first two follow
// no redirect from HTTPS to HTTP; the third has no such option.
func TestInstallDownloadsWithWhatIsThere(t *testing.T) {
	folder := packed(t, runsOnlyInstalled)
	plain, secure := redirecting(t, folder, false), redirecting(t, folder, true)
	certificate := filepath.Join(t.TempDir(), "ca.pem")
	config := filepath.Join(t.TempDir(), "wgetrc")
	encoded := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})
	if err := errors.Join(os.WriteFile(certificate, encoded, 0o600), os.WriteFile(config, []byte("ca_certificate="+certificate+"\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for program, checks := range map[string]bool{"curl": true, "wget": true, "busybox wget": false} {
		t.Run(program, func(t *testing.T) {
			i := installation{release: folder, path: tools(t, program), env: []string{"CURL_CA_BUNDLE=" + certificate, "WGETRC=" + config}}
			expect := func(url string, works bool) {
				t.Helper()
				i.bin = filepath.Join(t.TempDir(), "bin")
				out, err := i.run(url)
				if (err == nil) != works || works && !strings.Contains(out, "checked: signature and checksum") || !works && !strings.Contains(out, "cannot be downloaded") {
					t.Errorf("%s: %v: %s", url, err, out)
				}
				if works {
					i.expectFiles(t, "scorel")
				} else {
					i.expectFiles(t)
				}
			}
			for kind, works := range map[string]bool{"files": true, "absolute": true, "relative": true, "endless": false, "missing": false} {
				expect(plain.URL+"/"+kind, works)
			}
			if checks {
				for kind, works := range map[string]bool{"files": true, "absolute": true, "relative": true, "plain": false} {
					expect(secure.URL+"/"+kind, works)
				}
			}
		})
	}
}

// TestInstallOverAnEarlierVersion: it is replaced, or stays if the new one does not run. Either way
// nothing else is left, and the script says what to run.
func TestInstallOverAnEarlierVersion(t *testing.T) {
	good, bad := packed(t, runsOnlyInstalled), packed(t, "#!/bin/sh\nexit 1\n")
	bin := filepath.Join(t.TempDir(), "bin")
	program := filepath.Join(bin, "scorel")
	i := installation{release: good, path: tools(t, "curl"), bin: bin}
	out, err := i.run(redirecting(t, good, false).URL + "/files")
	if err != nil || !strings.Contains(out, "\n  export PATH=\""+bin+":$PATH\"\n") || !strings.Contains(out, "\n  "+program+" up\n") || strings.Contains(out, "restart") {
		t.Fatalf("%v: %s", err, out)
	}
	i.path += ":" + bin
	out, err = i.run(redirecting(t, good, false).URL + "/files")
	if err != nil || !strings.Contains(out, "\n  scorel up\n") || !strings.Contains(out, "keeps the earlier version until: scorel host restart") {
		t.Errorf("%v: %s", err, out)
	}
	i.expectFiles(t, "scorel")
	i.release = bad
	out, err = i.run(redirecting(t, bad, false).URL + "/files")
	if err == nil || !strings.Contains(out, "does not run on this machine: nothing was installed") {
		t.Errorf("%v: %s", err, out)
	}
	i.expectFiles(t, "scorel")
	if data, err := os.ReadFile(program); err != nil || string(data) != runsOnlyInstalled {
		t.Errorf("the earlier program is %q, %v", data, err)
	}
}
