package build

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/scorel/scorel/packages/release"
)

// manifest is a package.json, in the order of its fields.
type manifest struct {
	Name                 string            `json:"name"`
	Version              string            `json:"version"`
	Description          string            `json:"description"`
	License              string            `json:"license"`
	Repository           repository        `json:"repository"`
	Bin                  map[string]string `json:"bin,omitempty"`
	OS                   []string          `json:"os,omitempty"`
	CPU                  []string          `json:"cpu,omitempty"`
	Files                []string          `json:"files,omitempty"`
	Engines              map[string]string `json:"engines,omitempty"`
	OptionalDependencies map[string]string `json:"optionalDependencies,omitempty"`
	PreferUnplugged      bool              `json:"preferUnplugged,omitempty"` // Yarn must unpack a program
}

type repository struct {
	Type string `json:"type"`
	URL  string `json:"url"`
}

// npmPlatform returns a platform in the names of Node.
func npmPlatform(p Platform) (system, cpu string) {
	system, cpu = p.OS, p.Arch
	if system == "windows" {
		system = "win32"
	}
	if cpu == "amd64" {
		cpu = "x64"
	}
	return system, cpu
}

func platformPackageName(p Platform) string {
	system, cpu := npmPlatform(p)
	return "@scorel/cli-" + system + "-" + cpu
}

func (b *builder) manifest(name, description string) manifest {
	return manifest{
		Name: name, Version: b.number(), Description: description, License: "Apache-2.0",
		Repository: repository{"git", "git+https://github.com/scorel/scorel.git"},
	}
}

// platformPackage writes the npm package with the program for one platform. npm installs the
// one that fits, because the main package has all as optional dependencies.
func (b *builder) platformPackage(p Platform) error {
	system, cpu := npmPlatform(p)
	m := b.manifest(platformPackageName(p), fmt.Sprintf("The program of scorel for %s on %s", system, cpu))
	m.OS, m.CPU, m.PreferUnplugged = []string{system}, []string{cpu}, true
	program, err := os.ReadFile(b.binary(p))
	if err != nil {
		return fmt.Errorf("reading the program: %w", err)
	}
	members := []member{
		{"package/bin/" + p.program(), program, 0o755},
		{"package/share/scorel/package", []byte("npm\n"), 0o644},
	}
	return b.addNPM(fmt.Sprintf("scorel-cli-%s-%s-%s.tgz", system, cpu, b.number()), m, members)
}

// mainPackage writes the npm package scorel, which finds and starts the program.
func (b *builder) mainPackage() error {
	m := b.manifest("scorel", "Reach the coding agent on your machine from any browser or terminal")
	m.Bin = map[string]string{"scorel": "bin/scorel.js"}
	m.Engines = map[string]string{"node": ">=18"}
	m.OptionalDependencies = map[string]string{}
	for _, p := range b.Platforms {
		m.OptionalDependencies[platformPackageName(p)] = b.number()
	}
	launcher, err := os.ReadFile(filepath.Join(b.Root, "deploy", "release", "npm", "scorel.js"))
	if err != nil {
		return fmt.Errorf("reading the launcher of the npm package: %w", err)
	}
	return b.addNPM(fmt.Sprintf("scorel-%s.tgz", b.number()), m, []member{{"package/bin/scorel.js", launcher, 0o755}})
}

// addNPM writes the file that `npm publish` takes.
func (b *builder) addNPM(name string, m manifest, members []member) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("writing package.json: %w", err)
	}
	documents, err := b.documents()
	if err != nil {
		return err
	}
	all := []member{{"package/package.json", append(text, '\n'), 0o644}}
	for _, d := range documents {
		d.name = "package/" + d.name
		all = append(all, d)
	}
	data, err := tarGzip(append(all, members...), b.Time)
	if err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return b.add(release.File{Name: name, Kind: release.KindNPM}, data)
}
