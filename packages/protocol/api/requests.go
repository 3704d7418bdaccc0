package api

import "github.com/scorel/scorel/packages/protocol/session"

// Empty is a request or response without fields.
type Empty struct{}

// Requests and responses follow, in the order of Table.

// ThinkingConfigured is the level of set_model that restores that of the model's settings.
const ThinkingConfigured = "configured"

type (
	GetHostResponse struct {
		Host HostInfo `json:"host"`
	}

	ListProjectsResponse struct {
		Projects []Project `json:"projects"`
	}
	// AddProjectRequest is idempotent: the same folder yields the same project.
	AddProjectRequest struct {
		Path string `json:"path" req:"max=4096"`
	}
	AddProjectResponse struct {
		Project Project `json:"project"`
	}
	// RemoveProjectRequest is refused with project_in_use while the project has
	// sessions.
	RemoveProjectRequest struct {
		ProjectID string `json:"projectId" req:"min=1,max=256"`
	}
	// TrustProjectRequest enables a folder's own settings, skills and MCP servers,
	// or disables them again.
	TrustProjectRequest struct {
		ProjectID string `json:"projectId" req:"min=1,max=256"`
		Trusted   bool   `json:"trusted"`
	}
	TrustProjectResponse struct {
		Project Project `json:"project"`
	}
	// ListDirRequest lists the folders in Path; "" means the user's home folder.
	ListDirRequest struct {
		Path string `json:"path" req:"optional,max=4096"`
	}
	ListDirResponse struct {
		Path    string     `json:"path"`             // resolved
		Parent  string     `json:"parent,omitempty"` // "" at the root
		Entries []DirEntry `json:"entries"`
		// Truncated is true if not all folders are listed.
		Truncated bool `json:"truncated,omitempty"`
	}

	// ListSessionsRequest lists pinned sessions first, then the newest first; ""
	// lists all projects. Sessions of subagents are left out while their parent
	// exists.
	ListSessionsRequest struct {
		ProjectID string `json:"projectId" req:"optional,max=256"`
		All       bool   `json:"all,omitempty"` // include sessions of subagents
		// Archived selects archived sessions: "" leaves them out, ArchivedOnly
		// lists only them, and ArchivedToo lists all sessions.
		Archived string `json:"archived,omitempty" req:"max=64"`
		Limit    int    `json:"limit,omitempty" req:"min=0"`   // sessions per answer, at most MaxSessions; 0 means all at once
		After    string `json:"after,omitempty" req:"max=256"` // Next of the previous answer; "" starts with the newest
		// Watching marks the connection, until it closes, as one where a person
		// sees this list and its session_updated events: a waiting session then
		// counts as attended.
		Watching bool `json:"watching,omitempty"`
	}
	ListSessionsResponse struct {
		Sessions []SessionSummary `json:"sessions"`
		// Next is the After of the next request; "" at the end. A session that
		// changes between two requests moves to the front, which session_updated
		// reports.
		Next  string `json:"next,omitempty"`
		Total int    `json:"total,omitempty"` // current number of sessions in the whole list
	}
	// CreateSessionRequest creates one session per ClientKey.
	CreateSessionRequest struct {
		ProjectID string `json:"projectId" req:"min=1,max=256"`
		ClientKey string `json:"clientKey" req:"min=1"`
		Model     string `json:"model,omitempty" req:"max=256"` // its name, as list_models returns it; "" means the default
		Agent     string `json:"agent,omitempty" req:"max=256"` // agent that the session runs as; "" means none
		// Backend is the program that works on its turns; "" is scorel's own agent. Hosts that
		// do not know the field leave it out of the session in the answer.
		Backend string `json:"backend,omitempty" req:"max=64"`
		// Worktree has the session work in a git worktree of its own, on a new branch
		// that begins at the project's current commit. The answer says where it is; hosts
		// that do not know the field leave it out.
		Worktree bool `json:"worktree,omitempty"`
		// Mode is the mode of the new session, as in set_mode, whose grant it needs; ""
		// means the host's default.
		Mode Mode `json:"mode,omitempty" req:"max=64"`
		// Prompt is the first prompt of the session, under the same ClientKey. If it is
		// refused, the session is not created. Hosts that do not know the field or Mode
		// ignore both and send no Prompt in the answer.
		Prompt *FirstPrompt `json:"prompt,omitempty"`
	}
	// FirstPrompt is a prompt that a session begins with, as in send_prompt.
	FirstPrompt struct {
		Text    string        `json:"text,omitempty" req:"max=1048576"`
		Content []PromptBlock `json:"content,omitempty" req:"max=31"`
	}
	CreateSessionResponse struct {
		Session SessionSummary `json:"session"`
		// Prompt says what became of the request's Prompt.
		Prompt *SendPromptResponse `json:"prompt,omitempty"`
	}
	DeleteSessionResponse struct {
		// Worktree is that of the session if it was kept, with the reason.
		Worktree *Worktree `json:"worktree,omitempty"`
	}
	RenameSessionRequest struct {
		SessionID string `json:"sessionId" req:"min=1,max=256"`
		Name      string `json:"name" req:"max=4096"`
	}
	// CopySessionRequest copies a session to another session provider. Repeating it
	// changes nothing.
	CopySessionRequest struct {
		SessionID string `json:"sessionId" req:"min=1,max=256"`
		To        string `json:"to" req:"min=1,max=64"` // "file", "postgres" or "mysql"
		Move      bool   `json:"move,omitempty"`        // delete the original
	}
	// ImportSessionRequest imports a session file of the host's machine.
	ImportSessionRequest struct {
		Path      string `json:"path" req:"max=4096"`               // absolute
		ProjectID string `json:"projectId,omitempty" req:"max=256"` // "" means the project of the folder named in the file
	}
	ImportSessionResponse struct {
		Session SessionSummary `json:"session"`
		// Proof is what the original file proved, before anything was added to it.
		Proof *Proof `json:"proof,omitempty"`
	}
	// SetModelRequest sets the model, its thinking level, or both. If the model
	// does not support the level, the nearest of Model.ThinkingLevels is used.
	SetModelRequest struct {
		SessionID string `json:"sessionId" req:"min=1,max=256"`
		Model     string `json:"model" req:"optional,max=256"` // "" with Thinking keeps the model
		// Thinking is "off", "minimal", "low", "medium" or "high";
		// ThinkingConfigured restores the level of the model's settings, and "" keeps the
		// current one.
		Thinking string `json:"thinking,omitempty" req:"max=64"`
	}
	// SetModeRequest sets how much the agent may do without asking. get_host
	// returns the highest mode that a connection may set.
	SetModeRequest struct {
		SessionID string `json:"sessionId" req:"min=1,max=256"`
		Mode      Mode   `json:"mode" req:"max=64"`
	}
	// ResyncEventsRequest subscribes to a session and states what the entry has
	// seen. Zero anchors request a full reload.
	ResyncEventsRequest struct {
		SessionID string `json:"sessionId" req:"min=1,max=256"`
		Anchors   `req:"optional"`
		// Unattended means that no one on this connection can answer the agent.
		Unattended bool `json:"unattended,omitempty"`
	}
	// ResyncEventsResponse brings the entry to the state at Anchors; all later
	// events follow on the same connection without a gap.
	ResyncEventsResponse struct {
		Mode    ResyncMode      `json:"mode"`
		Session SessionSummary  `json:"session"`
		Entries []session.Entry `json:"entries"` // empty for stream_resume
		// Before is the argument of get_entries for what precedes Entries; 0 if
		// nothing does. Set for full_reload only: in the other modes the earlier
		// value stays valid.
		Before  uint64          `json:"before,omitempty"`
		Events  []EventEnvelope `json:"events"` // stream_resume only
		Live    Live            `json:"live"`
		Anchors Anchors         `json:"anchors"`
	}
	// GetEntriesRequest requests the last entries before a position in the log; 0
	// is its end. With After it requests the first entries after that position, and
	// with Around the entries on both sides of one; none of them is at Before or
	// after it.
	GetEntriesRequest struct {
		SessionID string `json:"sessionId" req:"min=1,max=256"`
		Before    uint64 `json:"before,omitempty"`
		After     uint64 `json:"after,omitempty"`
		Around    string `json:"around,omitempty" req:"max=256"` // id of an entry
		Limit     int    `json:"limit,omitempty" req:"min=0"`    // 0, or more than WindowEntries, means WindowEntries
	}
	// GetEntriesResponse holds the entries in log order.
	GetEntriesResponse struct {
		Entries []session.Entry `json:"entries"`
		// Before is for the next request; 0 if nothing precedes Entries. Answers to
		// requests with After do not set it.
		Before uint64 `json:"before,omitempty"`
		// After is for the next request; 0 if nothing lies between Entries and the
		// request's Before. Only answers to requests with After or Around set it.
		After uint64 `json:"after,omitempty"`
		// PathID is the last of Entries on the path to the session's leaf, or "" if
		// there is none. Only answers to requests with After or Around set it.
		PathID string `json:"pathId,omitempty"`
		// OnPath reports whether the entry of Around is on the path to the leaf.
		OnPath bool `json:"onPath,omitempty"`
	}
	// GetProcessLogRequest requests lines of an operation's log.
	GetProcessLogRequest struct {
		ProcessLogRef string `json:"processLogRef" req:"min=1,max=256"`
		From          int64  `json:"from,omitempty" req:"min=0"`  // Next of the previous page; 0 means the beginning
		Limit         int    `json:"limit,omitempty" req:"min=0"` // 0, or more than 200, means 200
	}
	GetProcessLogResponse struct {
		Lines []session.ProcessLine `json:"lines"`
		// Next is for the next request, also for lines that a running operation
		// will add.
		Next int64 `json:"next"`
		More bool  `json:"more,omitempty"` // more lines follow
	}
	// SetAttendanceRequest says whether a person sees anything of this connection. One
	// that no one sees counts as able to answer nothing, whatever it asked for before.
	SetAttendanceRequest struct {
		Attended bool `json:"attended"`
		// Hidden are the sessions that this connection follows and that no one sees now. They
		// can be answered here all the same. It replaces what was said before.
		Hidden []string `json:"hidden,omitempty" req:"max=1000"`
	}
	// SessionRequest names a session.
	SessionRequest struct {
		SessionID string `json:"sessionId" req:"min=1,max=256"`
	}

	// SendPromptRequest sends one prompt per ClientKey; a retry changes nothing.
	SendPromptRequest struct {
		SessionID string `json:"sessionId" req:"min=1,max=256"`
		ClientKey string `json:"clientKey" req:"min=1"`
		// Text is a text-only prompt. Content replaces it for a list of texts, at most
		// MaxImages images and at most MaxFiles files.
		Text    string        `json:"text,omitempty" req:"max=1048576"`
		Content []PromptBlock `json:"content,omitempty" req:"max=31"`
		// AllowAll grants every approval that this prompt will ask for.
		AllowAll bool `json:"allowAll,omitempty"`
		// AllowRules are rules that apply to this prompt.
		AllowRules []string `json:"allowRules,omitempty" req:"max=32"`
		// Mode determines what happens if a turn is running; "" means follow_up.
		Mode session.PromptMode `json:"mode,omitempty" req:"max=64"`
		// Traceparent is the span that the turn belongs to, as W3C Trace Context writes it. A
		// host that does not trace, or cannot read it, ignores it.
		Traceparent string `json:"traceparent,omitempty" req:"max=128"`
		// WaitedMS is how long the prompt has waited in its client since a person sent it, in
		// milliseconds. A host that traces begins the span of the prompt that much earlier.
		WaitedMS int64 `json:"waitedMs,omitempty" req:"min=0"`
	}
	// SendPromptResponse says what became of a prompt.
	SendPromptResponse struct {
		State   PromptState `json:"state"`
		EntryID string      `json:"entryId,omitempty"` // entry of the message once it is in the log
	}
	// CancelTurnRequest cancels the named turn, and no later one.
	CancelTurnRequest struct {
		SessionID string `json:"sessionId" req:"min=1,max=256"`
		TurnID    string `json:"turnId" req:"min=1,max=256"`
	}
	CancelTurnResponse struct {
		// Cancelled is false if that turn had already ended.
		Cancelled bool `json:"cancelled"`
	}
	AnswerApprovalRequest struct {
		SessionID  string   `json:"sessionId" req:"min=1,max=256"`
		ApprovalID string   `json:"approvalId" req:"min=1,max=256"`
		Decision   Decision `json:"decision" req:"min=1,max=64"`
		Feedback   string   `json:"feedback,omitempty" req:"max=8192"` // to the agent, with deny; at most MaxFeedback bytes
		Shown      string   `json:"shown,omitempty" req:"max=256"`     // Shown of the approval that was answered; "" skips the comparison
		// Unattended, with deny, means that no person was asked.
		Unattended bool `json:"unattended,omitempty"`
		// Signature is the signature of the answer with the client's key. An
		// invalid one is refused; an unsigned answer is accepted, and the log
		// records that it is unsigned.
		Signature *session.AnswerSignature `json:"signature,omitempty"`
	}
	// AnswerApprovalResponse reports the decision that counts: the first answer
	// wins.
	AnswerApprovalResponse struct {
		Decision  Decision `json:"decision"`
		DecidedBy string   `json:"decidedBy"` // client id, token id, or "host"
		Won       bool     `json:"won"`       // false when another answer counts
		// Released says what allowed the call before anyone answered.
		Released *session.Release `json:"released,omitempty"`
	}

	// AnswerQuestionRequest answers a question, with one of its choices or in free
	// text; Skip, without an answer, lets the agent decide.
	AnswerQuestionRequest struct {
		SessionID  string `json:"sessionId" req:"min=1,max=256"`
		QuestionID string `json:"questionId" req:"min=1,max=256"`
		Answer     string `json:"answer,omitempty" req:"max=32768"` // at most MaxAnswer bytes
		Skip       bool   `json:"skip,omitempty"`
	}
	// AnswerQuestionResponse reports the answer that counts: the first one wins.
	AnswerQuestionResponse struct {
		Outcome    QuestionOutcome `json:"outcome"`
		Answer     string          `json:"answer,omitempty"`
		AnsweredBy string          `json:"answeredBy"` // client id, token id, or "host"
		Won        bool            `json:"won"`        // false when another answer counts
	}

	ListMCPServersRequest struct {
		ProjectID string `json:"projectId,omitempty" req:"max=256"` // "" means those for every project
	}
	ListMCPServersResponse struct {
		Servers []MCPServer `json:"servers"`
		// Problems are sentences about the configuration as a whole.
		Problems []string `json:"problems,omitempty"`
	}
	// DecideMCPServerRequest allows or denies starting a server of .mcp.json. It is
	// refused with conflict if Hash is not that of the current configuration.
	DecideMCPServerRequest struct {
		ProjectID string `json:"projectId" req:"min=1,max=256"`
		Name      string `json:"name" req:"min=1,max=256"`
		Hash      string `json:"hash" req:"max=256"`
		Allow     bool   `json:"allow"`
	}
	DecideMCPServerResponse struct {
		Server MCPServer `json:"server"`
	}
)
