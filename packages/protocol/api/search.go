package api

// Limits of search_sessions.
const (
	MaxQuery = 512 // bytes of a search
	MaxHits  = 50  // hits of one answer to a search

	MaxSessionHits = 1000 // hits of one answer to a search in one session
)

type (
	// SearchSessionsRequest searches the text of all sessions. Query combines
	// required words, "phrases", prefix* and -excluded words. Case and accents are
	// ignored.
	SearchSessionsRequest struct {
		Query     string `json:"query" req:"max=512"`
		ProjectID string `json:"projectId,omitempty" req:"max=256"` // "" searches all projects
		// SessionID restricts the search to one session, which lists all of its hits; ""
		// searches all sessions.
		SessionID string `json:"sessionId,omitempty" req:"max=256"`
		// Role restricts the search: "" searches everything, otherwise "user",
		// "assistant", "tool", "summary", "name" or "other".
		Role string `json:"role,omitempty" req:"max=64"`
		// Limit bounds the hits: 0, or more than MaxHits, means MaxHits; in one session
		// MaxSessionHits.
		Limit int `json:"limit,omitempty"`
		// Skip leaves out that many of the newest hits, which earlier answers listed. It has no
		// effect in one session.
		Skip int `json:"skip,omitempty" req:"min=0"`
	}
	// SearchSessionsResponse lists the newest hits first, at most three per session
	// in a search over several.
	SearchSessionsResponse struct {
		Hits []SearchHit `json:"hits"`
		// Behind is the number of sessions not yet fully indexed, whose latest text
		// may be missing.
		Behind int `json:"behind,omitempty"`
		// More reports that there are older hits, for a request that skips the listed ones.
		More bool `json:"more,omitempty"`
		// Total is the number of all hits, listed or not, of a search in one session.
		Total int `json:"total,omitempty"`
	}
)

// SearchHit is an entry that matched.
type SearchHit struct {
	SessionID string `json:"sessionId"` // the session
	ProjectID string `json:"projectId"` // the project that it belongs to
	Name      string `json:"name"`      // name of the session, as in SessionSummary.Name
	EntryID   string `json:"entryId"`   // the log entry that was found
	// Seq is the seq of that entry; get_entries with "before" set to seq + 1 returns entries up to
	// and including it, and with "around" set to entryId the entries around it.
	Seq uint64 `json:"seq"`
	// Role is whose text it is: "user", "assistant", "tool", "summary", "name" or "other".
	Role string `json:"role"`
	At   int64  `json:"at"` // Unix milliseconds
	// Snippet is the text around the match; empty in a search in one session.
	Snippet []SnippetPart `json:"snippet"`
}

// SnippetPart is a piece of a snippet.
type SnippetPart struct {
	Text  string `json:"text"`            // a piece of the text
	Found bool   `json:"found,omitempty"` // the part matched
}
