// Package api is what an entry and a host say to each other, inside the seal or
// on a direct WebSocket: requests, responses and events, all JSON.
//
//	entry -> host   {"type": NAME, "requestId": ID, ...fields of the request}
//	host  -> entry  {"type": "response", "requestId": ID, "result": {...}}
//	                {"type": "error", "requestId": ID, "kind": N, "message": TEXT}
//	                {"type": "event", "event": {"type": NAME, ...}}
//
// Table lists every request with the grant that it needs; the dispatcher, the
// TypeScript types, the documentation and the authorization test are made from
// it. An unknown request is answered with unknown_request; an unknown event is
// kept and forwarded, never fatal.
package api

// Grant is a right that a host gave to a client.
type Grant string

const (
	GrantView    Grant = "view"    // read projects, sessions and events
	GrantPrompt  Grant = "prompt"  // make sessions, send prompts, cancel
	GrantApprove Grant = "approve" // answer approvals
	GrantManage  Grant = "manage"  // projects, folders, clients
	// GrantLocal is held only by a connection on the host's own machine that
	// knows the token of the state file. It is never given to a client.
	GrantLocal Grant = "local"
)

// AllGrants is what a client gets when it is paired.
func AllGrants() []Grant { return []Grant{GrantView, GrantPrompt, GrantApprove, GrantManage} }

// Limits of what an entry may send.
const (
	MaxPrompt    = 1 << 20  // bytes of UTF-8 in one prompt
	MaxPath      = 4096     // bytes
	MaxName      = 200      // bytes of a session name
	MaxClientKey = 64       // bytes
	MaxAnswer    = 32 << 10 // bytes of an answer to a question
	MaxChoices   = 4        // of a question
	MaxFeedback  = 8 << 10  // bytes of a word to the agent with a denial
	MaxRules     = 32       // rules of one prompt
	MaxQueue     = 64       // prompts waiting in one session
	// MaxQueueBytes bounds what waits in one session, as JSON.
	MaxQueueBytes = 4 << 20
	MaxLabel      = 100     // bytes of a label
	MaxFocus      = 4 << 10 // bytes of the instructions for a compaction
	MaxSessions   = 500     // sessions of one page of list_sessions
	// MaxTreeNodes bounds get_tree; the newest are given.
	MaxTreeNodes = 2000
	// RingBytes is how many bytes of events a host keeps for stream_resume.
	RingBytes = 2 << 20
)

// Limits of what a host sends at once of a log. One message stays well under what
// the seal carries.
const (
	// WindowEntries and WindowBytes bound the entries of one answer: resync_events
	// gives the last of the log, get_entries those before. One entry always fits.
	WindowEntries = 500
	WindowBytes   = 2 << 20
	// MaxEntryBytes is the longest line that is sent. In the place of a longer one
	// stands a custom entry of session.CustomOmitted.
	MaxEntryBytes = 7 << 20
)
