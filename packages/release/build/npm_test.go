package build_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// registry serves the npm packages of a release as npm's registry does.
func registry(t *testing.T, folder string) string {
	paths, err := filepath.Glob(filepath.Join(folder, "*.tgz"))
	if err != nil || len(paths) != 2 {
		t.Fatalf("%d npm packages, %v", len(paths), err)
	}
	answers := map[string][]byte{} // by the path, in which npm writes the slash of a name as %2f
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, ok := answers[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(data)
	}))
	t.Cleanup(server.Close)
	url := "http://" + server.Listener.Addr().String()
	for _, path := range paths {
		data := read(t, folder, filepath.Base(path))
		manifest := packageJSON(t, data)
		name, _ := manifest["name"].(string)
		version, _ := manifest["version"].(string)
		manifest["dist"] = map[string]string{"tarball": url + "/files/" + filepath.Base(path)}
		document, err := json.Marshal(map[string]any{
			"name": name, "dist-tags": map[string]string{"latest": version}, "versions": map[string]any{version: manifest},
		})
		if err != nil {
			t.Fatal(err)
		}
		answers["/files/"+filepath.Base(path)], answers["/"+name] = data, document
	}
	server.Start()
	return url
}

func packageJSON(t *testing.T, data []byte) map[string]any {
	t.Helper()
	unzipped, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	for files := tar.NewReader(unzipped); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			t.Fatal("there is no package.json")
		}
		if err != nil {
			t.Fatal(err)
		}
		if header.Name != "package/package.json" {
			continue
		}
		var manifest map[string]any
		if err := json.NewDecoder(files).Decode(&manifest); err != nil {
			t.Fatal(err)
		}
		return manifest
	}
}

// testNPX runs the program as people without an installation do, with its exit code.
func testNPX(t *testing.T, folder string) {
	dir, packages := t.TempDir(), registry(t, folder)
	npx := func(args ...string) (string, error) {
		cmd := exec.Command("npx", append([]string{"--yes", "scorel"}, args...)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "npm_config_registry="+packages, "npm_config_cache="+filepath.Join(dir, "cache"), "HOME="+dir,
			"npm_config_update_notifier=false", "SCOREL_HOME="+filepath.Join(dir, "home"))
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := npx("--version"); err != nil || !strings.Contains(out, "scorel v1.2.3 ") {
		t.Errorf("npx scorel --version: %s, %v", out, err)
	}
	out, err := npx("nonsense")
	if exit := new(exec.ExitError); !errors.As(err, &exit) || exit.ExitCode() != 2 || !strings.Contains(out, "there is no command") {
		t.Errorf("npx scorel nonsense: %s, %v", out, err)
	}
}
