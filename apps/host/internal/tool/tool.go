// Package tool contains the built-in tools of the model, each in one Go file and one
// Markdown file. The Markdown is the description that the model reads. The registry in
// catalog.go lists all tools; the system prompt, the documentation, the permission rules
// and the command line are generated from it.
//
// A Catalog belongs to a host, a Set to a session: the files it has read, its task list,
// its background jobs and its scratch folder. Close ends a Set and every process that it
// started.
//
// Arguments are strict: an unknown key is an error that names it. Paths are relative to the
// working folder of the call; ~ is not expanded. Output for the model is limited to
// MaxLines and MaxBytes, with a note on how to get the rest. A failure is a result that
// tells the model what to do, never a Go error.
package tool

import (
	"encoding/json"
	"slices"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/memory"
	"github.com/scorel/scorel/apps/host/internal/procgroup"
)

// Bounds of what one call shows to the model.
const (
	MaxLines = 2000
	MaxBytes = 50 << 10
)

// Options configure a Catalog.
type Options struct {
	// Private are absolute paths of folders that file tools must not access: the host's own
	// keys and logs. The session's scratch folder is accessible even if it is inside one.
	Private []string
	// Readable are parts of Private that file tools may read but not change: the user's own
	// skills, agents and notes.
	Readable []string
	// HideEnv names variables that commands do not get: the providers' keys.
	HideEnv []string
	// Sandbox wraps the command line of a bash command that runs in dir and may also write
	// to the folders in open. If it is nil, commands run without a sandbox.
	Sandbox func(argv []string, dir string, open ...string) []string
	// GuardGit records what git would run in a folder before a command starts there. end
	// undoes additions of the command and returns a sentence about each. If it is nil,
	// nothing is checked.
	GuardGit func(dir string) (end func() []string, err error)
	// Origin returns the project's folder for the working folder of a call, if that is a
	// worktree. If it is nil, the working folder is the project's.
	Origin func(cwd string) string
	// Ledger records running commands; nil records none.
	Ledger *procgroup.Ledger
	// Memory holds the notes; nil omits the memory tools.
	Memory *memory.Notes
	// TakesFiles reports whether a chat that takes files follows a session. If it is nil, none does.
	TakesFiles func(session string) bool
	// FetchPrivate lists non-public addresses that fetch_url may connect to.
	FetchPrivate []PrivateAddress
	// ByHand reports that a person makes the calls: they may overwrite a file that was not
	// read.
	ByHand bool
}

// spec builds a ToolSpec. properties are "name": schema pairs; required names those that
// must be present.
func spec(name, description, properties string, required ...string) agent.ToolSpec {
	slices.Sort(required)
	if required == nil {
		required = []string{}
	}
	schema, err := json.Marshal(map[string]any{
		"type": "object", "properties": json.RawMessage(properties), "required": required, "additionalProperties": false,
	})
	if err != nil { // properties are constants of this package, which a test parses
		schema = []byte(`{"type":"object"}`)
	}
	return agent.ToolSpec{Name: name, Description: description, Parameters: schema}
}

// details encodes information for people and programs besides the text.
func details(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil { // cannot happen: plain structs can always be encoded
		return nil
	}
	return data
}
