package build

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/scorel/scorel/packages/release"
)

// member is a file of an archive.
type member struct {
	name string
	data []byte
	mode os.FileMode
}

// documents are the files beside the program in each archive and package.
func (b *builder) documents() ([]member, error) {
	var list []member
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md"} {
		data, err := os.ReadFile(filepath.Join(b.Root, name))
		if err != nil {
			return nil, fmt.Errorf("reading a file of the archives: %w", err)
		}
		list = append(list, member{name, data, 0o644})
	}
	return list, nil
}

// archive writes the archive with the program for a platform.
func (b *builder) archive(p Platform) error {
	program, err := os.ReadFile(b.binary(p))
	if err != nil {
		return fmt.Errorf("reading the program: %w", err)
	}
	documents, err := b.documents()
	if err != nil {
		return err
	}
	members := append([]member{{p.program(), program, 0o755}}, documents...)
	name, pack := fmt.Sprintf("scorel_%s_%s_%s", b.number(), p.OS, p.Arch), tarGzip
	if p.OS == "windows" {
		name, pack = name+".zip", zipped
	} else {
		name += ".tar.gz"
	}
	data, err := pack(members, b.Time)
	if err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return b.add(release.File{Name: name, Kind: release.KindArchive, OS: p.OS, Arch: p.Arch}, data)
}

// tarGzip writes a tar.gz whose bytes depend on its members and the time alone.
func tarGzip(members []member, at time.Time) ([]byte, error) {
	var out bytes.Buffer
	compressed := gzip.NewWriter(&out)
	archive := tar.NewWriter(compressed)
	for _, m := range members {
		header := &tar.Header{
			Typeflag: tar.TypeReg, Name: m.name, Size: int64(len(m.data)), Mode: int64(m.mode),
			ModTime: at.UTC().Truncate(time.Second), Format: tar.FormatUSTAR,
		}
		if err := archive.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := archive.Write(m.data); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(archive.Close(), compressed.Close()); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// zipped writes a zip whose bytes depend on its members and the time alone.
func zipped(members []member, at time.Time) ([]byte, error) {
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	for _, m := range members {
		header := &zip.FileHeader{Name: m.name, Method: zip.Deflate, Modified: at.UTC().Truncate(2 * time.Second)}
		header.SetMode(m.mode)
		w, err := archive.CreateHeader(header)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(m.data); err != nil {
			return nil, err
		}
	}
	if err := archive.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
