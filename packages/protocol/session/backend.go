package session

import (
	"cmp"
	"encoding/json"
	"fmt"
)

// CustomBackend is the custom type of entries about the program that works on a session's
// turns when that is not scorel's own agent.
const CustomBackend = "scorel.backend" // data: BackendRecord

// BackendKind is the subject of a BackendRecord.
type BackendKind string

const (
	BackendChosen     BackendKind = "chosen"     // a person chose the backend of the next turns
	BackendSession    BackendKind = "session"    // a turn begins in a session of the agent's own
	BackendOptions    BackendKind = "options"    // all modes and options of the agent, after a change
	BackendCommands   BackendKind = "commands"   // all commands of the agent, after a change
	BackendNotice     BackendKind = "notice"     // the agent's program tells people something
	BackendCompaction BackendKind = "compaction" // the agent shortened its own context
	BackendUsage      BackendKind = "usage"      // context and cost of the agent's session, after a turn
	BackendUpdate     BackendKind = "update"     // something that this host does not know
	BackendReset      BackendKind = "reset"      // sessions and options before it are those of another host, and do not count
)

type (
	// BackendRecord is the data of CustomBackend. Which fields are set depends on the kind.
	BackendRecord struct {
		Kind    BackendKind `json:"kind"`
		Backend string      `json:"backend"` // name in config.toml; "" is scorel's own agent
		TurnID  string      `json:"turnId,omitempty"`

		// AgentSession is the id of the agent's own session, of Agent, which is the name and
		// version that the program gives itself.
		AgentSession string `json:"agentSession,omitempty"`
		Agent        string `json:"agent,omitempty"`
		// Rebuilt counts the messages that the agent was given because they are not its own.
		Rebuilt int `json:"rebuilt,omitempty"`

		Options  []BackendOption  `json:"options,omitempty"`
		Commands []BackendCommand `json:"commands,omitempty"`
		// Decides is true if the agent decides by itself, in its present mode, what it does
		// without asking.
		Decides bool `json:"decides,omitempty"`

		// Severity, Title and Text are those of a notice. Title is the state of a
		// compaction, and Text its summary or its error.
		Severity string `json:"severity,omitempty"`
		Title    string `json:"title,omitempty"`
		Text     string `json:"text,omitempty"`

		// Used of Size tokens of the agent's context are full; Cost is what its session has
		// cost so far, in Currency.
		Used     int64   `json:"used,omitempty"`
		Size     int64   `json:"size,omitempty"`
		Cost     float64 `json:"cost,omitempty"`
		Currency string  `json:"currency,omitempty"`

		// Update is the update as it was received; "" for one that is too long, whose beginning
		// is Text.
		Update json.RawMessage `json:"update,omitempty"`
	}
	// BackendOption is a setting of the agent. One that is on or off has the values "true"
	// and "false".
	BackendOption struct {
		ID       string          `json:"id"`
		Name     string          `json:"name"`
		Category string          `json:"category,omitempty"` // "mode", "model" or another of the agent
		Value    string          `json:"value"`
		Choices  []BackendChoice `json:"choices,omitempty"`
	}
	// BackendChoice is a value of a setting.
	BackendChoice struct {
		Value       string `json:"value"`
		Name        string `json:"name"`
		Description string `json:"description,omitempty"`
	}
	// BackendCommand is something that a prompt can call as "/name args".
	BackendCommand struct {
		Name        string `json:"name"`
		Description string `json:"description,omitempty"`
		Hint        string `json:"hint,omitempty"`
	}
)

// Describe returns what people are told about the record, and the text that belongs to it; both are
// "" for records that say nothing to them. The words are the program's own, so they must be made
// printable before they are shown.
func (r BackendRecord) Describe() (title, text string) {
	name := cmp.Or(r.Backend, "scorel")
	switch r.Kind {
	case BackendChosen:
		return "Agent: " + name, ""
	case BackendSession:
		if r.Rebuilt > 0 {
			return fmt.Sprintf("%d earlier messages were given to %s, which did not have them", r.Rebuilt, name), ""
		}
	case BackendOptions:
		return r.describeMode(name), ""
	case BackendNotice:
		return name + ": " + r.Title, r.Text
	case BackendCompaction:
		if r.Title != "in_progress" {
			return fmt.Sprintf("%s shortened its context (%s)", name, r.Title), r.Text
		}
	case BackendUpdate:
		return fmt.Sprintf("Unknown update of %s: %s", name, r.Title), cmp.Or(string(r.Update), r.Text)
	}
	return "", ""
}

// describeMode names the mode, and says what it means that the program decides by itself.
func (r BackendRecord) describeMode(name string) string {
	for _, o := range r.Options {
		if o.Category != "mode" {
			continue
		}
		mode := o.Value
		for _, c := range o.Choices {
			if c.Value == o.Value && c.Name != "" {
				mode = c.Name
			}
		}
		if r.Decides {
			return fmt.Sprintf("Mode of %s: %s. In this mode it decides by itself what it does without asking", name, mode)
		}
		return fmt.Sprintf("Mode of %s: %s", name, mode)
	}
	return ""
}
