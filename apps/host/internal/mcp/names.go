package mcp

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/scorel/scorel/packages/protocol/api"
)

// prefix begins the names of a server's tools. Rules about all of them are prefix and "*".
func prefix(server string) string { return "mcp__" + clean(server) + "__" }

// vague reports whether tools of a server can fall under rules about all tools of one with a
// shorter name, because two underscores separate servers from tools.
func vague(server string) bool {
	name := clean(server)
	return strings.Contains(name, "__") || strings.HasSuffix(name, "_")
}

// alike reports whether tools of one server can have names of the other's.
func alike(server, other string) bool {
	return strings.HasPrefix(prefix(server), prefix(other)) || strings.HasPrefix(prefix(other), prefix(server))
}

// likeOf returns the first of other servers that is alike, or "".
func likeOf(server string, servers map[string]spec) string {
	for _, other := range slices.Sorted(maps.Keys(servers)) {
		if other != server && alike(server, other) {
			return other
		}
	}
	return ""
}

// confusing returns why a server of a project may not have a name beside others, or "".
func confusing(name string, others map[string]spec) string {
	if vague(name) {
		return "rules could take its tools for those of another server, because its name has two dots or underscores in a row or one at its end"
	}
	if other := likeOf(name, others); other != "" {
		return fmt.Sprintf("its tools could be taken for those of the server %s of %s", other, others[other].source)
	}
	return ""
}

// distinguish keeps servers of a project from being started whose tools could be taken for those
// of another one. Otherwise rules about that one would hold for them, and could miss its own tools,
// whose names change if others have the same.
func distinguish(servers map[string]spec) {
	for name, s := range servers {
		if s.source != SourceProject || s.fault != "" {
			continue
		}
		if why := confusing(name, servers); why != "" {
			s.fault = why + ": rename it"
			servers[name] = s
		}
	}
}

// nameable returns an error if a new server of a project would not be started because of its name.
func (m *Manager) nameable(folder, name string) error {
	specs, _ := m.configured(folder)
	others := map[string]spec{}
	for _, s := range specs {
		others[s.name] = s
	}
	if why := confusing(name, others); why != "" {
		return api.Errorf(api.KindConflict, "the server %s would not be started: %s. Choose another name", name, why)
	}
	return nil
}
