package procgroup

// Owner is what a command was started for. Fields that do not apply are "".
type Owner struct {
	Session string `json:"session,omitempty"` // id of an agent session
	Call    string `json:"call,omitempty"`    // id of a tool call in that session
	Server  string `json:"server,omitempty"`  // name of an MCP server
}

// Left is a command that was running when the process that had started it died.
type Left struct {
	Owner
	Processes int // number of its processes that were still running, and were killed
}
