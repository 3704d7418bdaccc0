// Package tool holds the tools that a model can use: one Go file and one
// Markdown file each; the Markdown is what the model reads. The registry in
// catalog.go lists them; the prompt, the documents, the rules and the command
// line are made from it.
//
// A Catalog belongs to a host, a Set to a session: what a session has read, its
// tasks, its background jobs and its scratch folder. Close ends a Set with every
// process that it started.
//
// Arguments are strict: an unknown key is an error that names it. Paths are
// relative to the working folder of the call; ~ is not expanded. Output for the
// model is bounded to MaxLines and MaxBytes, with a notice of how to get the
// rest. A failure is a result that tells the model what to do, never a Go error.
package tool

import (
	"encoding/json"
	"slices"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/procgroup"
)

// Bounds of what one call shows to the model.
const (
	MaxLines = 2000
	MaxBytes = 50 << 10
)

// Options are what the host knows and the tools must respect.
type Options struct {
	// Private are absolute folders that no file tool touches: the host's own keys
	// and logs. The scratch folder of a session is open to it all the same.
	Private []string
	// Readable are parts of them that file tools may read and not change: the user's own
	// skills, agents and notes.
	Readable []string
	// HideEnv names variables that commands do not get: the keys of providers.
	HideEnv []string
	// Sandbox wraps the command line of bash that runs in dir, which may write to the
	// folders in open too; nil runs it as it is.
	Sandbox func(argv []string, dir string, open ...string) []string
	// Ledger notes the commands that run; nil notes none.
	Ledger *procgroup.Ledger
	// Memory is the absolute folder of what is remembered; "" leaves the memory
	// tools out.
	Memory string
	// FetchPrivate are addresses that fetch_url reaches although they are not public.
	FetchPrivate []PrivateAddress
	// ByHand says that a person makes the calls: a file may be written over
	// without having been read.
	ByHand bool
}

// spec builds a ToolSpec. Properties are written as "name": schema pairs; those
// named in required must be there.
func spec(name, description, properties string, required ...string) agent.ToolSpec {
	slices.Sort(required)
	if required == nil {
		required = []string{}
	}
	schema, err := json.Marshal(map[string]any{
		"type": "object", "properties": json.RawMessage(properties), "required": required, "additionalProperties": false,
	})
	if err != nil { // the properties are constants of this package, which a test reads
		schema = []byte(`{"type":"object"}`)
	}
	return agent.ToolSpec{Name: name, Description: description, Parameters: schema}
}

// details encodes what people and programs get to know beside the text.
func details(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil { // plain structs of this package always encode
		return nil
	}
	return data
}
