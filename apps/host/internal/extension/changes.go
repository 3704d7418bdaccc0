package extension

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
)

// Fetch copies an extension from a folder or a git repository into the home, for people to
// review. It is not used before Save.
func (m *Manager) Fetch(ctx context.Context, r api.FetchExtensionRequest) (response api.FetchExtensionResponse, err error) {
	from, err := m.source(r)
	if err != nil {
		return response, err
	}
	folder := from.Location
	if from.Source == api.ExtensionGit {
		temporary, err := os.MkdirTemp("", "scorel-extension-")
		if err != nil {
			return response, fmt.Errorf("extension: creating a folder for a repository: %w", err)
		}
		defer func() { _ = removeAll(temporary) }()
		if from.Commit, err = fetchGit(ctx, temporary, from); err != nil {
			return response, err
		}
		folder = filepath.Join(temporary, checkedOut)
	}
	contents, err := m.store.take(folder)
	if err != nil {
		return response, refused("the extension cannot be used: %v", err)
	}
	if r.Name != "" && contents.Name != r.Name {
		return response, api.Errorf(api.KindConflict, "the extension is named %s now: add it as another extension, and remove %s", contents.Name, r.Name)
	}
	from.Name, from.Hash = contents.Name, contents.Hash
	m.remember(from)
	response.Extension, response.Changes = describe(from, contents), []api.ExtensionChange{}
	response.Extension.State, response.Extension.Reason = api.ExtensionNeedsConsent, "it is not added yet"
	if have, ok := m.options.Added.Find(contents.Name); ok {
		response.Replaces = have.Hash
		if before, err := m.store.get(have.Hash); err == nil {
			response.Changes = differences(before, contents)
		}
	}
	return response, nil
}

func refused(format string, args ...any) error {
	return api.Errorf(api.KindBadRequest, format, args...)
}

// source returns where to fetch from.
func (m *Manager) source(r api.FetchExtensionRequest) (state.Extension, error) {
	switch {
	case (r.Name == "") == (r.Source == ""):
		return state.Extension{}, refused("give the name of an added extension, or a source")
	case r.Name != "":
		have, ok := m.options.Added.Find(r.Name)
		if !ok {
			return have, unknown(r.Name)
		}
		if r.Ref != "" {
			have.Ref = r.Ref
		}
		if have.Source == api.ExtensionFolder { // it may lead elsewhere by now
			return have, m.notOurs(have.Location)
		}
		return have, checkGit(have)
	case filepath.IsAbs(r.Source):
		if r.Ref != "" || r.Folder != "" {
			return state.Extension{}, refused("a ref and a folder inside belong to a git repository: for a local one, write file://%s", r.Source)
		}
		return state.Extension{Source: api.ExtensionFolder, Location: filepath.Clean(r.Source)}, m.notOurs(r.Source)
	}
	from := state.Extension{Source: api.ExtensionGit, Location: r.Source, Ref: r.Ref, Folder: r.Folder}
	return from, checkGit(from)
}

// notOurs refuses folders of the home: they hold keys.
func (m *Manager) notOurs(folder string) error {
	resolve := func(path string) string {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			return real
		}
		return filepath.Clean(path)
	}
	home, given := resolve(m.options.Paths.Home), resolve(folder)
	for _, pair := range [][2]string{{home, given}, {given, home}} {
		if below, err := filepath.Rel(pair[0], pair[1]); err == nil && filepath.IsLocal(below) {
			return refused("%s is, or contains, the folder in which scorel keeps its own files: choose another folder", folder)
		}
	}
	return nil
}

func unknown(name string) error {
	return api.Errorf(api.KindNotFound, "there is no extension %.64q: `scorel extension list` shows the extensions", name)
}

// remember keeps what was fetched until it is added, and drops the oldest.
func (m *Manager) remember(from state.Extension) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fetched = slices.DeleteFunc(m.fetched, func(have state.Extension) bool { return have.Hash == from.Hash })
	m.fetched = append(m.fetched, from)
	if len(m.fetched) > maxFetched {
		m.fetched = m.fetched[1:]
	}
}

// Save adds what was fetched, or replaces the extension of its name. For a folder it is enabled
// there only, and with "" in every project. What replaces another keeps where that is enabled.
func (m *Manager) Save(folder, hash, replaces, by string) (api.Extension, error) {
	m.mu.Lock()
	i := slices.IndexFunc(m.fetched, func(have state.Extension) bool { return have.Hash == hash })
	var from state.Extension
	if i >= 0 {
		from = m.fetched[i]
	}
	m.mu.Unlock()
	if i < 0 {
		return api.Extension{}, api.Errorf(api.KindNotFound, "no extension with the hash %.64q was fetched: fetch it again, and review it", hash)
	}
	if _, err := m.store.get(hash); err != nil {
		return api.Extension{}, refused("the extension %s cannot be used: %v", from.Name, err)
	}
	have, ok := m.options.Added.Find(from.Name)
	switch {
	case ok && replaces == "":
		return api.Extension{}, api.Errorf(api.KindConflict, "there is an extension %s already: update that one, or remove it first", from.Name)
	case replaces != have.Hash:
		return api.Extension{}, api.Errorf(api.KindConflict, "the extension %s was changed in the meantime: fetch it again, and review the changes", from.Name)
	}
	if !ok {
		if err := m.enableOnly(from.Name, folder); err != nil {
			return api.Extension{}, err
		}
	}
	from.AddedBy = by
	if err := m.options.Added.Put(from); err != nil {
		return api.Extension{}, err
	}
	return m.addedIn(from, folder).described(), nil
}

// enableOnly enables a new extension in a folder, or everywhere.
func (m *Manager) enableOnly(name, folder string) error {
	if err := m.options.Switches.Forget(state.SwitchExtension, name, ""); err != nil || folder == "" {
		return err
	}
	if err := m.options.Switches.Set(state.SwitchExtension, name, "", false); err != nil {
		return err
	}
	return m.options.Switches.Set(state.SwitchExtension, name, m.origin(folder), true)
}

// Decide stores a person's decision about an extension of a project. hash is that of the files
// that were shown.
func (m *Manager) Decide(folder, name, hash string, allow bool, by string) (api.Extension, error) {
	u, err := m.one(folder, name)
	switch {
	case err != nil:
		return api.Extension{}, err
	case u.added.Source != api.ExtensionProject:
		return api.Extension{}, api.Errorf(api.KindConflict, "the extension %s was added by a person and needs no decision: enable or disable it", name)
	case u.contents == nil:
		return api.Extension{}, refused("the extension %s cannot be used: %s", name, u.reason)
	case u.contents.Hash != hash:
		return api.Extension{}, api.Errorf(api.KindConflict, "the extension %s has changed since it was shown: review it again", name)
	}
	decision := state.Consent{Project: m.origin(folder), Server: consentName(name), Hash: hash, Allowed: allow, DecidedBy: by}
	if err := m.options.Consents.Decide(decision); err != nil {
		return api.Extension{}, fmt.Errorf("extension: storing a decision: %w", err)
	}
	return m.ofProject(folder, u.added.Location).described(), nil
}

// SetEnabled disables or enables an extension in a folder, or with "" in every project.
func (m *Manager) SetEnabled(folder, name string, enabled bool) (api.Extension, error) {
	if _, err := m.one(folder, name); err != nil {
		return api.Extension{}, err
	}
	if err := m.options.Switches.Set(state.SwitchExtension, name, m.origin(folder), enabled); err != nil {
		return api.Extension{}, err
	}
	u, err := m.one(folder, name)
	if err != nil {
		return api.Extension{}, err
	}
	return u.described(), nil
}

func (m *Manager) one(folder, name string) (used, error) {
	found, _ := m.find(folder)
	i := slices.IndexFunc(found, func(u used) bool { return u.added.Name == name })
	if i < 0 {
		return used{}, unknown(name)
	}
	return found[i], nil
}

// Delete removes an extension that was added, and what people decided about it.
func (m *Manager) Delete(name, hash string) error {
	have, ok := m.options.Added.Find(name)
	switch {
	case !ok:
		return unknown(name)
	case have.Hash != hash:
		return api.Errorf(api.KindConflict, "the extension %s was changed in the meantime: list the extensions again", name)
	}
	if err := m.options.Added.Remove(name); err != nil {
		return err
	}
	return m.options.Switches.Forget(state.SwitchExtension, name, "")
}

// maxChanges bounds the differences that are shown.
const maxChanges = 500

// differences returns what another version has more, less, or otherwise: parts first.
func differences(before, after *Contents) []api.ExtensionChange {
	list := []api.ExtensionChange{}
	compare := func(what string, old, now map[string]string) {
		for _, name := range sortedKeys(old, now) {
			was, had := old[name]
			is, has := now[name]
			change := api.ExtensionChange{Change: "changed", What: what, Name: name}
			switch {
			case had && has && was == is, len(list) == maxChanges:
				continue
			case !had:
				change.Change = "added"
			case !has:
				change.Change = "removed"
			}
			list = append(list, change)
		}
	}
	old, now := before.Shown, after.Shown
	compare("hook", hookTexts(old.Hooks), hookTexts(now.Hooks))
	compare("server", serverTexts(old.Servers), serverTexts(now.Servers))
	compare("skill", partTexts(old.Skills), partTexts(now.Skills))
	compare("command", partTexts(old.Commands), partTexts(now.Commands))
	compare("agent", partTexts(old.Agents), partTexts(now.Agents))
	compare("file", before.tree.sums(), after.tree.sums())
	return list
}

func sortedKeys(a, b map[string]string) (keys []string) {
	for key := range a {
		keys = append(keys, key)
	}
	for key := range b {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

func partTexts(parts []api.ExtensionPart) map[string]string {
	texts := map[string]string{}
	for _, p := range parts {
		texts[p.Name] = p.Description
	}
	return texts
}

func hookTexts(hooks []api.ExtensionHook) map[string]string {
	texts := map[string]string{}
	for _, h := range hooks {
		texts[fmt.Sprintf("%s %s: %s", h.Event, h.Matcher, h.Command)] = fmt.Sprint(h.TimeoutSeconds, h.Problem)
	}
	return texts
}

func serverTexts(servers []api.ExtensionServer) map[string]string {
	texts := map[string]string{}
	for _, s := range servers {
		texts[s.Name] = fmt.Sprint(s.Shown, s.Env, s.Headers, s.Problem)
	}
	return texts
}

func (t tree) sums() map[string]string {
	sums := map[string]string{}
	for name, f := range t.files {
		sums[name] = fmt.Sprint(f.Sum, f.Executable)
	}
	return sums
}
