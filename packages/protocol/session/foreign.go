package session

import "encoding/json"

// Custom types of sessions that were imported from other programs.
const (
	CustomImported = "scorel.imported" // data: ImportRecord, written after each import that added something
	CustomForeign  = "scorel.foreign"  // data: ForeignRecord, a record of a kind that scorel does not know
)

type (
	// ImportRecord is the data of CustomImported; the last one counts.
	ImportRecord struct {
		Source    string `json:"source"`            // "claude", "codex", "gemini" or "opencode"
		SessionID string `json:"sessionId"`         // of the program
		Folder    string `json:"folder,omitempty"`  // in which the program ran
		Version   string `json:"version,omitempty"` // of the program
		Title     string `json:"title,omitempty"`   // that the program stores
		Entries   int    `json:"entries"`           // made of the transcript so far
		// Damaged, Unknown, Omitted and Unfinished count records of the transcript: those
		// that could not be read, are kept as ForeignRecord, are bookkeeping of the
		// program, or were still being written.
		Damaged    int   `json:"damaged,omitempty"`
		Unknown    int   `json:"unknown,omitempty"`
		Omitted    int   `json:"omitted,omitempty"`
		Unfinished int   `json:"unfinished,omitempty"`
		ImportedAt int64 `json:"importedAt"` // Unix milliseconds
	}
	// ForeignRecord is the data of CustomForeign.
	ForeignRecord struct {
		Source string          `json:"source"`
		Kind   string          `json:"kind"`
		Bytes  int             `json:"bytes"`
		Record json.RawMessage `json:"record,omitempty"` // absent if it is too long or cannot be stored
	}
)
