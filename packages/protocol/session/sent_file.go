package session

// ToolSendFile is the name of the tool that sends a file to the chats that follow a session.
const ToolSendFile = "send_file"

// SentFile is the details of a successful result of ToolSendFile: a file that the chats send.
type SentFile struct {
	Path   string `json:"path"` // relative to the session's folder, with slashes
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
}
