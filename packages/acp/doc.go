// Package acp speaks the Agent Client Protocol: JSON-RPC 2.0, one message a line, between a
// program that people use (the client) and an agent, usually over the agent's standard input
// and output.
//
// Conn is the connection, the same for both sides. It starts handling messages in the order of
// their arrival, and a Call returns after everything that arrived before its response has been
// handled, so a turn's last update is never behind the answer to its prompt. Nothing is queued
// without bound: a handler that is slow slows the sender down.
//
// The types are those of version 1, the stable one. Unions (Update, ContentBlock, ToolContent,
// ConfigOption, AuthMethod) keep the JSON that they were decoded from: kinds and fields that
// this package does not know survive decoding and encoding. Agent is what a client asks of an
// agent in any version; Connect negotiates the version.
package acp

import "encoding/json"

// The versions of the protocol. Version2 is a draft, which Connect speaks only when asked.
const (
	Version1 = 1
	Version2 = 2
)

// The limits of a connection.
const (
	// MaxLine is how long one message may be. The largest that are in use carry a picture or
	// the content of a file.
	MaxLine = 64 << 20
	// MaxGarbage is how many lines that are no messages a connection survives: agents and
	// what they start print to standard output by mistake.
	MaxGarbage = 1000
	// MaxOpenRequests is how many requests of the other side may wait for their responses.
	MaxOpenRequests = 256
	// MaxQueued is how many bytes may wait to be written; a sender of more waits. One message
	// may be longer.
	MaxQueued = 1 << 20
	// MaxUnread is how many bytes of responses may wait when the other side does not read them.
	MaxUnread = 8 << 20
	// MaxID is how long the id of a request may be.
	MaxID = 256
)

// Methods of agents, called by clients.
const (
	MethodInitialize      = "initialize"
	MethodAuthenticate    = "authenticate"
	MethodLogout          = "logout"
	MethodNewSession      = "session/new"
	MethodLoadSession     = "session/load"
	MethodResumeSession   = "session/resume"
	MethodListSessions    = "session/list"
	MethodCloseSession    = "session/close"
	MethodDeleteSession   = "session/delete"
	MethodPrompt          = "session/prompt"
	MethodCancel          = "session/cancel" // a notification
	MethodSetMode         = "session/set_mode"
	MethodSetModel        = "session/set_model" // not stable
	MethodSetConfigOption = "session/set_config_option"
)

// Methods of clients, called by agents.
const (
	MethodUpdate              = "session/update" // a notification
	MethodRequestPermission   = "session/request_permission"
	MethodCreateElicitation   = "elicitation/create"
	MethodCompleteElicitation = "elicitation/complete" // a notification
	MethodReadTextFile        = "fs/read_text_file"
	MethodWriteTextFile       = "fs/write_text_file"
)

// MethodCancelRequest is the notification of both sides that a response is not needed any more.
const MethodCancelRequest = "$/cancel_request"

// Meta is what either side adds to a message under "_meta".
type Meta = json.RawMessage
