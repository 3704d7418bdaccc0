package api

import "github.com/scorel/scorel/packages/protocol/session"

// These requests work on the history of a session. Their results are in the log, so
// a request that is repeated with its clientKey finds them and changes nothing.
type (
	// RewindSessionRequest moves the leaf back on its own path, but not past a
	// compaction. NavigateSessionRequest moves it anywhere in the tree.
	//
	// A user message as target means the position before it, and its text is
	// returned for editing. Any other target must be the end of a turn. The error
	// is conflict if the leaf is no longer ExpectedLeaf or a turn is running.
	RewindSessionRequest struct {
		SessionID     string `json:"sessionId" req:"min=1,max=256"`
		ClientKey     string `json:"clientKey" req:"min=1"`
		ExpectedLeaf  string `json:"expectedLeaf" req:"max=256"`  // id of the last log entry seen
		TargetEntryID string `json:"targetEntryId" req:"max=256"` // "" means before the first entry
	}
	NavigateSessionRequest struct {
		SessionID     string `json:"sessionId" req:"min=1,max=256"`
		ClientKey     string `json:"clientKey" req:"min=1"`
		ExpectedLeaf  string `json:"expectedLeaf" req:"max=256"`
		TargetEntryID string `json:"targetEntryId" req:"max=256"`
		// Summarize carries over a summary of the abandoned part. It takes a while:
		// the answer comes at once with Working, and the leaf moves when the
		// summary is ready.
		Summarize bool `json:"summarize,omitempty"`
	}
	MoveLeafResponse struct {
		LeafID string `json:"leafId"`         // current leaf of the session
		Text   string `json:"text,omitempty"` // text of the target, if it is a user message
		// Content is the content of that message if it has images, which a prompt
		// to this session can reference.
		Content session.Content `json:"content,omitempty"`
		Working bool            `json:"working,omitempty"`
	}
	// SetLabelRequest labels an entry; "" removes the label.
	SetLabelRequest struct {
		SessionID string `json:"sessionId" req:"min=1,max=256"`
		ClientKey string `json:"clientKey" req:"min=1"`
		EntryID   string `json:"entryId" req:"min=1,max=256"`
		Label     string `json:"label" req:"max=4096"`
	}
	// ForkSessionRequest creates a session from the path to an entry, chosen as in
	// RewindSessionRequest; "" means the leaf and makes a full copy.
	ForkSessionRequest struct {
		SessionID string `json:"sessionId" req:"min=1,max=256"`
		ClientKey string `json:"clientKey" req:"min=1"`
		EntryID   string `json:"entryId" req:"optional,max=256"`
	}
	ForkSessionResponse struct {
		Session SessionSummary `json:"session"`
		Text    string         `json:"text,omitempty"` // text of the chosen user message
		// Content is the content of that message if it has images.
		Content session.Content `json:"content,omitempty"`
	}
	// CompactSessionRequest replaces the older part of the session by a summary.
	CompactSessionRequest struct {
		SessionID    string `json:"sessionId" req:"min=1,max=256"`
		ClientKey    string `json:"clientKey" req:"min=1"`
		Instructions string `json:"instructions,omitempty" req:"max=4096"` // what the summary should focus on
	}
	CompactSessionResponse struct {
		// EntryID is the id of the compaction once it is done; "" while the host
		// works on it, until work_ended.
		EntryID string `json:"entryId,omitempty"`
	}
	// GetTreeResponse holds user messages, ends of turns, summaries, labeled
	// entries and branch points, in log order.
	GetTreeResponse struct {
		LeafID    string     `json:"leafId"`
		Nodes     []TreeNode `json:"nodes"`
		Truncated bool       `json:"truncated,omitempty"` // older entries were omitted
	}
	// ListVersionsResponse holds the user messages that have other versions: those
	// that were edited or sent again, by the place that they share.
	ListVersionsResponse struct {
		Places    []VersionPlace `json:"places"`              // the oldest place first
		Truncated bool           `json:"truncated,omitempty"` // older places were omitted
	}
	// VersionPlace is a place of the tree with two or more versions of a message.
	VersionPlace struct {
		Versions []MessageVersion `json:"versions"` // in the order of the log
	}
	// MessageVersion is one version of a user message.
	MessageVersion struct {
		EntryID string `json:"entryId"` // of the message
		// End is the last entry of its branch, which navigate_session goes to.
		End string `json:"end"`
	}
	// EditQueueRequest replaces the queue by the named prompts, in this order. The
	// error is conflict if the queue no longer matches Expected.
	EditQueueRequest struct {
		SessionID string      `json:"sessionId" req:"min=1,max=256"`
		Expected  []string    `json:"expected" req:"max=64"` // clientKeys, in order
		Items     []QueueItem `json:"items" req:"max=64"`
	}
	// QueueItem identifies a queued prompt.
	QueueItem struct {
		ClientKey string `json:"clientKey" req:"min=1,max=256"`    // of a prompt that waits
		Text      string `json:"text,omitempty" req:"max=1048576"` // the new text; absent leaves it unchanged
		// DropImages lists images to remove, by their sha256.
		DropImages []string           `json:"dropImages,omitempty" req:"max=10"`
		Mode       session.PromptMode `json:"mode,omitempty" req:"max=64"` // the new mode; absent leaves it unchanged
	}
	EditQueueResponse struct {
		Queue []session.QueuedPrompt `json:"queue"`
	}
)
