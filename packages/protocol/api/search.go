package api

// Limits of search_sessions.
const (
	MaxQuery = 512 // bytes of a search
	MaxHits  = 50  // hits of one answer
)

type (
	// SearchSessionsRequest searches the text of all sessions. Query is what people
	// write: words that must all be there, "phrases", begin* for words that begin so,
	// and -word for what must not be there. Case and accents do not matter.
	SearchSessionsRequest struct {
		Query     string `json:"query"`
		ProjectID string `json:"projectId,omitempty"` // "" searches all projects
		// Role is whose text is searched: "" is everybody's, else "user", "assistant",
		// "tool", "summary", "name" or "other".
		Role  string `json:"role,omitempty"`
		Limit int    `json:"limit,omitempty"` // 0, or more than MaxHits, is MaxHits
	}
	// SearchSessionsResponse holds the newest hits first, at most three of one session.
	SearchSessionsResponse struct {
		Hits []SearchHit `json:"hits"`
		// Behind is how many sessions wait to be read into the index: what was said in
		// them last may be missing.
		Behind int `json:"behind,omitempty"`
	}
)

// SearchHit is an entry of a session that was found.
type SearchHit struct {
	SessionID string `json:"sessionId"`
	ProjectID string `json:"projectId"`
	Name      string `json:"name"` // of the session, as SessionSummary.Name
	EntryID   string `json:"entryId"`
	Seq       uint64 `json:"seq"` // of the entry: get_entries with before: seq + 1 ends with it
	Role      string `json:"role"`
	At        int64  `json:"at"` // Unix milliseconds
	// Snippet is the text around what was found.
	Snippet []SnippetPart `json:"snippet"`
}

// SnippetPart is a piece of a snippet.
type SnippetPart struct {
	Text  string `json:"text"`
	Found bool   `json:"found,omitempty"` // it is what was searched for
}
