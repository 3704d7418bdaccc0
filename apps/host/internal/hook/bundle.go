package hook

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
)

// Bundle is the hooks of an extension. A person allowed all of the files of the extension, so
// its hooks need no consent of their own.
type Bundle struct {
	Extension string // its name
	Hash      string // of its files
	Root      string // absolute path of its copy
	Files     []BundleFile
}

// BundleFile is a file of hooks: Claude Code's settings, or our own if its name ends in .toml.
type BundleFile struct {
	Name string
	Data []byte
}

// sourceOf is the source of the hooks of an extension.
func sourceOf(extension string) string { return "extension " + extension }

func (b Bundle) specs() (specs []spec, problems []string) {
	for _, file := range b.Files {
		found, wrong := b.parse(file)
		specs = append(specs, found...)
		for _, problem := range wrong {
			problems = append(problems, fmt.Sprintf("the extension %s: %s", b.Extension, problem))
		}
	}
	if len(specs) > state.MaxHooks {
		return nil, append(problems, fmt.Sprintf("the extension %s has %d hooks, the limit is %d: none of them runs", b.Extension, len(specs), state.MaxHooks))
	}
	for i := range specs {
		if !legible(specs[i].Command + specs[i].Matcher + specs[i].name) {
			specs[i].fault = "its command has characters that cannot be shown"
		}
		specs[i].Source, specs[i].root, specs[i].content = sourceOf(b.Extension), b.Root, b.Hash
	}
	return specs, problems
}

// legible reports whether people see a text as it is.
func legible(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool {
		return !unicode.IsPrint(r) && r != '\n' && r != '\t' || unicode.In(r, unicode.Bidi_Control, unicode.Cf)
	})
}

func (b Bundle) parse(file BundleFile) (specs []spec, problems []string) {
	if path.Ext(file.Name) != ".toml" {
		return claudeHooks(file.Name, file.Data)
	}
	tables, err := state.ParseHooks(file.Data)
	if err != nil {
		return nil, []string{file.Name + err.Error()}
	}
	for _, h := range tables {
		specs = append(specs, ofTable(h, file.Name))
	}
	return specs, nil
}

// Describe returns the hooks of an extension for people, and what is wrong with its files.
func Describe(b Bundle) (list []api.ExtensionHook, problems []string) {
	specs, problems := b.specs()
	list = []api.ExtensionHook{}
	for _, s := range specs {
		list = append(list, api.ExtensionHook{Event: s.Event, Matcher: s.Matcher, Command: s.Command, TimeoutSeconds: s.Seconds, Problem: s.fault})
	}
	return list, problems
}

// bundles are the extensions that are used in a folder.
func (m *Manager) bundles(folder string) []Bundle {
	if m.options.Bundles == nil {
		return nil
	}
	return m.options.Bundles(folder)
}

// used reports whether the extension of a hook is still used in a folder, with the same files.
func (m *Manager) used(s spec, folder string) bool {
	return slices.ContainsFunc(m.bundles(folder), func(b Bundle) bool {
		return sourceOf(b.Extension) == s.Source && b.Hash == s.content
	})
}
