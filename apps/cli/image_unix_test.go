//go:build unix

package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/cli/internal/updater"
)

// fakeDocker lays out what a build would put into the image, from the COPY lines of its last
// argument's Dockerfile.
const fakeDocker = `#!/bin/sh
set -eu
for folder; do :; done
grep ^COPY "$folder/Dockerfile" | while read -r line; do
	set -- $line
	shift
	while [ "${1#--}" != "$1" ]; do shift; done
	mkdir -p "$ROOT$(dirname "$2")"
	cp -R "$folder/$1" "$ROOT$2"
done
`

// TestTheProgramOfAnImageIsNotReplaced: a container would lose the new program at its next start.
func TestTheProgramOfAnImageIsNotReplaced(t *testing.T) {
	dir := t.TempDir()
	root := filepath.Join(dir, "root")
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("docker", fakeDocker)
	cmd := exec.CommandContext(t.Context(), "../../deploy/image.sh", write("program", "\x7fELF"), "scorel-test")
	cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "ROOT="+root, "SSL_CERT_FILE="+write("authorities", "none"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	program := filepath.Join(root, "any", "scorel") // above the root of the image is the root again
	if manager, err := updater.Manager(program); manager != "container" || err != nil {
		t.Errorf("the program of the image belongs to %q, %v", manager, err)
	}
	err := unmanaged(program, "v9.0.0")
	if err == nil || exitCode(err) != ExitRefused || !strings.Contains(err.Error(), "new image") {
		t.Errorf("an update says %v", err)
	}
}
