package api

import "github.com/scorel/scorel/packages/protocol/session"

// Requests that work on the history of a session. What they add is in the log, so a
// request that is sent again with its clientKey finds what it did and changes
// nothing.
type (
	// RewindSessionRequest moves the leaf back on its own path, and not past a
	// compaction. NavigateSessionRequest moves it anywhere in the tree.
	//
	// A message of the user as target means the place before it, and its text comes
	// back to be written anew. Any other target must be the end of a turn. conflict
	// when the leaf is not ExpectedLeaf any more, and while a turn runs.
	RewindSessionRequest struct {
		SessionID     string `json:"sessionId"`
		ClientKey     string `json:"clientKey"`
		ExpectedLeaf  string `json:"expectedLeaf"`  // id of the last log entry that was seen
		TargetEntryID string `json:"targetEntryId"` // "" is the place before the first entry
	}
	NavigateSessionRequest struct {
		SessionID     string `json:"sessionId"`
		ClientKey     string `json:"clientKey"`
		ExpectedLeaf  string `json:"expectedLeaf"`
		TargetEntryID string `json:"targetEntryId"`
		// Summarize takes a summary of what is left along. It takes a while: the answer
		// comes at once with Working, and the leaf moves at its end.
		Summarize bool `json:"summarize,omitempty"`
	}
	MoveLeafResponse struct {
		LeafID  string `json:"leafId"`         // of the session now
		Text    string `json:"text,omitempty"` // of the user's message that was the target
		Working bool   `json:"working,omitempty"`
	}
	// SetLabelRequest labels an entry; "" takes the label off.
	SetLabelRequest struct {
		SessionID string `json:"sessionId"`
		ClientKey string `json:"clientKey"`
		EntryID   string `json:"entryId"`
		Label     string `json:"label"`
	}
	// ForkSessionRequest makes a new session of the path to an entry, which is chosen
	// as in RewindSessionRequest; "" is the leaf, and makes a clone.
	ForkSessionRequest struct {
		SessionID string `json:"sessionId"`
		ClientKey string `json:"clientKey"`
		EntryID   string `json:"entryId"`
	}
	ForkSessionResponse struct {
		Session SessionSummary `json:"session"`
		Text    string         `json:"text,omitempty"` // of the user's message that was chosen
	}
	// CompactSessionRequest lets a summary stand for the older part of the session.
	CompactSessionRequest struct {
		SessionID    string `json:"sessionId"`
		ClientKey    string `json:"clientKey"`
		Instructions string `json:"instructions,omitempty"` // what the summary should look at
	}
	CompactSessionResponse struct {
		// EntryID is of the compaction when it is done; "" while the host works on it,
		// which work_ended ends.
		EntryID string `json:"entryId,omitempty"`
	}
	// GetTreeResponse holds messages of the user, ends of turns, summaries, labelled
	// entries, and where branches begin; in the order of the log.
	GetTreeResponse struct {
		LeafID    string     `json:"leafId"`
		Nodes     []TreeNode `json:"nodes"`
		Truncated bool       `json:"truncated,omitempty"` // there are older ones
	}
	// EditQueueRequest replaces the queue by those of its prompts that are named, in
	// this order. conflict when it does not hold what was expected any more.
	EditQueueRequest struct {
		SessionID string      `json:"sessionId"`
		Expected  []string    `json:"expected"` // clientKeys, in order
		Items     []QueueItem `json:"items"`
	}
	// QueueItem names a waiting prompt.
	QueueItem struct {
		ClientKey string             `json:"clientKey"`
		Text      string             `json:"text,omitempty"` // "" leaves it
		Mode      session.PromptMode `json:"mode,omitempty"` // "" leaves it
	}
	EditQueueResponse struct {
		Queue []session.QueuedPrompt `json:"queue"`
	}
)
