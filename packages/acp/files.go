package acp

// ReadTextFileRequest asks a client that offers it for the text of a file, as its editor has it.
// Lines count from 1.
type ReadTextFileRequest struct {
	SessionID string `json:"sessionId"`
	Path      string `json:"path"` // absolute
	Line      int    `json:"line,omitempty"`
	Limit     int    `json:"limit,omitempty"` // of lines
	Meta      Meta   `json:"_meta,omitempty"`
}

// ReadTextFileResponse has the text.
type ReadTextFileResponse struct {
	Content string `json:"content"`
	Meta    Meta   `json:"_meta,omitempty"`
}

// WriteTextFileRequest replaces the text of a file in the editor of a client that offers it.
type WriteTextFileRequest struct {
	SessionID string `json:"sessionId"`
	Path      string `json:"path"` // absolute
	Content   string `json:"content"`
	Meta      Meta   `json:"_meta,omitempty"`
}
