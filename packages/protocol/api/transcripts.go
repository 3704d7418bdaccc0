package api

// TranscriptOutcome is what became of an import.
type TranscriptOutcome string

const (
	TranscriptImported  TranscriptOutcome = "imported"  // as a new session
	TranscriptExtended  TranscriptOutcome = "extended"  // an earlier import got what is new
	TranscriptUnchanged TranscriptOutcome = "unchanged" // the earlier import has all of it
	// TranscriptContinued means that the session was continued on this host after its import.
	// It was not changed, because both continuations exclude each other.
	TranscriptContinued TranscriptOutcome = "continued"
)

// MaxTranscripts bounds the transcripts of one answer.
const MaxTranscripts = 200

type (
	// Transcript is a conversation that another agent keeps on the host's machine.
	Transcript struct {
		From      string `json:"from"`                // "claude", "codex", "gemini" or "opencode"
		ID        string `json:"id"`                  // of that program
		Title     string `json:"title"`               // its name, or the first prompt
		Folder    string `json:"folder,omitempty"`    // in which it took place; absent if unknown
		Version   string `json:"version,omitempty"`   // of the program
		CreatedAt int64  `json:"createdAt,omitempty"` // Unix milliseconds
		UpdatedAt int64  `json:"updatedAt"`           // Unix milliseconds
		Bytes     int64  `json:"bytes,omitempty"`     // size; absent if unknown
		// ProjectID is the project that contains the folder; absent if there is none.
		ProjectID string `json:"projectId,omitempty"`
		// SessionID is the session of an earlier import.
		SessionID string `json:"sessionId,omitempty"`
	}
	// ListTranscriptsRequest lists the conversations of one agent.
	ListTranscriptsRequest struct {
		From      string `json:"from" req:"min=1,max=64"`           // "claude", "codex", "gemini" or "opencode"
		ProjectID string `json:"projectId,omitempty" req:"max=256"` // only those in this project
		Query     string `json:"query,omitempty" req:"max=256"`     // words of the title or the folder
		Offset    int    `json:"offset,omitempty"`                  // how many to skip
		Limit     int    `json:"limit,omitempty"`                   // 0 or more than MaxTranscripts: MaxTranscripts
	}
	ListTranscriptsResponse struct {
		Transcripts []Transcript `json:"transcripts"`
		Total       int          `json:"total"` // that match, on all pages
		// Damaged counts files that are named like transcripts and cannot be read as such.
		Damaged int `json:"damaged,omitempty"`
	}
	// ImportTranscriptRequest imports a conversation and those of its subagents. Repeating it
	// changes nothing.
	ImportTranscriptRequest struct {
		From      string `json:"from" req:"min=1,max=64"`
		ID        string `json:"id" req:"min=1,max=256"`
		ProjectID string `json:"projectId,omitempty" req:"max=256"` // "" is the project that contains the folder
	}
	ImportTranscriptResponse struct {
		Session SessionSummary    `json:"session"`
		Outcome TranscriptOutcome `json:"outcome"`
		Added   int               `json:"added"` // entries, without those of subagents
		// Subagents counts the sessions of subagents.
		Subagents int `json:"subagents,omitempty"`
		// Damaged, Unknown, Omitted and Unfinished count records of the conversation and its
		// subagents: see session.ImportRecord.
		Damaged    int `json:"damaged,omitempty"`
		Unknown    int `json:"unknown,omitempty"`
		Omitted    int `json:"omitted,omitempty"`
		Unfinished int `json:"unfinished,omitempty"`
	}
)
