package api

// Limits of terminals.
const (
	MaxTerminals     = 8         // terminals of one client
	MaxAllTerminals  = 32        // terminals of all clients
	TerminalBytes    = 512 << 10 // latest bytes of output that a host keeps of one terminal
	TerminalWindow   = 128 << 10 // bytes of output that a client may leave unacknowledged
	MaxTerminalChunk = 32 << 10  // bytes of output in one terminal_output, before base64
	MaxTerminalInput = 64 << 10  // bytes of input in one write_terminal, before base64
	MaxTerminalSide  = 1000      // columns, and rows, of a terminal
)

// TerminalReason is why a terminal ended.
type TerminalReason string

const (
	TerminalExited  TerminalReason = "exited"  // the shell ended by itself
	TerminalClosed  TerminalReason = "closed"  // close_terminal
	TerminalRevoked TerminalReason = "revoked" // its client lost the grant, or was revoked
	TerminalStopped TerminalReason = "stopped" // the host stops
)

type (
	// Terminal is a shell on the host's machine. Only the client that opened it can see
	// and use it.
	Terminal struct {
		ID string `json:"id"`
		// ProjectID is the project in whose folder the shell started; absent for the user's
		// home.
		ProjectID string `json:"projectId,omitempty"`
		SessionID string `json:"sessionId,omitempty"` // the session in whose folder it was asked to start
		Cwd       string `json:"cwd"`                 // the folder in which the shell started
		Cols      int    `json:"cols"`                // width in characters
		Rows      int    `json:"rows"`                // height in characters
		CreatedAt int64  `json:"createdAt"`           // Unix milliseconds
		// From and End are the offsets of the output that the host still has: the first
		// byte, and the one after the last.
		From int64 `json:"from"`
		End  int64 `json:"end"` // offset after the last byte of output
		// Ended is set once the shell has ended.
		Ended *TerminalEnd `json:"ended,omitempty"`
	}
	// TerminalEnd is how a shell ended.
	TerminalEnd struct {
		// Reason is "exited" (by itself), "closed" (close_terminal), "revoked" (the client lost
		// the grant or its access) or "stopped" (the host stops).
		Reason   TerminalReason `json:"reason"`
		ExitCode int            `json:"exitCode"`         // -1 if a signal ended the shell
		Signal   string         `json:"signal,omitempty"` // the name of that signal, for people
	}

	// OpenTerminalRequest starts a shell; the same ClientKey yields the same terminal.
	OpenTerminalRequest struct {
		ClientKey string `json:"clientKey" req:"min=1,max=64"`
		ProjectID string `json:"projectId,omitempty" req:"max=256"` // "" means the user's home
		// SessionID starts the shell where that session works, which can be a worktree; ProjectID
		// is ignored then.
		SessionID string `json:"sessionId,omitempty" req:"max=256"`
		Cols      int    `json:"cols" req:"min=1,max=1000"`
		Rows      int    `json:"rows" req:"min=1,max=1000"`
	}
	// TerminalResponse describes one terminal.
	TerminalResponse struct {
		Terminal Terminal `json:"terminal"`
	}
	// ListTerminalsResponse lists the terminals of the asking client, oldest first.
	ListTerminalsResponse struct {
		Terminals []Terminal `json:"terminals"`
	}
	// TerminalRequest names a terminal.
	TerminalRequest struct {
		TerminalID string `json:"terminalId" req:"min=1,max=64"`
	}
	// AttachTerminalRequest asks for the output from an offset. The connection gets it
	// as terminal_output, and acknowledges what it has drawn.
	AttachTerminalRequest struct {
		TerminalID string `json:"terminalId" req:"min=1,max=64"`
		Offset     int64  `json:"offset,omitempty" req:"min=0"` // the first byte that the client does not have
	}
	// AttachTerminalResponse says where the output continues. All later output follows
	// on the same connection.
	AttachTerminalResponse struct {
		Terminal Terminal `json:"terminal"`
		Offset   int64    `json:"offset"`           // of the first byte that follows
		Missed   int64    `json:"missed,omitempty"` // bytes since the request's offset that the host no longer has
	}
	// AckTerminalRequest acknowledges the output before an offset.
	AckTerminalRequest struct {
		TerminalID string `json:"terminalId" req:"min=1,max=64"`
		Offset     int64  `json:"offset" req:"min=0"`
	}
	// WriteTerminalRequest types into a terminal.
	WriteTerminalRequest struct {
		TerminalID string `json:"terminalId" req:"min=1,max=64"`
		Data       string `json:"data" req:"min=1,max=87384"` // base64 of at most MaxTerminalInput bytes
	}
	// ResizeTerminalRequest sets the size of a terminal in characters.
	ResizeTerminalRequest struct {
		TerminalID string `json:"terminalId" req:"min=1,max=64"`
		Cols       int    `json:"cols" req:"min=1,max=1000"`
		Rows       int    `json:"rows" req:"min=1,max=1000"`
	}
)

// Events of terminals. TerminalOutput and TerminalChanged go to the connections that are
// attached to the terminal.
type (
	// TerminalOutput carries output. If Offset is beyond what the client has, the bytes
	// in between are missing: the client was too slow.
	TerminalOutput struct {
		TerminalID string `json:"terminalId"`
		Offset     int64  `json:"offset"`
		Data       string `json:"data"` // base64 of at most MaxTerminalChunk bytes
	}
	// TerminalChanged reports a new size or the end of a terminal. The end follows the
	// last output, unless the terminal was closed.
	TerminalChanged struct {
		Terminal Terminal `json:"terminal"`
	}
	// TerminalsChanged reports that the list of terminals of the client has changed. It goes to
	// all connections of that client.
	TerminalsChanged struct{}
)

func (TerminalOutput) EventType() string  { return "terminal_output" }
func (TerminalChanged) EventType() string { return "terminal_changed" }

func (TerminalsChanged) EventType() string { return "terminals_changed" }
