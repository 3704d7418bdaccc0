// Package compact decides what part of a session a summary may stand for, and makes
// the text that the summary is made from. It is pure: it reads a context and calls
// nothing.
//
// A cut comes before a message that is not a tool result, so that no call is separated
// from its results, and keeps about as many recent tokens as asked. Where it lies
// inside of a turn, the beginning of that turn is summarized on its own. The summary
// at the beginning of the context is carried over into the new one.
package compact

import (
	"encoding/json"

	"github.com/scorel/scorel/packages/protocol/session"
)

// DefaultKeepTokens is how much of the recent context a compaction keeps.
const DefaultKeepTokens = 20_000

// Plan is a compaction that can be made.
type Plan struct {
	FirstKept    string // id of the first entry that stays
	TokensBefore int    // of the whole context
	TokensCut    int    // estimate of what is summarized, the previous summary included
	Previous     string // summary that the new one takes over, without its lists of files
	History      []Message
	Prefix       []Message // beginning of the turn that contains the cut; empty if the cut is between turns
	Files        Files     // that were touched until the cut
}

// Prepare plans a compaction at the leaf of a tree; false where there is nothing to
// leave out.
func Prepare(tree *session.Tree, keep int) (Plan, bool) {
	context := tree.LeafContext()
	messages := read(context)
	start := 0
	plan := Plan{TokensBefore: tokensOf(tree, messages)}
	for start < len(messages) && (messages[start].role == "system" || messages[start].role == "compactionSummary") {
		if messages[start].role == "compactionSummary" {
			plan.Previous, _ = splitFiles(messages[start].summary)
			plan.TokensCut += messages[start].tokens
		}
		start++
	}
	messages = messages[start:]
	cut := cutAt(messages, keep)
	if cut <= 0 {
		return Plan{}, false
	}
	turn := cut
	for turn > 0 && (!messages[turn].startsTurn() || steered(tree, messages[turn].source)) {
		turn--
	}
	plan.FirstKept = messages[cut].source
	plan.History, plan.Prefix = messages[:turn], messages[turn:cut]
	for _, m := range messages[:cut] {
		plan.TokensCut += m.tokens
	}
	var touched fileSet
	for e := range tree.Up() {
		if e.Type == session.TypeCompaction {
			touched.addEntry(e.Raw)
			break
		}
	}
	touched.addCalls(messages[:cut])
	plan.Files = touched.list()
	return plan, true
}

// steered reports whether a message was given to a turn that ran already.
func steered(tree *session.Tree, id string) bool {
	entry, _ := tree.Get(id)
	m, ok := entry.AsMessage()
	return ok && m.Steer
}

// cutAt returns the index of the first message that stays; 0 where all do.
func cutAt(messages []Message, keep int) int {
	sum := 0
	for i := len(messages) - 1; i >= 0; i-- {
		if sum += messages[i].tokens; sum < keep {
			continue
		}
		for at := i; at < len(messages); at++ {
			if messages[at].mayStay() {
				return at
			}
		}
		for at := i; at > 0; at-- { // the results at the end are more than is to be kept
			if messages[at].mayStay() {
				return at
			}
		}
		return 0
	}
	return 0
}

// Message is a message of a context, with what it counts for.
type Message struct {
	source  string // id of its entry
	role    session.Role
	note    bool // of the host, to the model
	message session.Message
	summary string // of a compaction or a branch
	command string // of a person beside the agent
	output  string
	tokens  int
}

func (m Message) startsTurn() bool {
	return !m.note && m.role != session.RoleAssistant && m.role != session.RoleToolResult && m.role != "system"
}

// mayStay reports whether a context may begin with the message.
func (m Message) mayStay() bool { return m.role != session.RoleToolResult && m.role != "system" }

func read(context session.Context) []Message {
	messages := make([]Message, 0, len(context.Messages))
	for i, raw := range context.Messages {
		messages = append(messages, readOne(raw, context.Sources[i]))
	}
	return messages
}

// readOne reads one message. What does not decode says nothing.
func readOne(raw json.RawMessage, source string) Message {
	m := Message{source: source}
	var err error
	if m.message, err = session.DecodeMessage(raw); err == nil && plain(m.message.Role) {
		m.role = m.message.Role
		m.tokens = m.estimate()
		return m
	}
	var head struct { // other programs' messages have other members
		Role    session.Role `json:"role"`
		Custom  string       `json:"customType"`
		Summary string       `json:"summary"`
		Command string       `json:"command"`
		Output  string       `json:"output"`
	}
	_ = json.Unmarshal(raw, &head)
	m.role, m.summary, m.command, m.output = head.Role, head.Summary, head.Command, head.Output
	m.note = head.Custom == session.CustomNote
	m.tokens = m.estimate()
	return m
}

func plain(role session.Role) bool {
	return role == session.RoleUser || role == session.RoleAssistant || role == session.RoleToolResult
}
