package build

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/scorel/scorel/packages/release"
)

// lockfile is the part of package-lock.json that says what is in the web UI.
type lockfile struct {
	Packages map[string]struct {
		Version     string `json:"version"`
		License     string `json:"license"`
		Integrity   string `json:"integrity"`
		Dev         bool   `json:"dev"`
		Optional    bool   `json:"optional"`
		DevOptional bool   `json:"devOptional"`
	} `json:"packages"`
}

// pageComponents lists the packages in the web UI. `npm sbom` would write a random number and
// the time too, and fails for the packages of this repository.
func (b *builder) pageComponents() error {
	data, err := os.ReadFile(filepath.Join(b.Root, "apps", "web", "package-lock.json"))
	if err != nil {
		return fmt.Errorf("listing the packages of the web UI: %w", err)
	}
	var lock lockfile
	if err := json.Unmarshal(data, &lock); err != nil {
		return fmt.Errorf("reading package-lock.json: %w", err)
	}
	components := []any{}
	for _, path := range slices.Sorted(maps.Keys(lock.Packages)) {
		p := lock.Packages[path]
		_, name, installed := cutLast(path, "node_modules/")
		if !installed || p.Version == "" || p.Integrity == "" || p.Dev || p.Optional || p.DevOptional {
			continue
		}
		component := map[string]any{
			"type": "library", "name": name, "version": p.Version,
			"purl":    "pkg:npm/" + strings.Replace(name, "@", "%40", 1) + "@" + p.Version,
			"bom-ref": path,
		}
		if p.License != "" {
			component["licenses"] = []any{map[string]any{"expression": p.License}}
		}
		if sum, ok := strings.CutPrefix(p.Integrity, "sha512-"); ok {
			if raw, err := base64.StdEncoding.DecodeString(sum); err == nil {
				component["hashes"] = []any{map[string]any{"alg": "SHA-512", "content": hex.EncodeToString(raw)}}
			}
		}
		components = append(components, component)
	}
	text, err := json.MarshalIndent(map[string]any{
		"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1, "components": components,
		"metadata": map[string]any{"component": map[string]any{
			"type": "application", "name": "scorel web UI", "version": b.Version, "bom-ref": "page",
		}},
	}, "", "  ")
	if err != nil {
		return fmt.Errorf("writing the list of components: %w", err)
	}
	return b.add(release.File{Name: fmt.Sprintf("scorel_%s_page.cdx.json", b.number()), Kind: release.KindOther}, append(text, '\n'))
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}
