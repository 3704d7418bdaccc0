// Package release describes a release of scorel: its files with their checksums, and the
// signature over this list.
//
// A release is a folder at an HTTPS address. Its index, release.json, is signed in the format
// of minisign. Whoever installs a file checks the signature first, then the size and the
// checksum that the index has for it, so the address itself need not be trusted.
package release

import (
	"errors"
	"fmt"
	"regexp"

	"golang.org/x/mod/semver"

	"github.com/scorel/scorel/packages/protocol/exactjson"
)

// Names of files in the folder of a release.
const (
	IndexName = "release.json"
	SumsName  = "SHA256SUMS"
	// SignatureSuffix is behind the name of a file in the name of its signature.
	SignatureSuffix = ".minisig"
)

// Limits of what is read from a release.
const (
	MaxIndex = 1 << 20   // bytes of an index or a signature
	MaxFile  = 256 << 20 // bytes of a file that the index lists, and of the program in it
	maxFiles = 1000      // files of an index
)

// Index lists the files of a release.
type Index struct {
	Version string `json:"version"` // semantic, with a leading v
	Commit  string `json:"commit"`
	Time    string `json:"time"` // of the commit, RFC 3339
	Go      string `json:"go"`   // the compiler, which decides the bytes too
	Files   []File `json:"files"`
}

// Kind says what a file of a release is. Unknown kinds are ignored.
type Kind string

// Kinds of files.
const (
	KindArchive Kind = "archive" // the program in a tar.gz, for Windows in a zip
	KindPackage Kind = "package" // deb and rpm
	KindNPM     Kind = "npm"
	KindOther   Kind = "other"
)

// File is a file of a release.
type File struct {
	Name   string `json:"name"` // without a folder
	Kind   Kind   `json:"kind"`
	OS     string `json:"os,omitempty"`   // GOOS
	Arch   string `json:"arch,omitempty"` // GOARCH
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"` // in lower case hex
}

var (
	fileName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+-]{0,127}$`)
	checksum = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// Parse reads an index whose signature has been checked.
func Parse(data []byte) (Index, error) {
	var index Index
	if len(data) > MaxIndex {
		return Index{}, fmt.Errorf("release: the index is longer than %d bytes", MaxIndex)
	}
	if err := exactjson.Unmarshal(data, &index); err != nil {
		return Index{}, fmt.Errorf("release: reading the index: %w", err)
	}
	if err := index.check(); err != nil {
		return Index{}, fmt.Errorf("release: the index is invalid: %w", err)
	}
	return index, nil
}

func (x Index) check() error {
	switch {
	case !semver.IsValid(x.Version):
		return fmt.Errorf("%.40q is not a semantic version", x.Version)
	case len(x.Files) > maxFiles:
		return fmt.Errorf("it lists more than %d files", maxFiles)
	}
	for _, f := range x.Files {
		if !fileName.MatchString(f.Name) || !checksum.MatchString(f.SHA256) || f.Size <= 0 || f.Size > MaxFile {
			return fmt.Errorf("the file %.40q has an invalid name, size or checksum", f.Name)
		}
	}
	return nil
}

// ErrNoArchive means that a release has no program for a platform.
var ErrNoArchive = errors.New("the release has no program for this platform")

// Archive returns the archive with the program for a platform.
func (x Index) Archive(goos, goarch string) (File, error) {
	for _, f := range x.Files {
		if f.Kind == KindArchive && f.OS == goos && f.Arch == goarch {
			return f, nil
		}
	}
	return File{}, fmt.Errorf("%w (%s/%s)", ErrNoArchive, goos, goarch)
}

// Released reports whether a version is one of a release, and not of a build from source.
func Released(version string) bool { return semver.IsValid(version) && semver.Build(version) == "" }

// Compare returns -1, 0 or 1 as version a is older than, equal to or newer than b.
func Compare(a, b string) int { return semver.Compare(a, b) }
