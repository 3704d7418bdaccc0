// Package build makes a release of scorel from a checkout: archives, packages of Linux, npm
// packages, a Homebrew formula, install scripts, lists of components, checksums and
// signatures. The same commit, version, key and compiler give the same bytes, wherever the
// checkout is.
package build

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/scorel/scorel/packages/release"
)

// versionURL is the folder of one release.
const versionURL = "https://github.com/scorel/scorel/releases/download/"

// Platform is an operating system and an architecture, in the names of Go.
type Platform struct{ OS, Arch string }

func (p Platform) String() string { return p.OS + "/" + p.Arch }

// program is the name of the program in archives.
func (p Platform) program() string {
	if p.OS == "windows" {
		return "scorel.exe"
	}
	return "scorel"
}

// Platforms returns the platforms of a release.
func Platforms() []Platform {
	var all []Platform
	for _, system := range []string{"linux", "darwin", "windows"} {
		for _, arch := range []string{"amd64", "arm64"} {
			all = append(all, Platform{system, arch})
		}
	}
	return all
}

// Options describe a release. All fields are required unless they say otherwise.
type Options struct {
	Root      string // of the checkout, with the web UI and the documentation already built
	Out       string // folder to write to; it must be empty or missing
	Version   string // with a leading v
	Commit    string
	Time      time.Time   // of every file
	Key       release.Key // signs it
	Trust     []string    // public keys that the program trusts; the install scripts trust the first
	Platforms []Platform
	// Tools has deb and rpm packages and lists of components made too, with programs that are
	// compiled for it.
	Tools bool
	Env   []string  // of the compiler, added to that of this process; may be nil
	Log   io.Writer // one line per step
}

// builder makes one release.
type builder struct {
	Options
	files []release.File
	work  string // folder for what is not part of the release
}

// number is the version without its leading v.
func (b *builder) number() string { return strings.TrimPrefix(b.Version, "v") }

// Run makes a release.
func Run(ctx context.Context, o Options) (err error) {
	if !release.Released(o.Version) {
		return fmt.Errorf("build: the version %q is not a semantic version such as v1.2.3: set a tag, or give one", o.Version)
	}
	if len(o.Trust) == 0 {
		return errors.New("build: the program must trust a key")
	}
	for _, part := range []struct{ file, name string }{{"page.zip", "web UI"}, {"docs.zip", "documentation"}} {
		if _, err := os.Stat(filepath.Join(o.Root, "apps", "web", "embed", part.file)); err != nil {
			return fmt.Errorf("build: the %s is not built: %w", part.name, err)
		}
	}
	if left, err := os.ReadDir(o.Out); err == nil && len(left) > 0 {
		return fmt.Errorf("build: the folder %s is not empty", o.Out)
	}
	if err := os.MkdirAll(o.Out, 0o755); err != nil {
		return fmt.Errorf("build: creating the folder of the release: %w", err)
	}
	b := &builder{Options: o}
	if b.work, err = os.MkdirTemp("", "scorel-release-"); err != nil {
		return fmt.Errorf("build: creating a folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.work)) }()
	if err := b.run(ctx); err != nil {
		return fmt.Errorf("build: %w", err)
	}
	return nil
}

func (b *builder) run(ctx context.Context) error {
	for _, p := range b.Platforms {
		b.say("building %s", p)
		if err := b.compile(ctx, p); err != nil {
			return err
		}
		if err := b.archive(p); err != nil {
			return err
		}
		if err := b.platformPackage(p); err != nil {
			return err
		}
	}
	if b.Tools {
		if err := b.linuxPackages(ctx); err != nil {
			return err
		}
		if err := b.components(ctx); err != nil {
			return err
		}
	}
	if err := b.mainPackage(); err != nil {
		return err
	}
	if err := b.formula(); err != nil {
		return err
	}
	if err := b.scripts(); err != nil {
		return err
	}
	return b.sign()
}

func (b *builder) say(format string, args ...any) { fmt.Fprintf(b.Log, format+"\n", args...) }

// binary returns the path of the program for a platform.
func (b *builder) binary(p Platform) string {
	return filepath.Join(b.work, p.OS+"_"+p.Arch, p.program())
}

// compile builds the program. What decides its bytes is set here, not by the environment.
func (b *builder) compile(ctx context.Context, p Platform) error {
	flags := []string{
		"-s", "-w",
		"-X github.com/scorel/scorel/apps/cli.version=" + b.Version,
		"-X github.com/scorel/scorel/apps/cli.releaseKeys=" + strings.Join(b.Trust, ","),
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", strings.Join(flags, " "), "-o", b.binary(p), "./apps/cli/cmd/scorel")
	cmd.Dir = b.Root
	cmd.Env = append(append(os.Environ(), b.Env...), "CGO_ENABLED=0", "GOFLAGS=", "GOEXPERIMENT=",
		"GOOS="+p.OS, "GOARCH="+p.Arch, "GOAMD64=v1", "GOARM64=v8.0")
	return b.exec(cmd)
}

// exec runs a program whose output is shown only if it fails.
func (b *builder) exec(cmd *exec.Cmd) error {
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("running %s: %w: %s", strings.Join(cmd.Args[:min(4, len(cmd.Args))], " "), err, out)
	}
	return nil
}
