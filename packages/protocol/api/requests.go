package api

import (
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Empty is a request or response without fields.
type Empty struct{}

// Requests and responses, in the order of Table.
// ThinkingConfigured as a level of set_model goes back to what config.toml says.
const ThinkingConfigured = "configured"

type (
	GetHostResponse struct {
		Host HostInfo `json:"host"`
	}

	ListProjectsResponse struct {
		Projects []Project `json:"projects"`
	}
	// AddProjectRequest is idempotent: the same folder is the same project.
	AddProjectRequest struct {
		Path string `json:"path"`
	}
	AddProjectResponse struct {
		Project Project `json:"project"`
	}
	// RemoveProjectRequest is refused with project_in_use while sessions exist.
	RemoveProjectRequest struct {
		ProjectID string `json:"projectId"`
	}
	// TrustProjectRequest lets a folder's own settings, skills and MCP servers count,
	// or no longer.
	TrustProjectRequest struct {
		ProjectID string `json:"projectId"`
		Trusted   bool   `json:"trusted"`
	}
	TrustProjectResponse struct {
		Project Project `json:"project"`
	}
	// ListDirRequest lists the folders in Path; "" is the user's home folder.
	ListDirRequest struct {
		Path string `json:"path"`
	}
	ListDirResponse struct {
		Path    string     `json:"path"`             // resolved
		Parent  string     `json:"parent,omitempty"` // "" at the root
		Entries []DirEntry `json:"entries"`
		// Truncated is true when there are more than are listed.
		Truncated bool `json:"truncated,omitempty"`
	}

	// ListSessionsRequest lists newest first; "" lists all projects. Sessions that an
	// agent had made are left out while the one that they belong to is there.
	ListSessionsRequest struct {
		ProjectID string `json:"projectId"`
		All       bool   `json:"all,omitempty"`   // those too
		Limit     int    `json:"limit,omitempty"` // of one answer, at most MaxSessions; 0 is all at once
		After     string `json:"after,omitempty"` // Next of the answer before; "" begins with the newest
		// Watching says that somebody sees the list and what session_updated says of it, for as
		// long as the connection lasts: a session that waits for a person has somebody to wait for.
		Watching bool `json:"watching,omitempty"`
	}
	ListSessionsResponse struct {
		Sessions []SessionSummary `json:"sessions"`
		// Next is for the next request; "" where nothing follows. A session that changes
		// between two requests moves to the front, which session_updated tells.
		Next  string `json:"next,omitempty"`
		Total int    `json:"total,omitempty"` // sessions of the whole list now
	}
	// CreateSessionRequest makes one session per ClientKey.
	CreateSessionRequest struct {
		ProjectID string `json:"projectId"`
		ClientKey string `json:"clientKey"`
		Model     string `json:"model,omitempty"` // name in config.toml; "" is the default
	}
	CreateSessionResponse struct {
		Session SessionSummary `json:"session"`
	}
	RenameSessionRequest struct {
		SessionID string `json:"sessionId"`
		Name      string `json:"name"`
	}
	// CopySessionRequest copies a session to another session provider. Doing it
	// again changes nothing.
	CopySessionRequest struct {
		SessionID string `json:"sessionId"`
		To        string `json:"to"`             // "file", "postgres" or "mysql"
		Move      bool   `json:"move,omitempty"` // take it away where it was
	}
	// ImportSessionRequest takes a session file of this machine in.
	ImportSessionRequest struct {
		Path      string `json:"path"`                // absolute
		ProjectID string `json:"projectId,omitempty"` // "" is the project of the folder that the file names
	}
	ImportSessionResponse struct {
		Session SessionSummary `json:"session"`
	}
	// SetModelRequest chooses the model, how much it thinks, or both. Where the model
	// does not know the level, the nearest of Model.ThinkingLevels counts.
	SetModelRequest struct {
		SessionID string `json:"sessionId"`
		Model     string `json:"model"` // "" with Thinking leaves it
		// Thinking is "off", "minimal", "low", "medium" or "high"; ThinkingConfigured goes
		// back to what config.toml says, and "" leaves it.
		Thinking string `json:"thinking,omitempty"`
	}
	// SetModeRequest says how much the agent may do without asking. The highest mode
	// that a connection may set is in get_host.
	SetModeRequest struct {
		SessionID string `json:"sessionId"`
		Mode      Mode   `json:"mode"`
	}
	// ResyncEventsRequest subscribes to a session and says what was seen. Zero
	// anchors get a full reload.
	ResyncEventsRequest struct {
		SessionID string `json:"sessionId"`
		Anchors
		// Unattended says that nobody on this connection can answer the agent.
		Unattended bool `json:"unattended,omitempty"`
	}
	// ResyncEventsResponse brings the entry to the state at Anchors; every later
	// event follows on the same connection, with no gap.
	ResyncEventsResponse struct {
		Mode    ResyncMode      `json:"mode"`
		Session SessionSummary  `json:"session"`
		Entries []session.Entry `json:"entries"` // empty for stream_resume
		// Before is for get_entries, which gives what lies before Entries; 0 where
		// nothing does. full_reload only: in the other modes the one from before holds.
		Before  uint64          `json:"before,omitempty"`
		Events  []EventEnvelope `json:"events"` // stream_resume only
		Live    Live            `json:"live"`
		Anchors Anchors         `json:"anchors"`
	}
	// GetEntriesRequest asks for the last entries before a place in the log; 0 is its
	// end. With After it asks for the first entries after that place, and with Around
	// for the entries on both sides of one, none of them at Before or behind it.
	GetEntriesRequest struct {
		SessionID string `json:"sessionId"`
		Before    uint64 `json:"before,omitempty"`
		After     uint64 `json:"after,omitempty"`
		Around    string `json:"around,omitempty"` // id of an entry
		Limit     int    `json:"limit,omitempty"`  // 0, or more than WindowEntries, is WindowEntries
	}
	// GetEntriesResponse holds them in the order of the log.
	GetEntriesResponse struct {
		Entries []session.Entry `json:"entries"`
		// Before is for the next request; 0 where nothing lies before Entries. Answers to
		// After have none.
		Before uint64 `json:"before,omitempty"`
		// After is for the next request; 0 where nothing lies between Entries and the
		// request's Before. Only answers to After and Around have it.
		After uint64 `json:"after,omitempty"`
		// PathID is the last of Entries on the path to the session's leaf, "" where none
		// is. Only answers to After and Around have it.
		PathID string `json:"pathId,omitempty"`
		// OnPath tells whether the entry of Around is on the path to the leaf.
		OnPath bool `json:"onPath,omitempty"`
	}
	// GetProcessLogRequest asks for lines of an operation's log.
	GetProcessLogRequest struct {
		ProcessLogRef string `json:"processLogRef"`
		From          int64  `json:"from,omitempty"`  // next of the page before; 0 is the beginning
		Limit         int    `json:"limit,omitempty"` // 0, or more than 200, is 200
	}
	GetProcessLogResponse struct {
		Lines []session.ProcessLine `json:"lines"`
		// Next is for the next request, also for what an operation that runs will add.
		Next int64 `json:"next"`
		More bool  `json:"more,omitempty"` // there are lines after these
	}
	// SessionRequest names a session and nothing else.
	SessionRequest struct {
		SessionID string `json:"sessionId"`
	}

	// SendPromptRequest sends one prompt per ClientKey; a retry changes nothing.
	SendPromptRequest struct {
		SessionID string `json:"sessionId"`
		ClientKey string `json:"clientKey"`
		Text      string `json:"text"`
		// AllowAll gives every approval that this prompt will ask for.
		AllowAll bool `json:"allowAll,omitempty"`
		// AllowRules are rules that hold for this prompt.
		AllowRules []string `json:"allowRules,omitempty"`
		// Mode is how it meets a running turn; "" is follow_up.
		Mode session.PromptMode `json:"mode,omitempty"`
	}
	SendPromptResponse struct {
		State   PromptState `json:"state"`
		EntryID string      `json:"entryId,omitempty"` // of the message, when taken
	}
	// CancelTurnRequest cancels the named turn, and no later one.
	CancelTurnRequest struct {
		SessionID string `json:"sessionId"`
		TurnID    string `json:"turnId"`
	}
	CancelTurnResponse struct {
		// Cancelled is false when that turn had ended already.
		Cancelled bool `json:"cancelled"`
	}
	AnswerApprovalRequest struct {
		SessionID  string   `json:"sessionId"`
		ApprovalID string   `json:"approvalId"`
		Decision   Decision `json:"decision"`
		Feedback   string   `json:"feedback,omitempty"` // to the agent, with deny; at most MaxFeedback bytes
		Shown      string   `json:"shown,omitempty"`    // of the approval that was answered; "" is not compared
	}
	// AnswerApprovalResponse tells the decision that counts: the first answer wins.
	AnswerApprovalResponse struct {
		Decision  Decision `json:"decision"`
		DecidedBy string   `json:"decidedBy"` // client id, token id, or "host"
		Won       bool     `json:"won"`       // false when another answer counts
		// Released says what allowed the call before anybody answered.
		Released *session.Release `json:"released,omitempty"`
	}

	// AnswerQuestionRequest answers a question, with one of its choices or in other
	// words; Skip, without an answer, leaves it to the agent.
	AnswerQuestionRequest struct {
		SessionID  string `json:"sessionId"`
		QuestionID string `json:"questionId"`
		Answer     string `json:"answer,omitempty"` // at most MaxAnswer bytes
		Skip       bool   `json:"skip,omitempty"`
	}
	// AnswerQuestionResponse tells the answer that counts: the first one wins.
	AnswerQuestionResponse struct {
		Outcome    QuestionOutcome `json:"outcome"`
		Answer     string          `json:"answer,omitempty"`
		AnsweredBy string          `json:"answeredBy"` // client id, token id, or "host"
		Won        bool            `json:"won"`        // false when another answer counts
	}

	ListMCPServersRequest struct {
		ProjectID string `json:"projectId"`
	}
	ListMCPServersResponse struct {
		Servers []MCPServer `json:"servers"`
		// Problems are sentences about the configuration as a whole.
		Problems []string `json:"problems,omitempty"`
	}
	// DecideMCPServerRequest allows or denies to start a server of .mcp.json. It is
	// refused with conflict when Hash is not that of its configuration now.
	DecideMCPServerRequest struct {
		ProjectID string `json:"projectId"`
		Name      string `json:"name"`
		Hash      string `json:"hash"`
		Allow     bool   `json:"allow"`
	}
	DecideMCPServerResponse struct {
		Server MCPServer `json:"server"`
	}

	ListClientsResponse struct {
		Clients []Client `json:"clients"`
	}
	RevokeClientRequest struct {
		ClientID ident.ID `json:"clientId"`
	}

	// CreateTokenRequest admits a token for programs on the host's own machine. Who
	// asks makes the token and keeps it; the same hash is the same token.
	CreateTokenRequest struct {
		Hash   string  `json:"hash"` // SHA-256 of the token, lower-case hex
		Label  string  `json:"label"`
		Grants []Grant `json:"grants"`
		// ExpiresAt is when it stops working, in Unix milliseconds; 0 is never.
		ExpiresAt int64 `json:"expiresAt,omitempty"`
	}
	CreateTokenResponse struct {
		Token Token `json:"token"`
	}
	ListTokensResponse struct {
		Tokens []Token `json:"tokens"`
	}
	RevokeTokenRequest struct {
		TokenID string `json:"tokenId"`
	}

	// CreatePairingResponse holds a code to show. The secret half never leaves
	// the host's machine but through the person who reads it.
	CreatePairingResponse struct {
		PairingID string `json:"pairingId"`
		Code      string `json:"code"`
		URL       string `json:"url"`       // the relay's page with the code in the fragment
		ExpiresAt int64  `json:"expiresAt"` // Unix milliseconds
	}
	// RedeemPairingRequest takes a code that an entry shows.
	RedeemPairingRequest struct {
		Code string `json:"code"`
	}
	RedeemPairingResponse struct {
		PairingID string `json:"pairingId"`
	}
	// PairingRequest names a pairing under way.
	PairingRequest struct {
		PairingID string `json:"pairingId"`
	}
	// AwaitPairingResponse comes when the other side proved that it knows the code.
	AwaitPairingResponse struct {
		ClientID ident.ID `json:"clientId"`
		Label    string   `json:"label"`
	}
	FinishPairingRequest struct {
		PairingID string `json:"pairingId"`
		Accept    bool   `json:"accept"`
	}
	FinishPairingResponse struct {
		Paired bool `json:"paired"`
	}
)
