package build

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/release"
)

// TestTheFormulaNamesEveryArchive: each with its own checksum. A release that lacks a platform, such
// as one of a test, has no formula.
func TestTheFormulaNamesEveryArchive(t *testing.T) {
	b := &builder{Options: Options{Root: "../../..", Out: t.TempDir(), Version: "v1.2.3"}}
	path := filepath.Join(b.Out, "scorel.rb")
	for _, p := range Platforms() {
		if err := b.formula(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path); p.OS != "windows" && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a formula without %s: %v", p, err)
		}
		if err := b.add(release.File{Name: archiveOf(p), Kind: release.KindArchive, OS: p.OS, Arch: p.Arch}, []byte(p.String())); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for _, p := range Platforms() {
		if p.OS == "windows" {
			continue
		}
		want := fmt.Sprintf("url %q\n      sha256 \"%x\"\n", versionURL+"v1.2.3/"+archiveOf(p), sha256.Sum256([]byte(p.String())))
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if !strings.Contains(text, "version \"1.2.3\"\n") || placeholder.MatchString(text) {
		t.Errorf("got\n%s", text)
	}
}

// archiveOf returns the name of the archive of a platform, as people download it.
func archiveOf(p Platform) string {
	name := fmt.Sprintf("scorel_1.2.3_%s_%s", p.OS, p.Arch)
	if p.OS == "windows" {
		return name + ".zip"
	}
	return name + ".tar.gz"
}
