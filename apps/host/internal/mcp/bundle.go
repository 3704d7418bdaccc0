package mcp

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/exactjson"
)

// Bundle is the servers of an extension. A person allowed all of its files, so its servers need
// no consent of their own. They are named EXTENSION:NAME.
type Bundle struct {
	Extension string // its name
	Root      string // absolute path of its copy
	Files     []BundleFile
}

// BundleFile is a file with servers, as .mcp.json or as the servers alone.
type BundleFile struct {
	Name string
	Data []byte
}

// rootNames are the variables that stand for the folder of an extension.
func rootNames() []string { return []string{"${CLAUDE_PLUGIN_ROOT}", "${SCOREL_EXTENSION_ROOT}"} }

func sourceOf(extension string) string { return "extension " + extension }

// bundled reports whether the server comes with an extension.
func (s spec) bundled() bool { return s.root != "" }

// specs returns the servers of an extension, sorted by name.
func (b Bundle) specs() (specs []spec, problems []string) {
	problem := func(file, format string, args ...any) {
		problems = append(problems, fmt.Sprintf("the extension %s: %s: %s", b.Extension, file, fmt.Sprintf(format, args...)))
	}
	found := map[string]spec{}
	for _, file := range b.Files {
		servers, err := serversOf(file.Data)
		if err != nil {
			problem(file.Name, "its servers cannot be read, so none of them is used: %v", err)
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(servers)) {
			switch {
			case state.CheckMCPName(name) != nil:
				problem(file.Name, "the server %.80q is left out: %v", name, state.CheckMCPName(name))
			case vague(name):
				problem(file.Name, "the server %.80q is left out: rules could take its tools for those of another server", name)
			case len(found) == maxServers:
				problem(file.Name, "the server %s is left out: an extension may have %d", name, maxServers)
			case found[name].name != "":
				problem(file.Name, "the server %s is left out: there is another one of that name", name)
			default:
				found[name] = b.spec(name, servers[name])
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		specs = append(specs, found[name])
	}
	return specs, problems
}

// serversOf reads the servers of a file, which are below mcpServers or are all that it has.
func serversOf(data []byte) (map[string]json.RawMessage, error) {
	var file map[string]json.RawMessage
	if err := exactjson.Strict(data, &file); err != nil {
		return nil, err
	}
	inner, ok := file["mcpServers"]
	if !ok {
		return file, nil
	}
	var servers map[string]json.RawMessage
	err := exactjson.Strict(inner, &servers)
	return servers, err
}

func (b Bundle) spec(name string, raw json.RawMessage) spec {
	s := spec{name: b.Extension + ":" + name, source: sourceOf(b.Extension), root: b.Root, start: defaultStart, call: defaultCall}
	if err := exactjson.Strict(raw, &s.definition); err != nil {
		s.fault = fmt.Sprintf("it cannot be read: %v", err)
		return s
	}
	s.fault = s.definition.fault()
	if s.fault == "" && !s.definition.legible() {
		s.fault = "its configuration has characters that cannot be shown"
	}
	s.definition = s.definition.below(b.Root)
	return s
}

// legible reports whether people see the configuration as it is.
func (d definition) legible() bool {
	texts := append([]string{d.Command, d.Cwd, d.URL}, d.Args...)
	for _, values := range []map[string]string{d.Env, d.Headers} {
		for name, value := range values {
			texts = append(texts, name, value)
		}
	}
	return !slices.ContainsFunc(texts, func(text string) bool {
		return !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool {
			return !unicode.IsPrint(r) && r != '\n' && r != '\t' || unicode.In(r, unicode.Bidi_Control, unicode.Cf)
		})
	})
}

// below replaces the variables for the folder of an extension.
func (d definition) below(root string) definition {
	put := func(text string) string {
		for _, name := range rootNames() {
			text = strings.ReplaceAll(text, name, root)
		}
		return text
	}
	putAll := func(values map[string]string) map[string]string {
		out := map[string]string{}
		for name, value := range values {
			out[name] = put(value)
		}
		return out
	}
	out := definition{Type: d.Type, Command: put(d.Command), Cwd: put(d.Cwd), URL: put(d.URL), Env: putAll(d.Env), Headers: putAll(d.Headers)}
	for _, arg := range d.Args {
		out.Args = append(out.Args, put(arg))
	}
	return out
}

// Describe returns the servers of an extension for people, and what is wrong with its files.
// The folder of its copy is shown as a variable.
func Describe(b Bundle) (list []api.ExtensionServer, problems []string) {
	b.Root = rootNames()[0]
	specs, problems := b.specs()
	list = []api.ExtensionServer{}
	for _, s := range specs {
		d, hide := s.definition, s.hiding()
		list = append(list, api.ExtensionServer{
			Name: s.name, Transport: d.transport(), Shown: d.shown(hide), Command: d.Command, Args: d.Args, Cwd: d.Cwd, Env: settings(d.Env, hide.variable),
			URL: d.URL, Headers: settings(d.Headers, hide.header), Problem: s.fault,
		})
	}
	return list, problems
}

// addBundles adds the servers of the extensions that are used in a folder. One whose tools could
// be taken for those of another server is left out, so that rules about that one keep their
// meaning.
func (m *Manager) addBundles(servers map[string]spec, folder string) (problems []string) {
	if m.options.Bundles == nil {
		return nil
	}
	for _, b := range m.options.Bundles(folder) {
		specs, wrong := b.specs()
		problems = append(problems, wrong...)
		for _, s := range specs {
			if other := likeOf(s.name, servers); other != "" {
				problems = append(problems, fmt.Sprintf("the server %s is left out: its tools could be taken for those of %s", s.name, other))
				continue
			}
			servers[s.name] = s
		}
	}
	return problems
}
