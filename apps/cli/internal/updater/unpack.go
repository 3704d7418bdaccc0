package updater

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strings"

	"github.com/scorel/scorel/packages/release"
)

// unpack returns the program in an archive that was verified.
func unpack(name string, archive []byte) ([]byte, error) {
	if strings.HasSuffix(name, ".zip") {
		return unzip(name, archive)
	}
	unzipped, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return nil, fmt.Errorf("updater: reading %s: %w", name, err)
	}
	for files := tar.NewReader(unzipped); ; {
		header, err := files.Next()
		if err != nil {
			return nil, fmt.Errorf("updater: finding the program in %s: %w", name, err)
		}
		if header.Name == "scorel" && header.Typeflag == tar.TypeReg {
			return readProgram(name, files)
		}
	}
}

func unzip(name string, archive []byte) ([]byte, error) {
	files, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return nil, fmt.Errorf("updater: reading %s: %w", name, err)
	}
	program, err := files.Open("scorel.exe")
	if err != nil {
		return nil, fmt.Errorf("updater: finding the program in %s: %w", name, err)
	}
	defer func() { _ = program.Close() }() // it was only read
	return readProgram(name, program)
}

func readProgram(name string, from io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(from, release.MaxFile+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("updater: reading the program in %s: %w", name, err)
	case len(data) > release.MaxFile:
		return nil, fmt.Errorf("updater: the program in %s is longer than %d bytes", name, release.MaxFile)
	}
	return data, nil
}
