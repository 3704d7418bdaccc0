package extension

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/scorel/scorel/packages/protocol/exactjson"
	"github.com/scorel/scorel/packages/protocol/visible"
)

// Files that make a folder an extension: our own, and the one of Claude Code's plugins.
const (
	OwnManifest    = "extension.json"
	PluginManifest = ".claude-plugin/plugin.json"
)

// Bounds of a manifest.
const (
	maxManifest    = 64 << 10
	maxName        = 32
	maxVersion     = 64
	maxDescription = 300
	maxNamed       = 64 // paths that a manifest names for one kind
)

var goodName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// manifest is what an extension says about itself. Both files have the same keys.
type manifest struct {
	Name        string          `json:"name"`
	Version     string          `json:"version"`
	Description string          `json:"description"`
	Skills      json.RawMessage `json:"skills"`
	Commands    json.RawMessage `json:"commands"`
	Agents      json.RawMessage `json:"agents"`
	Hooks       json.RawMessage `json:"hooks"`
	Servers     json.RawMessage `json:"mcpServers"`
}

// informative are keys that only describe an extension.
func informative() []string {
	return []string{"$schema", "name", "version", "description", "displayName", "author", "homepage", "repository", "license", "keywords",
		"skills", "commands", "agents", "hooks", "mcpServers"}
}

// readManifest reads the manifest of a copy. problems are sentences about what it asks for that
// does not exist here.
func readManifest(root string, t tree) (m manifest, problems []string, err error) {
	name := OwnManifest
	if _, own := t.files[name]; !own {
		name = PluginManifest
	} else if _, both := t.files[PluginManifest]; both {
		problems = append(problems, fmt.Sprintf("it has two manifests: %s is used, and %s is not", OwnManifest, PluginManifest))
	}
	f, ok := t.files[name]
	switch {
	case !ok:
		return m, nil, fmt.Errorf("it has no manifest: an extension has a file %s or %s", OwnManifest, PluginManifest)
	case f.Size > maxManifest:
		return m, nil, fmt.Errorf("%s is larger than the limit of %d KiB", name, maxManifest>>10)
	}
	data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		return m, nil, fmt.Errorf("%s cannot be read: %w", name, err)
	}
	if err := onceOnly(data); err != nil {
		return m, nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := exactjson.Strict(data, &m); err != nil {
		return m, nil, fmt.Errorf("%s is not a manifest: %w", name, err)
	}
	odd, err := m.tidy()
	if err != nil {
		return m, nil, fmt.Errorf("%s: %w", name, err)
	}
	return m, slices.Concat(problems, odd, unusedKeys(data)), nil
}

// tidy refuses a name that is not one, and removes what people could misread from the rest.
func (m *manifest) tidy() (problems []string, err error) {
	if len(m.Name) > maxName || !goodName.MatchString(m.Name) {
		return nil, fmt.Errorf("the name %s must be at most %d characters of a-z, 0-9 and single hyphens", printable(m.Name), maxName)
	}
	clean := func(what, text string, most int) string {
		tidied := shown(text, most)
		if tidied != text {
			problems = append(problems, "its "+what+" is too long or has characters that cannot be shown, and was shortened")
		}
		return tidied
	}
	m.Version, m.Description = clean("version", m.Version, maxVersion), clean("description", m.Description, maxDescription)
	return problems, nil
}

// shown returns a text in one line without characters that cannot be shown.
func shown(text string, most int) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " ")
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || unicode.In(r, unicode.Bidi_Control, unicode.Cf) {
			return -1
		}
		return r
	}, text)
	return visible.Shorten(text, most)
}

func unusedKeys(data []byte) (problems []string) {
	var keys map[string]json.RawMessage
	if exactjson.Unmarshal(data, &keys) != nil {
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if !slices.Contains(informative(), key) {
			problems = append(problems, fmt.Sprintf("its manifest has %s, which scorel does not use", printable(key)))
		}
	}
	return problems
}

// onceOnly refuses JSON in which an object has a key twice: two programs would see two things.
func onceOnly(data []byte) error {
	if exactjson.DeeperThan(data, exactjson.MaxDepth) {
		return fmt.Errorf("it is nested more than %d levels deep", exactjson.MaxDepth)
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	if err := onceIn(decoder); err != nil {
		return err
	}
	if _, err := decoder.Token(); err == nil {
		return errors.New("there is more after the end of its object")
	}
	return nil
}

func onceIn(decoder *json.Decoder) error {
	token, err := decoder.Token()
	if err != nil {
		return fmt.Errorf("it is not valid JSON: %w", err)
	}
	open, _ := token.(json.Delim)
	seen := map[string]bool{}
	for (open == '{' || open == '[') && decoder.More() {
		if open == '{' {
			key, err := decoder.Token()
			if err != nil {
				return fmt.Errorf("it is not valid JSON: %w", err)
			}
			name, _ := key.(string)
			if seen[name] {
				return fmt.Errorf("the key %s is in one object twice", printable(name))
			}
			seen[name] = true
		}
		if err := onceIn(decoder); err != nil {
			return err
		}
	}
	if open == '{' || open == '[' {
		_, err = decoder.Token()
	}
	if err != nil {
		return fmt.Errorf("it is not valid JSON: %w", err)
	}
	return nil
}

// named returns the paths of a copy that the manifest names for a kind, after the usual ones.
// Those that are not in the copy are problems, except for the usual ones.
func (t tree) named(kind string, value json.RawMessage, usual ...string) (paths []string, problems []string) {
	for _, name := range usual {
		if t.has(name) {
			paths = append(paths, name)
		}
	}
	list, err := pathList(value)
	if err != nil {
		return paths, []string{fmt.Sprintf("its manifest names no %s: %v", kind, err)}
	}
	for _, given := range list {
		name := path.Clean(strings.TrimPrefix(given, "./"))
		switch {
		case slices.Contains(paths, name):
		case !filepath.IsLocal(filepath.FromSlash(name)) || strings.Contains(given, `\`) || name != "." && !t.has(name):
			problems = append(problems, fmt.Sprintf("its manifest names %s for its %s, which is not in the extension", printable(given), kind))
		default:
			paths = append(paths, name)
		}
	}
	return paths, problems
}

// pathList reads a path or a list of paths.
func pathList(value json.RawMessage) (list []string, err error) {
	var one string
	switch {
	case len(value) == 0:
		return nil, nil
	case json.Unmarshal(value, &one) == nil:
		return []string{one}, nil
	case json.Unmarshal(value, &list) != nil:
		return nil, errors.New("it has neither a path nor a list of paths")
	case len(list) > maxNamed:
		return nil, fmt.Errorf("it has more than %d paths", maxNamed)
	}
	return list, nil
}

// has reports whether a file or folder is in the copy.
func (t tree) has(name string) bool {
	if _, ok := t.files[name]; ok {
		return true
	}
	for file := range t.files {
		if strings.HasPrefix(file, name+"/") {
			return true
		}
	}
	return false
}
