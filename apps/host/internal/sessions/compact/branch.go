package compact

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/scorel/scorel/packages/protocol/session"
)

// Branch is the part of a tree that a person leaves when they go elsewhere.
type Branch struct {
	Messages []Message
	Files    Files
}

// Left returns what lies between a leaf and the place that the new one has in common
// with it.
func Left(tree *session.Tree, from, target string) (Branch, error) {
	ancestor := ""
	if target != "" && from != "" {
		var err error
		if ancestor, err = tree.CommonAncestor(from, target); err != nil {
			return Branch{}, err
		}
	}
	path, err := tree.Path(from)
	if err != nil {
		return Branch{}, err
	}
	first := 0
	for i, e := range path {
		if e.ID == ancestor {
			first = i + 1
		}
	}
	context := session.Context{}
	var touched fileSet
	for _, e := range path[first:] {
		if e.Type == session.TypeBranchSummary {
			touched.addEntry(e.Raw)
		}
		if message := e.ContextMessage(); message != nil {
			context.Messages, context.Sources = append(context.Messages, message), append(context.Sources, e.ID)
		}
	}
	messages := read(context)
	touched.addCalls(messages)
	return Branch{messages, touched.list()}, nil
}

// Request is what a model is asked for the summary of a branch.
func (b Branch) Request(most int) string {
	return fmt.Sprintf("<conversation>\n%s\n</conversation>\n\nThe user leaves this branch of the conversation and continues from an earlier point. "+
		"Summarize what was tried on it and what the outcome was, for the agent that continues. %s", Conversation(b.Messages, most), sections)
}

// Finish adds to a summary which files were touched.
func (b Branch) Finish(summary string) string { return withFiles(summary, b.Files) }

// Details is what the entry carries beside the summary; nil for nothing.
func (b Branch) Details() json.RawMessage { return b.Files.details() }

// maxBranch bounds a branch summary that no model made, in runes.
const maxBranch = 6000

// Extract makes a summary without a model.
func (b Branch) Extract() string {
	return strings.TrimSpace(b.Finish(listed(titleBranch, items(b.Messages), maxBranch)))
}
