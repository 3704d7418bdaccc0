package procgroup

// Owner says whose a command is. A field that does not apply is "".
type Owner struct {
	Session string `json:"session,omitempty"` // of the agent
	Call    string `json:"call,omitempty"`    // of a tool, in that session
	Server  string `json:"server,omitempty"`  // that is spoken MCP with
}

// Left is a command that ran when the process died that had started it.
type Left struct {
	Owner
	Processes int // of it that still ran, and were ended
}
