package agentdef

import "github.com/scorel/scorel/apps/host/internal/definition"

// ReadTools reads a tool list like that of a file, with the tools bash and read_file.
func ReadTools(names string, check func(string) error) (Agent, bool) {
	f := finder{Finder: &definition.Finder{}, places: Places{CheckRule: check, KnownTool: func(name string) bool { return name == "bash" || name == "read_file" }}}
	var a Agent
	ok := f.equip(&a, definition.Document{Fields: map[string]any{"tools": names}})
	return a, ok
}
