package sessionapi

import (
	"context"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/packages/protocol/api"
)

// Prompts of a review of notes.
const (
	reviewOfProject = "Review the notes that you keep for this project."
	reviewOfAll     = "Review the notes that you keep for this project, and those that you keep for all projects."
	reviewRules     = " List them with memory_recall and read each of them. Then, with memory_save:\n\n" +
		"- merge notes about the same subject into one, and remove the others;\n" +
		"- correct what the files of the project show to be wrong;\n" +
		"- remove notes that are no longer true or that no later session will need;\n" +
		"- keep what you are not sure about, and keep what people wrote about how they like to work.\n\n" +
		"Change no other files. At the end, list what you merged, corrected and removed, each with its reason."
)

// reviewNotes starts a session in which the agent tidies up its notes. It is a session like any
// other: every note that it saves or removes is in its transcript.
func (s *Sessions) reviewNotes(ctx context.Context, c *dispatch.Conn, r api.ReviewNotesRequest) (api.CreateSessionResponse, error) {
	prompt := reviewOfProject
	if c.CheckWhole("") == nil {
		prompt = reviewOfAll
	}
	return s.createSession(ctx, c, api.CreateSessionRequest{
		ProjectID: r.ProjectID, ClientKey: r.ClientKey, Prompt: &api.FirstPrompt{Text: prompt + reviewRules},
	})
}
