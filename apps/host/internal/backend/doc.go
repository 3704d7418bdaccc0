// Package backend has agents of other programs work on turns, by the Agent Client Protocol. A
// Backends starts the program of a session's backend when a turn needs it, in a process group of
// its own and with an environment that has none of the host's keys, and ends it when it is idle.
//
// A run is an agent.Runner. It writes what the agent sends into the same journal as scorel's own
// loop, asks for permission through the same gate, and ends with exactly one outcome whatever
// the program does: it may crash, hang, print garbage or never stop. What is not acknowledged by
// the journal makes the program wait, so that a fast one costs no memory.
//
// The package reads no file of a vendor: logins, tokens and settings are between people and
// their program.
package backend

import "time"

// The limits of a backend.
const (
	// MaxAgents is how many programs run at once; an idle one is ended for another.
	MaxAgents = 16
	// IdleAfter is how long a program without a turn keeps running.
	IdleAfter = 10 * time.Minute
	// StartTimeout bounds the start of a program up to its session.
	StartTimeout = 2 * time.Minute
	// CancelGrace is how long a program may take to end a canceled turn before it is killed.
	CancelGrace = 5 * time.Second
	// OptionTimeout is how long a program may take to change an option.
	OptionTimeout = 10 * time.Second
	// EndGrace is how long a program may take to exit before it is killed.
	EndGrace = 3 * time.Second
	// MaxCalls is how many tool calls one turn may make.
	MaxCalls = 2000
	// MaxOpenCalls is how many of them may run at once.
	MaxOpenCalls = 128
	// MaxTurnBytes is how much one turn may say and output, in bytes.
	MaxTurnBytes = 64 << 20
	// MaxMessage is how long one message in the log may be, in bytes; a longer one becomes
	// several.
	MaxMessage = 1 << 20
	// MaxResult is how much of a tool's output is kept, in bytes.
	MaxResult = 256 << 10
	// MaxRecord is how long a record of an update that is kept as it is may be, in bytes.
	MaxRecord = 64 << 10
	// MaxRecords is how many records one turn may write besides messages; further ones are
	// counted only.
	MaxRecords = 500
	// MaxRebuilt is how much text of earlier messages an agent is given at once, in bytes.
	MaxRebuilt = 256 << 10
)
