package build

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/scorel/scorel/packages/release"
)

// placeholder is what a template leaves open.
var placeholder = regexp.MustCompile(`@[A-Z][A-Z0-9_]*@`)

// template fills in a file of deploy/release. A placeholder without a value is an error.
func (b *builder) template(name string, values map[string]string) ([]byte, error) {
	data, err := os.ReadFile(filepath.Join(b.Root, "deploy", "release", name))
	if err != nil {
		return nil, fmt.Errorf("reading a template: %w", err)
	}
	var missing []string
	text := placeholder.ReplaceAllStringFunc(string(data), func(found string) string {
		value, ok := values[strings.Trim(found, "@")]
		if !ok {
			missing = append(missing, found)
		}
		return value
	})
	if len(missing) > 0 {
		return nil, fmt.Errorf("filling in %s: %s has no value", name, strings.Join(missing, ", "))
	}
	return []byte(text), nil
}

// scripts writes the install scripts. Each installs its own release, so what it downloads
// fits what it checks.
func (b *builder) scripts() error {
	values := map[string]string{
		"VERSION": b.number(), "KEY": b.Trust[0], "URL": versionURL + b.Version,
	}
	for _, name := range []string{"install.sh", "install.ps1"} {
		text, err := b.template(name, values)
		if err != nil {
			return err
		}
		if err := b.add(release.File{Name: name, Kind: release.KindOther}, text); err != nil {
			return err
		}
	}
	return nil
}

// formula writes the Homebrew formula. A release without one of its platforms has none.
func (b *builder) formula() error {
	values := map[string]string{"VERSION": b.number(), "URL": versionURL + b.Version}
	for _, p := range Platforms() {
		if p.OS == "windows" {
			continue
		}
		sum, ok := b.sum(fmt.Sprintf("scorel_%s_%s_%s.tar.gz", b.number(), p.OS, p.Arch))
		if !ok {
			return nil
		}
		values["SHA256_"+strings.ToUpper(p.OS+"_"+p.Arch)] = sum
	}
	text, err := b.template("scorel.rb", values)
	if err != nil {
		return err
	}
	return b.add(release.File{Name: "scorel.rb", Kind: release.KindOther}, text)
}
