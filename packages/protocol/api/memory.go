package api

// MemoryScope is where a note applies.
type MemoryScope string

const (
	MemoryProject MemoryScope = "project" // for sessions of one project
	MemoryUser    MemoryScope = "user"    // for every session of the host
)

// MemoryNote describes a note that is kept for later sessions.
type MemoryNote struct {
	Name  string      `json:"name"`  // of its file, without the extension
	Scope MemoryScope `json:"scope"` // "project" or "user"
	Title string      `json:"title"` // beginning of its first line, at most 200 characters
	Path  string      `json:"path"`  // path of its file on the host
	// Version identifies the content of the file; a change must repeat it.
	Version    string `json:"version"`
	ModifiedAt int64  `json:"modifiedAt"` // Unix milliseconds
}

type (
	// ListMemoryRequest requests the notes that sessions of a project have; "" means
	// the user's own.
	ListMemoryRequest struct {
		ProjectID string `json:"projectId,omitempty" req:"max=256"`
	}
	ListMemoryResponse struct {
		Notes []MemoryNote `json:"notes"` // those of the project first, each by name
	}
	// MemoryNoteRequest names a note.
	MemoryNoteRequest struct {
		Scope     MemoryScope `json:"scope" req:"min=1,max=64"`
		ProjectID string      `json:"projectId,omitempty" req:"max=256"` // for the scope "project"
		Name      string      `json:"name" req:"min=1,max=256"`
	}
	MemoryNoteResponse struct {
		Note MemoryNote `json:"note"`
		Text string     `json:"text"`
		// Partial reports that the file is too large or is not UTF-8 text, so that Text is
		// not its content and cannot be saved.
		Partial bool `json:"partial,omitempty"`
	}
	// SaveMemoryNoteRequest creates a note or replaces its text.
	SaveMemoryNoteRequest struct {
		MemoryNoteRequest
		Version string `json:"version,omitempty" req:"max=64"` // version that was read; "" creates a note
		Text    string `json:"text" req:"max=32768"`           // Markdown, not blank
	}
	// GetJournalRequest requests a day of a project's journal.
	GetJournalRequest struct {
		ProjectID string `json:"projectId" req:"min=1,max=256"`
		Day       string `json:"day,omitempty" req:"max=10"` // YYYY-MM-DD; "" is the last one
	}
	GetJournalResponse struct {
		Days []string `json:"days"` // that have a text, newest first
		Day  string   `json:"day"`  // YYYY-MM-DD in the host's time zone; "" if there is none
		Text string   `json:"text"` // Markdown: a line for each turn
	}
	// ReviewNotesRequest starts a session in which the agent merges and drops notes: those of
	// the project and, unless the connection is limited to projects, the user's.
	ReviewNotesRequest struct {
		ProjectID string `json:"projectId" req:"min=1,max=256"`
		ClientKey string `json:"clientKey" req:"min=1,max=256"` // repeated: the same session
	}
	// DeleteMemoryNoteRequest deletes a note.
	DeleteMemoryNoteRequest struct {
		MemoryNoteRequest
		Version string `json:"version" req:"min=1,max=64"` // version that was read
	}
)
