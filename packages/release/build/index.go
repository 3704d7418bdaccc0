package build

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/scorel/scorel/packages/release"
)

// add writes a file of the release and lists it.
func (b *builder) add(f release.File, data []byte) error {
	sum := sha256.Sum256(data)
	f.Size, f.SHA256 = int64(len(data)), hex.EncodeToString(sum[:])
	if err := os.WriteFile(filepath.Join(b.Out, f.Name), data, 0o644); err != nil {
		return fmt.Errorf("writing a file of the release: %w", err)
	}
	b.files = append(b.files, f)
	return nil
}

// addFile lists a file that a program has written.
func (b *builder) addFile(f release.File, path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("reading a file of the release: %w", err)
	}
	return b.add(f, data)
}

// sum returns the checksum of a file that is listed already.
func (b *builder) sum(name string) (string, bool) {
	for _, f := range b.files {
		if f.Name == name {
			return f.SHA256, true
		}
	}
	return "", false
}

// sign writes the index, the checksums for people and scripts, and a signature for each.
func (b *builder) sign() error {
	slices.SortFunc(b.files, func(x, y release.File) int { return strings.Compare(x.Name, y.Name) })
	index, err := json.MarshalIndent(release.Index{
		Version: b.Version, Commit: b.Commit, Time: b.Time.UTC().Format(time.RFC3339), Go: runtime.Version(), Files: b.files,
	}, "", "  ")
	if err != nil {
		return fmt.Errorf("writing the index: %w", err)
	}
	if _, err := release.Parse(index); err != nil {
		return err
	}
	var sums strings.Builder
	for _, f := range b.files {
		fmt.Fprintf(&sums, "%s  %s\n", f.SHA256, f.Name)
	}
	for name, data := range map[string][]byte{release.IndexName: index, release.SumsName: []byte(sums.String())} {
		signature := release.Sign(b.Key, data, "scorel "+b.Version+" "+name)
		for path, content := range map[string][]byte{name: data, name + release.SignatureSuffix: signature} {
			if err := os.WriteFile(filepath.Join(b.Out, path), content, 0o644); err != nil {
				return fmt.Errorf("writing the index: %w", err)
			}
		}
	}
	return nil
}
