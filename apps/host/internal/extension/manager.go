package extension

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/scorel/scorel/apps/host/internal/definition"
	"github.com/scorel/scorel/apps/host/internal/hook"
	"github.com/scorel/scorel/apps/host/internal/mcp"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
)

// ProjectFolder is where a project has extensions, each in a folder.
const ProjectFolder = ".scorel/extensions"

// Bounds of a project and of what waits for a person.
const (
	maxInProject = 16
	maxFetched   = 16
)

// Options configure a Manager. All fields but Origin are required.
type Options struct {
	Logger   *slog.Logger
	Paths    state.Paths
	Added    *state.Extensions
	Switches *state.Switches
	Consents *state.Consents
	// Trusted reports whether a folder's own configuration is used.
	Trusted func(folder string) bool
	// Origin returns the folder whose consents count for a folder, such as the project's for a
	// worktree; nil is the folder itself.
	Origin func(folder string) string
}

// Manager knows the extensions of a home. A nil Manager has none.
type Manager struct {
	options Options
	store   *store

	mu      sync.Mutex
	fetched []state.Extension // what was fetched and not added, the oldest first
}

// New returns a Manager.
func New(options Options) *Manager {
	m := &Manager{options: options}
	m.store = newStore(options.Paths.Extensions(), func(hash string) bool { return slices.Contains(m.kept(), hash) })
	return m
}

// Clean removes copies that nothing refers to. Only the host calls it: what another process
// fetched would be lost.
func (m *Manager) Clean() error {
	kept := m.kept()
	return m.store.clean(func(hash string) bool { return slices.Contains(kept, hash) })
}

// kept returns the hashes of the copies that something refers to.
func (m *Manager) kept() []string {
	kept := m.options.Consents.AllowedHashes(consentName(""))
	for _, added := range m.options.Added.All() {
		kept = append(kept, added.Hash)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, waiting := range m.fetched {
		kept = append(kept, waiting.Hash)
	}
	return kept
}

func (m *Manager) origin(folder string) string {
	if m.options.Origin == nil || folder == "" {
		return folder
	}
	return m.options.Origin(folder)
}

func consentName(name string) string { return "extension:" + name }

// used is an extension in a folder.
type used struct {
	added    state.Extension // Source is api.ExtensionProject for one of the project
	contents *Contents       // nil if it cannot be read
	state    api.ExtensionState
	reason   string
	inUse    *Contents // nil if it is not used
}

// find returns the extensions of a folder, those that were added first. The folder "" has only
// these. problems are sentences about what is left out.
func (m *Manager) find(folder string) (list []used, problems []string) {
	for _, added := range m.options.Added.All() {
		list = append(list, m.addedIn(added, folder))
	}
	if folder == "" {
		return list, nil
	}
	for _, path := range m.inProject(folder, &problems) {
		u := m.ofProject(folder, path)
		same := func(have used) bool { return have.added.Name == u.added.Name }
		if i := slices.IndexFunc(list, same); i >= 0 {
			problems = append(problems, fmt.Sprintf("the extension %s of the project is left out: %s has the same name", u.added.Location, list[i].added.Location))
			continue
		}
		list = append(list, u)
	}
	return list, problems
}

func (m *Manager) addedIn(added state.Extension, folder string) used {
	u := used{added: added}
	contents, err := m.store.get(added.Hash)
	switch {
	case err != nil:
		u.state, u.reason = api.ExtensionFailed, err.Error()
	case contents.Name != added.Name:
		u.state, u.reason = api.ExtensionFailed, errDamaged.Error()
	case !m.options.Switches.Enabled(state.SwitchExtension, added.Name, m.origin(folder)):
		u.contents, u.state = contents, api.ExtensionDisabled
	default:
		u.contents, u.state, u.inUse = contents, api.ExtensionEnabled, contents
	}
	return u
}

// inProject returns the folders of the extensions of a project.
func (m *Manager) inProject(folder string, problems *[]string) (paths []string) {
	parent := filepath.Join(folder, filepath.FromSlash(ProjectFolder))
	real, err := filepath.EvalSymlinks(parent)
	if err != nil {
		return nil
	}
	if root, err := filepath.EvalSymlinks(folder); err != nil || real != filepath.Join(root, filepath.FromSlash(ProjectFolder)) {
		*problems = append(*problems, ProjectFolder+" is left out: it is a link")
		return nil
	}
	entries, err := os.ReadDir(parent)
	if err != nil {
		*problems = append(*problems, fmt.Sprintf("%s cannot be read: %v", ProjectFolder, err))
		return nil
	}
	for _, e := range entries {
		switch {
		case !e.IsDir() || strings.HasPrefix(e.Name(), "."):
		case len(paths) == maxInProject:
			*problems = append(*problems, fmt.Sprintf("%s has more than %d extensions: those after %s are left out", ProjectFolder, maxInProject, filepath.Base(paths[maxInProject-1])))
			return paths
		default:
			paths = append(paths, filepath.Join(parent, e.Name()))
		}
	}
	return paths
}

// ofProject returns an extension of a project. What is used of it is the copy that a person
// allowed.
func (m *Manager) ofProject(folder, path string) used {
	u := used{added: state.Extension{Name: shown(filepath.Base(path), maxName), Source: api.ExtensionProject, Location: path}}
	contents, err := m.store.take(path)
	if err != nil {
		u.state, u.reason = api.ExtensionFailed, err.Error()
		return u
	}
	u.contents, u.added.Name, u.added.Hash = contents, contents.Name, contents.Hash
	if !m.options.Trusted(folder) {
		u.state, u.reason = api.ExtensionUntrusted, "the folder is not trusted"
		return u
	}
	origin := m.origin(folder)
	allowed, decided := m.options.Consents.Find(origin, consentName(contents.Name), contents.Hash)
	earlier, err := m.earlier(origin, contents.Name)
	switch {
	case decided && !allowed:
		u.state, u.reason = api.ExtensionDenied, "it was denied"
	case !allowed && err != nil:
		u.state, u.reason = api.ExtensionNeedsConsent, "it is not allowed yet"
	case !m.options.Switches.Enabled(state.SwitchExtension, contents.Name, origin):
		u.state = api.ExtensionDisabled
	case allowed:
		u.state, u.inUse = api.ExtensionEnabled, contents
	default:
		u.state, u.reason, u.inUse = api.ExtensionChanged, "its files have changed: the version that was allowed is used until the new one is allowed or denied", earlier
	}
	return u
}

var errNever = errors.New("it was never allowed")

// earlier returns the copy of an extension of a project that was allowed last.
func (m *Manager) earlier(origin, name string) (*Contents, error) {
	hash, ok := m.options.Consents.Allowed(origin, consentName(name))
	if !ok {
		return nil, errNever
	}
	contents, err := m.store.get(hash)
	if err == nil && contents.Name != name {
		err = errDamaged
	}
	return contents, err
}

// inUse returns the extensions that are used in a folder.
func (m *Manager) inUse(folder string) (list []*Contents) {
	if m == nil {
		return nil
	}
	found, _ := m.find(folder)
	for _, u := range found {
		if u.inUse != nil {
			list = append(list, u.inUse)
		}
	}
	slices.SortFunc(list, func(a, b *Contents) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// Definitions returns where the extensions that are used in a folder have skills, commands and
// agents.
func (m *Manager) Definitions(folder string) (list []definition.Extension) {
	for _, c := range m.inUse(folder) {
		list = append(list, c.Definitions)
	}
	return list
}

// Hooks returns the hooks of the extensions that are used in a folder.
func (m *Manager) Hooks(folder string) (list []hook.Bundle) {
	for _, c := range m.inUse(folder) {
		list = append(list, c.Hooks)
	}
	return list
}

// Servers returns the MCP servers of the extensions that are used in a folder.
func (m *Manager) Servers(folder string) (list []mcp.Bundle) {
	for _, c := range m.inUse(folder) {
		list = append(list, c.Servers)
	}
	return list
}

// List returns the extensions of a folder for people; "" is those for every project.
func (m *Manager) List(folder string) ([]api.Extension, []string) {
	found, problems := m.find(folder)
	list := make([]api.Extension, 0, len(found))
	for _, u := range found {
		list = append(list, u.described())
	}
	slices.SortFunc(list, func(a, b api.Extension) int { return cmp.Compare(a.Name, b.Name) })
	return list, problems
}

func (u used) described() api.Extension {
	e := describe(u.added, u.contents)
	e.State, e.Reason = u.state, u.reason
	return e
}

func describe(from state.Extension, c *Contents) api.Extension {
	e := api.Extension{
		Name: from.Name, Source: from.Source, Location: from.Location, Ref: from.Ref, Folder: from.Folder, Commit: from.Commit, Hash: from.Hash,
		Contents: api.ExtensionContents{
			Skills: []api.ExtensionPart{}, Commands: []api.ExtensionPart{}, Agents: []api.ExtensionPart{}, Hooks: []api.ExtensionHook{}, Servers: []api.ExtensionServer{},
		},
	}
	if c != nil {
		e.Version, e.Description, e.Contents = c.Version, c.Description, c.Shown
	}
	return e
}
