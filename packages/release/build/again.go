package build

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/scorel/scorel/packages/release"
)

// Again builds the first platform of a release that Run made once more, from a copy of the
// sources in another folder and with an empty cache, and compares each file of both.
func Again(ctx context.Context, o Options) (err error) {
	work, err := os.MkdirTemp("", "scorel-again-")
	if err != nil {
		return fmt.Errorf("build: creating a folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	second := o
	second.Root, second.Out = filepath.Join(work, "copy"), filepath.Join(work, "out")
	second.Platforms, second.Tools = o.Platforms[:1], false
	second.Env = append([]string{"GOCACHE=" + filepath.Join(work, "cache")}, o.Env...)
	if err := copySources(o.Root, second.Root); err != nil {
		return fmt.Errorf("build: copying the sources: %w", err)
	}
	if err := Run(ctx, second); err != nil {
		return err
	}
	return Same(o.Out, second.Out, o.Platforms[0])
}

// copySources copies what the program is built from.
func copySources(from, to string) error {
	for _, folder := range []string{"apps/cli", "apps/host", "apps/relay", "apps/web/embed", "packages", "deploy/release"} {
		if err := copyFolder(filepath.Join(from, folder), filepath.Join(to, folder)); err != nil {
			return err
		}
	}
	for _, name := range []string{"go.work", "go.work.sum", "LICENSE", "README.md", "CHANGELOG.md", "apps/web/go.mod", "apps/web/webui.go"} {
		data, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(to, name), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// copyFolder copies a folder without packages of Node, which a link may stand for.
func copyFolder(from, to string) error {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	list, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, entry := range list {
		source, target := filepath.Join(from, entry.Name()), filepath.Join(to, entry.Name())
		switch {
		case entry.Name() == "node_modules":
		case entry.IsDir():
			if err := copyFolder(source, target); err != nil {
				return err
			}
		case entry.Type().IsRegular():
			data, err := os.ReadFile(source)
			if err != nil {
				return err
			}
			if err := os.WriteFile(target, data, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// Same compares the archive and the npm package of a platform in two releases.
func Same(first, second string, p Platform) error {
	index, err := readIndex(first)
	if err != nil {
		return err
	}
	archive, err := index.Archive(p.OS, p.Arch)
	if err != nil {
		return fmt.Errorf("build: comparing two releases: %w", err)
	}
	system, cpu := npmPlatform(p)
	number := index.Version[1:]
	for _, name := range []string{archive.Name, fmt.Sprintf("scorel-cli-%s-%s-%s.tgz", system, cpu, number), "install.sh"} {
		a, errA := os.ReadFile(filepath.Join(first, name))
		b, errB := os.ReadFile(filepath.Join(second, name))
		if err := errors.Join(errA, errB); err != nil {
			return fmt.Errorf("build: comparing two releases: %w", err)
		}
		if !bytes.Equal(a, b) {
			return fmt.Errorf("build: the release is not reproducible: %s differs between two builds", name)
		}
	}
	return nil
}

func readIndex(folder string) (release.Index, error) {
	data, err := os.ReadFile(filepath.Join(folder, release.IndexName))
	if err != nil {
		return release.Index{}, fmt.Errorf("build: reading the index: %w", err)
	}
	return release.Parse(data)
}
