package build

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/scorel/scorel/packages/release"
)

// Programs that make parts of a release. They are compiled when they are needed, and no
// module of scorel requires them. Later versions of nfpm need a module host of their own, which
// networks with a list of allowed hosts refuse.
const (
	nfpm      = "github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.45.2"
	cyclonedx = "github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0"
)

// tool runs such a program. It runs on this machine, whatever is being built.
func (b *builder) tool(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", append([]string{"run"}, args...)...)
	cmd.Dir = b.work
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off", fmt.Sprintf("SOURCE_DATE_EPOCH=%d", b.Time.Unix()))
	return b.exec(cmd)
}

// linuxPackages writes a deb and an rpm for each architecture of Linux.
func (b *builder) linuxPackages(ctx context.Context) error {
	for _, p := range b.Platforms {
		if p.OS != "linux" {
			continue
		}
		for _, format := range []string{"deb", "rpm"} {
			b.say("packaging %s for %s", format, p)
			if err := b.linuxPackage(ctx, p, format); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *builder) linuxPackage(ctx context.Context, p Platform, format string) error {
	marker := filepath.Join(b.work, format)
	if err := os.WriteFile(marker, []byte(format+"\n"), 0o644); err != nil {
		return fmt.Errorf("writing a file of the package: %w", err)
	}
	at := b.Time.UTC().Format(time.RFC3339)
	file := func(from, to string, mode int) map[string]any {
		return map[string]any{"src": from, "dst": to, "file_info": map[string]any{"mode": mode, "mtime": at, "owner": "root", "group": "root"}}
	}
	config, err := json.Marshal(map[string]any{ // which is YAML too
		"name": "scorel", "arch": p.Arch, "platform": "linux", "version": b.number(), "version_schema": "semver",
		"section": "utils", "maintainer": "The scorel authors <noreply@scorel.invalid>", "license": "Apache-2.0",
		"homepage": "https://github.com/scorel/scorel", "mtime": at,
		"description": "Reach the coding agent on your machine from any browser or terminal",
		"rpm":         map[string]any{"buildhost": "scorel", "summary": "A coding agent on your machine, reached from anywhere"},
		"contents": []any{
			file(b.binary(p), "/usr/bin/scorel", 0o755),
			file(marker, "/usr/share/scorel/package", 0o644),
			file(filepath.Join(b.Root, "LICENSE"), "/usr/share/doc/scorel/copyright", 0o644),
			file(filepath.Join(b.Root, "README.md"), "/usr/share/doc/scorel/README.md", 0o644),
			file(filepath.Join(b.Root, "CHANGELOG.md"), "/usr/share/doc/scorel/CHANGELOG.md", 0o644),
		},
	})
	if err != nil {
		return fmt.Errorf("describing the package: %w", err)
	}
	path := filepath.Join(b.work, "nfpm.json")
	if err := os.WriteFile(path, config, 0o644); err != nil {
		return fmt.Errorf("describing the package: %w", err)
	}
	name := fmt.Sprintf("scorel_%s_%s.%s", b.number(), p.Arch, format)
	out := filepath.Join(b.work, name)
	if err := b.tool(ctx, nfpm, "package", "--config", path, "--packager", format, "--target", out); err != nil {
		return err
	}
	return b.addFile(release.File{Name: name, Kind: release.KindPackage, OS: p.OS, Arch: p.Arch}, out)
}

// components writes the lists of what the program and the web UI are made of, in the format
// of CycloneDX. Nearly all modules are the same for every platform: the list is of the first.
func (b *builder) components(ctx context.Context) error {
	b.say("listing components")
	out := filepath.Join(b.work, "program.cdx.json")
	if err := b.tool(ctx, cyclonedx, "bin", "-json", "-std", "-noserial", "-notimestamp", "-version", b.Version, "-output", out, b.binary(b.Platforms[0])); err != nil {
		return err
	}
	if err := b.addFile(release.File{Name: fmt.Sprintf("scorel_%s_program.cdx.json", b.number()), Kind: release.KindOther}, out); err != nil {
		return err
	}
	return b.pageComponents()
}
