package state

import (
	"fmt"
	"maps"
	"sync"

	"github.com/scorel/scorel/packages/protocol/api"
)

// SavedServer is an MCP server that a request added for every project.
type SavedServer struct {
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	Cwd     string            `json:"cwd,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	// Revision is another one after each change. It reveals nothing of the values.
	Revision string `json:"revision"`
}

// Check reports what is wrong with a server.
func (s SavedServer) Check() error {
	return MCPServer{Command: s.Command, Args: s.Args, Env: s.Env, Cwd: s.Cwd, URL: s.URL, Headers: s.Headers}.check()
}

// maxSavedServers bounds the servers of a file.
const maxSavedServers = 64

// SavedServers are the MCP servers for every project that requests added. Unlike those of
// config.toml, they change while the host runs.
type SavedServers struct {
	path string

	mu     sync.Mutex
	byName map[string]SavedServer // replaced as a whole
}

type savedServersFile struct {
	Servers map[string]SavedServer `json:"servers"`
}

// LoadSavedServers reads the servers from path.
func LoadSavedServers(path string) (*SavedServers, error) {
	var file savedServersFile
	if err := readJSON(path, &file); err != nil {
		return nil, err
	}
	for name, server := range file.Servers {
		if err := CheckMCPName(name); err != nil {
			return nil, fmt.Errorf("state: %s: %.80q: %w", path, name, err)
		}
		if err := server.Check(); err != nil {
			return nil, fmt.Errorf("state: %s: %s: %w", path, name, err)
		}
	}
	return &SavedServers{path: path, byName: file.Servers}, nil
}

// All returns the servers by name. The map must not be changed.
func (s *SavedServers) All() map[string]SavedServer {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byName
}

// Change replaces a server, or deletes it with nil. It is on disk when Change returns.
func (s *SavedServers) Change(name string, to *SavedServer) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	changed := map[string]SavedServer{}
	maps.Copy(changed, s.byName)
	if delete(changed, name); to != nil {
		changed[name] = *to
	}
	if len(changed) > maxSavedServers {
		return api.Errorf(api.KindConflict, "there are %d MCP servers for every project, which is the limit: delete one first", maxSavedServers)
	}
	if err := writeJSON(s.path, savedServersFile{changed}); err != nil {
		return err
	}
	s.byName = changed
	return nil
}
