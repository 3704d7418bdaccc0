// Package api defines what an entry and a host exchange inside the seal or on a
// direct WebSocket: requests, responses and events, all JSON.
//
//	entry -> host   {"type": NAME, "requestId": ID, ...fields of the request}
//	host  -> entry  {"type": "response", "requestId": ID, "result": {...}}
//	                {"type": "error", "requestId": ID, "kind": N, "message": TEXT}
//	                {"type": "event", "event": {"type": NAME, ...}}
//
// Table lists every request with the grant that it needs; the dispatcher, the
// TypeScript types, the documentation and the authorization test are derived from
// it. An unknown request is answered with unknown_request; an unknown event is kept
// and forwarded and is never fatal.
package api

// Grant is a permission that a host gives to a client.
type Grant string

const (
	GrantView    Grant = "view"    // read projects, sessions and events
	GrantPrompt  Grant = "prompt"  // create sessions, send prompts, cancel
	GrantApprove Grant = "approve" // answer approvals
	GrantManage  Grant = "manage"  // projects, folders, clients
	// GrantFiles lets a client read the files and the git history of projects, and
	// with GrantApprove revert files and commit.
	GrantFiles Grant = "files"
	// GrantRules lets a client with GrantManage and GrantApprove add broad rules.
	// Pairing does not give it; set_grant does, on the host's own machine.
	GrantRules Grant = "rules"
	// GrantShell lets a client open terminals, which are shells with all rights of the
	// host's user. Pairing does not give it; set_grant does, on the host's own machine.
	GrantShell Grant = "shell"
	// GrantMove is held only by another host while it moves a session here. It allows the
	// requests of its own moves and nothing else. No person gives it.
	GrantMove Grant = "move"
	// GrantLocal is held only by a connection on the host's own machine that
	// presents the token of the state file. It is never given to a client.
	GrantLocal Grant = "local"
)

// AllGrants lists the grants that a client gets when it is paired and no others are
// chosen.
func AllGrants() []Grant {
	return []Grant{GrantView, GrantPrompt, GrantApprove, GrantManage, GrantFiles}
}

// LocalGrants lists the grants of a direct connection of the machine's own user, who may
// do everything. GrantLocal stands for GrantRules too.
func LocalGrants() []Grant { return append(AllGrants(), GrantShell, GrantLocal) }

// ExtraGrants lists the grants that only the host's own machine gives, because they
// allow more than pairing without choices does.
func ExtraGrants() []Grant { return []Grant{GrantRules, GrantShell} }

// ClientGrants lists every grant that a paired client can have. It always has GrantView;
// set_grant gives and revokes the others.
func ClientGrants() []Grant { return append(AllGrants(), ExtraGrants()...) }

// ClientLimits restrict what the grants of a client apply to.
type ClientLimits struct {
	// Projects are the ids of the projects that the client can see; empty means all. It
	// stays limited when they are removed.
	Projects []string `json:"projects,omitempty" req:"max=64"`
	// ExpiresAt is when the client's access ends, in Unix milliseconds; 0 means never.
	ExpiresAt int64 `json:"expiresAt,omitempty" req:"min=0"`
}

// Outlasts reports whether access with these limits lasts longer than with others.
func (l ClientLimits) Outlasts(others ClientLimits) bool {
	return others.ExpiresAt != 0 && (l.ExpiresAt == 0 || l.ExpiresAt > others.ExpiresAt)
}

// Limits on what an entry may send.
const (
	MaxPrompt    = 1 << 20  // bytes of UTF-8 in one prompt
	MaxPath      = 4096     // bytes of a path
	MaxName      = 200      // bytes of a session name
	MaxClientKey = 64       // bytes of a clientKey
	MaxAnswer    = 32 << 10 // bytes of an answer to a question
	MaxChoices   = 4        // choices of a question
	MaxFeedback  = 8 << 10  // bytes of the feedback with a denial
	MaxRules     = 32       // rules of one prompt
	MaxQueue     = 64       // queued prompts in one session
	// MaxQueueBytes limits the queue of one session, in bytes of JSON.
	MaxQueueBytes = 4 << 20
	MaxLabel      = 100     // bytes of a label
	MaxFocus      = 4 << 10 // bytes of the instructions for a compaction
	MaxSessions   = 500     // sessions of one page of list_sessions
	// MaxTreeNodes limits the answer to get_tree, which holds the newest entries.
	MaxTreeNodes = 2000
	// MaxVersions limits the messages in the answer to list_versions.
	MaxVersions = 5000
	// RingBytes is how many bytes of events a host keeps for stream_resume.
	RingBytes = 2 << 20
)

// Limits on how much of a log a host sends at once. One message stays well under
// the seal's limit.
const (
	// WindowEntries limits the log entries of one answer: resync_events returns the
	// end of the log, get_entries earlier entries.
	WindowEntries = 500
	// WindowBytes limits the same in bytes of JSON. At least one entry is always
	// returned.
	WindowBytes = 2 << 20
	// MaxEntryBytes is the longest line of a log that is sent, in bytes. A longer one is replaced by a
	// custom entry of session.CustomOmitted.
	MaxEntryBytes = 7 << 20
)
