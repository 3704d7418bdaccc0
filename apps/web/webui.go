// Package web holds the built web UI and the built documentation, so that one binary serves them.
package web

import (
	"archive/zip"
	"bytes"
	"embed"
	"io/fs"
)

//go:embed all:embed
var embedded embed.FS

// Files returns the built web UI; ok is false when the binary was built without
// it (make web builds it).
func Files() (files fs.FS, ok bool) { return unpack("embed/page.zip") }

// Docs returns the built documentation; ok is false when the binary was built without
// it (make site builds it).
func Docs() (files fs.FS, ok bool) { return unpack("embed/docs.zip") }

// unpack opens a zip file that was embedded. Its files are decompressed when they are read.
func unpack(name string) (fs.FS, bool) {
	data, err := embedded.ReadFile(name)
	if err != nil {
		return nil, false
	}
	files, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, false
	}
	_, err = fs.Stat(files, "index.html")
	return files, err == nil
}
