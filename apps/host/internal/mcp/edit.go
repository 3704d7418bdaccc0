package mcp

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/atomicfile"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// owns reports whether requests about a folder change a server: its own for a project, and
// for "" those that requests added for every project.
func (m *Manager) owns(s spec, folder string) bool {
	if folder == "" {
		return s.source == SourceSaved
	}
	return s.source == SourceProject
}

// find returns a server that requests about a folder may be about.
func (m *Manager) find(folder, name string) (spec, error) {
	specs, _ := m.configured(folder)
	i := slices.IndexFunc(specs, func(s spec) bool { return s.name == name })
	if i < 0 {
		return spec{}, api.Errorf(api.KindNotFound, "there is no MCP server %.64q: `scorel mcp list` shows the servers", name)
	}
	return specs[i], nil
}

// Save adds a server to a project, or to every project with the folder "", or changes it.
// version identifies the configuration that is replaced; "" adds a new one. The sender
// decides what runs, so a project's server is allowed at once.
func (m *Manager) Save(folder, name, version string, draft api.MCPDraft, by string) (api.MCPServer, error) {
	m.changing.Lock()
	defer m.changing.Unlock()
	if err := state.CheckMCPName(name); err != nil {
		return api.MCPServer{}, api.Errorf(api.KindBadRequest, "%v", err)
	}
	before, err := m.current(folder, name, version)
	if err != nil {
		return api.MCPServer{}, err
	}
	saved, err := applied(draft, before)
	if err != nil {
		return api.MCPServer{}, err
	}
	switch {
	case folder == "":
		saved.Revision = rand.Text()
		err = m.options.Saved.Change(name, &saved)
	case version == "":
		if err = m.nameable(folder, name); err == nil {
			err = m.saveInProject(folder, name, saved, by)
		}
	default:
		err = m.saveInProject(folder, name, saved, by)
	}
	if err != nil {
		return api.MCPServer{}, err
	}
	if version == "" { // one of the same name may have been disabled before
		if err := m.options.Switches.Forget(state.SwitchServer, name, folder); err != nil {
			return api.MCPServer{}, fmt.Errorf("mcp: enabling a new server: %w", err)
		}
	}
	m.prune()
	s, err := m.find(folder, name)
	if err != nil {
		return api.MCPServer{}, err
	}
	return m.status(s, folder), nil
}

// current returns the definition that a change is based on.
func (m *Manager) current(folder, name, version string) (definition, error) {
	have, err := m.find(folder, name)
	switch {
	case err != nil && version == "":
		return definition{}, nil
	case err != nil:
		return definition{}, err
	case !m.owns(have, folder):
		return definition{}, api.Errorf(api.KindConflict, "%s has a server %s already, which would be used instead: choose another name, or change that one", have.source, name)
	case version == "":
		return definition{}, api.Errorf(api.KindConflict, "there is a server %s already: change it, or choose another name", name)
	case have.version() != version:
		return definition{}, api.Errorf(api.KindConflict, "the server %s was changed in the meantime: read it again and repeat the change", name)
	}
	return have.definition, nil
}

func (m *Manager) saveInProject(folder, name string, saved state.SavedServer, by string) error {
	if err := editFile(folder, name, &saved); err != nil {
		return err
	}
	written, err := m.find(folder, name)
	if err != nil {
		return err
	}
	// Only what the sender gave is allowed. The file can have the name twice, of which the last
	// counts, and the agent's commands can write it too.
	hash := inFile(saved).hash()
	if written.definition.hash() != hash {
		return api.Errorf(api.KindConflict, "%s has another server %s than the one that was saved: the name is in it twice, or another program changed it. Correct the file, then allow the server", filepath.Join(folder, FileName), name)
	}
	decision := state.Consent{Project: folder, Server: name, Hash: hash, Allowed: true, DecidedBy: by}
	if err := m.options.Consents.Decide(decision); err != nil {
		return fmt.Errorf("mcp: allowing a new server: %w", err)
	}
	return nil
}

// Delete deletes a server that Save can change, and stops it.
func (m *Manager) Delete(folder, name, version string) error {
	m.changing.Lock()
	defer m.changing.Unlock()
	have, err := m.find(folder, name)
	if err != nil {
		return err
	}
	if !m.owns(have, folder) {
		return api.Errorf(api.KindConflict, "the server %s is configured in %s: %s", name, have.source, whereToChange(have.source))
	}
	if _, err := m.current(folder, name, version); err != nil {
		return err
	}
	if folder == "" {
		err = m.options.Saved.Change(name, nil)
	} else if err = editFile(folder, name, nil); err == nil {
		err = m.options.Consents.Forget(folder, name)
	}
	if err == nil && m.options.Auth != nil {
		err = m.options.Auth.Forget(folder, name)
	}
	m.prune()
	return err
}

func whereToChange(source string) string {
	switch source {
	case SourceSaved:
		return "change it for every project"
	case SourceUser:
		return "edit that file and restart the host"
	}
	return "change it in its project"
}

// SetEnabled disables or enables a server in a project, or in every project. A disabled one
// is stopped.
func (m *Manager) SetEnabled(folder, name string, enabled bool) (api.MCPServer, error) {
	s, err := m.find(folder, name)
	if err != nil {
		return api.MCPServer{}, err
	}
	if s.disabled && enabled {
		return api.MCPServer{}, api.Errorf(api.KindConflict, "config.toml says enabled = false for the server %s: change it there and restart the host", name)
	}
	if err := m.options.Switches.Set(state.SwitchServer, name, folder, enabled); err != nil {
		return api.MCPServer{}, fmt.Errorf("mcp: storing what is disabled: %w", err)
	}
	m.prune()
	return m.status(s, folder), nil
}

// Prune stops the servers that are running and may no longer run, or not as they do.
func (m *Manager) Prune() { m.prune() }

// prune stops the servers that are running and are no longer configured like that, or may
// no longer run.
func (m *Manager) prune() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for folder, running := range m.running {
		specs, _ := m.configured(folder)
		for name, s := range running {
			i := slices.IndexFunc(specs, func(now spec) bool { return now.name == name })
			if i >= 0 && s.spec.same(specs[i]) {
				if state, _ := m.admits(specs[i], folder); state == api.MCPIdle {
					continue
				}
			}
			s.cancel()
			delete(running, name)
		}
	}
}

var (
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	headerName   = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")
)

// applied returns the server of a draft. before has the values that it keeps.
func applied(draft api.MCPDraft, before definition) (state.SavedServer, error) {
	to := state.SavedServer{Command: strings.TrimSpace(draft.Command), Args: draft.Args, Cwd: draft.Cwd, URL: strings.TrimSpace(draft.URL)}
	for _, text := range append([]string{to.Command, to.Cwd, to.URL}, to.Args...) {
		if len(text) > maxValue || strings.ContainsRune(text, 0) {
			return to, api.Errorf(api.KindBadRequest, "a part of the command is too long or contains a NUL character")
		}
	}
	var err error
	if to.Env, err = values(draft.Env, before.Env, "variable", variableName); err != nil {
		return to, err
	}
	if to.Headers, err = values(draft.Headers, before.Headers, "header", headerName); err != nil {
		return to, err
	}
	if to.Command == "" && to.URL == "" {
		return to, api.Errorf(api.KindBadRequest, "give a command to start, or a url to contact")
	}
	if err := to.Check(); err != nil {
		return to, api.Errorf(api.KindBadRequest, "%v", err)
	}
	return to, nil
}

// maxValue bounds an argument, in bytes.
const maxValue = 16 << 10

func values(list []api.MCPValue, before map[string]string, what string, valid *regexp.Regexp) (map[string]string, error) {
	var out map[string]string
	for _, v := range list {
		if !valid.MatchString(v.Name) {
			return nil, api.Errorf(api.KindBadRequest, "%.80q is not the name of a %s", v.Name, what)
		}
		if _, twice := out[v.Name]; twice {
			return nil, api.Errorf(api.KindBadRequest, "the %s %.80s is given twice", what, v.Name)
		}
		value := v.Value
		if kept, ok := before[v.Name]; v.Keep && ok {
			value = kept
		} else if v.Keep {
			return nil, api.Errorf(api.KindConflict, "the %s %.80s has no value to keep: give one", what, v.Name)
		}
		if strings.ContainsAny(value, "\x00\r\n") && what == "header" || strings.ContainsRune(value, 0) {
			return nil, api.Errorf(api.KindBadRequest, "the value of the %s %.80s has characters that cannot be sent", what, v.Name)
		}
		if out == nil {
			out = map[string]string{}
		}
		out[v.Name] = value
	}
	return out, nil
}

// editFile writes a server to the .mcp.json of a folder, or deletes it with nil. It follows
// no link, and what belongs to other programs stays.
func editFile(folder, name string, to *state.SavedServer) error {
	path := filepath.Join(folder, FileName)
	root, err := os.OpenRoot(folder)
	if err != nil {
		return api.Errorf(api.KindInvalidPath, "the folder %s cannot be opened: %v", folder, err)
	}
	defer root.Close()
	data, mode := []byte("{}"), fs.FileMode(0o644)
	switch info, err := root.Lstat(FileName); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil || !info.Mode().IsRegular() || info.Size() > maxFile:
		return api.Errorf(api.KindConflict, "%s is a link, too large or cannot be read: change it by hand", path)
	default:
		mode = info.Mode().Perm()
		if data, err = root.ReadFile(FileName); err != nil {
			return api.Errorf(api.KindConflict, "%s cannot be read: %v", path, err)
		}
		servers, problem := readFile(folder)
		if problem != "" {
			return api.Errorf(api.KindConflict, "%s: correct the file first", problem)
		}
		if _, there := servers[name]; to != nil && !there && len(servers) >= maxServers {
			return api.Errorf(api.KindConflict, "%s has %d servers, which is the limit: delete one first", path, maxServers)
		}
	}
	var fields map[string]string
	if to != nil {
		if fields, err = encoded(*to); err != nil {
			return err
		}
	}
	if data, err = withServer(data, name, fields); err != nil {
		return api.Errorf(api.KindConflict, "%s cannot be changed: %v", path, err)
	}
	if len(data) > maxFile {
		return api.Errorf(api.KindTooLarge, "%s would be larger than the limit of 1 MiB", path)
	}
	if err := atomicfile.WriteIn(root, FileName, data, mode); err != nil {
		return api.Errorf(api.KindUnavailable, "%s cannot be written: %v", path, err)
	}
	return nil
}

// inFile is what .mcp.json says of a server that encoded has written.
func inFile(s state.SavedServer) definition {
	d := ofSaved(s)
	if d.URL != "" {
		d.Type = "http"
	}
	return d
}

// encoded returns the members of a server in .mcp.json as JSON; those that it lacks are "".
func encoded(s state.SavedServer) (map[string]string, error) {
	fields := map[string]string{"type": "", "command": "", "args": "", "env": "", "cwd": "", "url": "", "headers": ""}
	put := func(name string, present bool, value any) (err error) {
		if present {
			var text []byte
			text, err = session.Encode(value)
			fields[name] = string(text)
		}
		return err
	}
	return fields, errors.Join(
		put("type", s.URL != "", "http"), put("command", s.Command != "", s.Command), put("args", len(s.Args) > 0, s.Args),
		put("env", len(s.Env) > 0, s.Env), put("cwd", s.Cwd != "", s.Cwd), put("url", s.URL != "", s.URL), put("headers", len(s.Headers) > 0, s.Headers),
	)
}
