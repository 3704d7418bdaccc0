package api

import "slices"

// Spec describes a request without its Go types.
type Spec struct {
	Name     string
	Grant    Grant
	Request  any // zero value of the request type
	Response any // zero value of the response type
	Doc      string
	// Concurrent is true for requests that wait for a person, a network or a
	// database. They do not block the requests after them.
	Concurrent bool
	// Reach says how far the request goes, for connections that see only a part of the
	// host.
	Reach Reach
	// Guests is true for requests that a guest link can make about its session.
	Guests bool
}

// Definition defines one request: its name on the wire, its request and response
// types, and the grant that it needs. The host, the clients, the schemas, the
// TypeScript types and the documents are derived from it.
type Definition[Request, Response any] struct{ spec Spec }

// Define defines a request. A name is never reused for another request.
func Define[Request, Response any](name string, grant Grant, doc string, options ...Option) Definition[Request, Response] {
	var (
		request  Request
		response Response
	)
	spec := Spec{
		Name: name, Grant: grant, Request: request, Response: response, Doc: doc,
		Reach: reachOf(name), Guests: slices.Contains(forGuests(), name),
	}
	for _, apply := range options {
		apply(&spec)
	}
	return Definition[Request, Response]{spec}
}

// Spec returns the definition without its types.
func (d Definition[Request, Response]) Spec() Spec { return d.spec }

// Name returns the name of the request on the wire.
func (d Definition[Request, Response]) Name() string { return d.spec.Name }

// Option modifies a definition.
type Option func(*Spec)

// Concurrently marks a request that does not block the requests after it.
func Concurrently(s *Spec) { s.Concurrent = true }

// The requests of this version.
var (
	GetHost           = Define[Empty, GetHostResponse]("get_host", GrantView, "Describes the host, its models and the permissions of this connection.")
	ListPaths         = Define[Empty, ListPathsResponse]("list_paths", GrantView, "Lists the paths to this device, with a proof of the binding for the client that asks.")
	ListProjects      = Define[Empty, ListProjectsResponse]("list_projects", GrantView, "Lists the projects.")
	AddProject        = Define[AddProjectRequest, AddProjectResponse]("add_project", GrantManage, "Adds a folder of the host as a project; the same folder yields the same project.")
	Leave             = Define[Empty, Empty]("leave", GrantView, "Ends the access of the paired client that asks, on all paths.")
	RemoveProject     = Define[RemoveProjectRequest, Empty]("remove_project", GrantManage, "Removes a project that has no sessions. The folder itself is kept.")
	TrustProject      = Define[TrustProjectRequest, TrustProjectResponse]("trust_project", GrantManage, "Enables a folder's own settings, skills and MCP servers, or disables them again.")
	ListDir           = Define[ListDirRequest, ListDirResponse]("list_dir", GrantManage, "Lists the folders in a folder of the host.")
	ListSessions      = Define[ListSessionsRequest, ListSessionsResponse]("list_sessions", GrantView, "Lists sessions, newest first, all or a page of them.")
	SearchSessions    = Define[SearchSessionsRequest, SearchSessionsResponse]("search_sessions", GrantView, "Searches the text of all sessions, newest hits first.")
	CreateSession     = Define[CreateSessionRequest, CreateSessionResponse]("create_session", GrantPrompt, "Creates a session; the same clientKey yields the same session.", Concurrently)
	RenameSession     = Define[RenameSessionRequest, Empty]("rename_session", GrantPrompt, "Renames a session.")
	UpdateSession     = Define[UpdateSessionRequest, UpdateSessionResponse]("update_session", GrantPrompt, "Changes a session's title, archived and pinned state, and metadata.", Concurrently)
	GetSnapshot       = Define[SessionRequest, GetSnapshotResponse]("get_snapshot", GrantView, "Returns the current state of a session and the context for its model.")
	DeleteSession     = Define[SessionRequest, DeleteSessionResponse]("delete_session", GrantManage, "Deletes a session permanently.", Concurrently)
	CopySession       = Define[CopySessionRequest, Empty]("copy_session", GrantManage, "Copies or moves a session to another session provider, byte for byte.", Concurrently)
	ImportSession     = Define[ImportSessionRequest, ImportSessionResponse]("import_session", GrantLocal, "Imports a scorel or Pi session file of the host's machine.", Concurrently)
	ListTranscripts   = Define[ListTranscriptsRequest, ListTranscriptsResponse]("list_transcripts", GrantManage, "Lists the conversations that another agent keeps on the host's machine, newest first. Also needs the grant files.", Concurrently)
	ImportTranscript  = Define[ImportTranscriptRequest, ImportTranscriptResponse]("import_transcript", GrantManage, "Imports such a conversation as a session, or adds what is new to an earlier import. Also needs the grant files.", Concurrently)
	VerifySession     = Define[VerifySessionRequest, VerifySessionResponse]("verify_session", GrantView, "Checks the hash chain of a session, its signed heads, and who answered its approvals.", Concurrently)
	PrepareMove       = Define[PrepareMoveRequest, PrepareMoveResponse]("prepare_move", GrantManage, "Pauses a session for its move to another host and says what is moved.", Concurrently)
	StartMove         = Define[StartMoveRequest, MoveResponse]("start_move", GrantManage, "Starts a prepared move to a host that accepted it.")
	AcceptMove        = Define[AcceptMoveRequest, AcceptMoveResponse]("accept_move", GrantManage, "Has the host expect a session from another host, and returns how that host connects.", Concurrently)
	ListMoves         = Define[Empty, ListMovesResponse]("list_moves", GrantManage, "Lists moves of sessions from and to this host, newest first.")
	GetMove           = Define[MoveRequest, MoveResponse]("get_move", GrantManage, "Returns how far a move is.")
	CancelMove        = Define[MoveRequest, MoveResponse]("cancel_move", GrantManage, "Cancels a move that is not committed: the session stays where it is.", Concurrently)
	MoveStatus        = Define[MoveRequest, MoveStatusResponse]("move_status", GrantMove, "Tells the sending host how much of each item has arrived.", Concurrently)
	PutMovePart       = Define[PutMovePartRequest, PutMovePartResponse]("put_move_part", GrantMove, "Adds a part to an item of a move.", Concurrently)
	CheckMove         = Define[MoveRequest, CheckMoveResponse]("check_move", GrantMove, "Checks what has arrived and confirms that it is on disk.", Concurrently)
	EndMove           = Define[EndMoveRequest, Empty]("end_move", GrantMove, "Tells the receiving host that a move is committed, canceled or forgotten.", Concurrently)
	SetModel          = Define[SetModelRequest, Empty]("set_model", GrantPrompt, "Sets the model and its thinking level for the next turns of a session.")
	SetMode           = Define[SetModeRequest, Empty]("set_mode", GrantManage, "Sets how much the agent may do in a session without asking.")
	SetBackend        = Define[SetBackendRequest, Empty]("set_backend", GrantPrompt, "Sets the program that works on the next turns of a session.")
	GetBackend        = Define[GetBackendRequest, GetBackendResponse]("get_backend", GrantView, "Returns the options and commands of the program that works on the next turns of a session.")
	SetBackendOption  = Define[SetBackendOptionRequest, Empty]("set_backend_option", GrantPrompt, "Changes an option of the program that works on the next turns of a session.")
	ListBackends      = Define[Empty, ListBackendsResponse]("list_backends", GrantView, "Lists the programs that can work on turns, and whether they are installed.", Concurrently)
	TestBackend       = Define[TestBackendRequest, TestBackendResponse]("test_backend", GrantManage, "Starts a program, begins a session in it and ends it.", Concurrently)
	ForkSession       = Define[ForkSessionRequest, ForkSessionResponse]("fork_session", GrantPrompt, "Creates a session from the path to an entry; the same clientKey yields the same session.")
	GetTree           = Define[SessionRequest, GetTreeResponse]("get_tree", GrantView, "Returns an outline of a session's tree.")
	RewindSession     = Define[RewindSessionRequest, MoveLeafResponse]("rewind_session", GrantPrompt, "Moves the leaf back on its path.")
	NavigateSession   = Define[NavigateSessionRequest, MoveLeafResponse]("navigate_session", GrantPrompt, "Moves the leaf anywhere in the tree.")
	SetLabel          = Define[SetLabelRequest, Empty]("set_label", GrantPrompt, "Labels an entry.")
	CompactSession    = Define[CompactSessionRequest, CompactSessionResponse]("compact_session", GrantPrompt, "Replaces the older part of a session by a summary.")
	ResyncEvents      = Define[ResyncEventsRequest, ResyncEventsResponse]("resync_events", GrantView, "Subscribes to a session and returns what the entry has missed.")
	GetEntries        = Define[GetEntriesRequest, GetEntriesResponse]("get_entries", GrantView, "Returns entries of a log before or after a position, or around an entry.")
	GetProcessLog     = Define[GetProcessLogRequest, GetProcessLogResponse]("get_process_log", GrantView, "Returns the log of an operation, by its reference.")
	SetAttendance     = Define[SetAttendanceRequest, Empty]("set_attendance", GrantView, "Says whether a person sees anything of this connection, from now on.")
	Unsubscribe       = Define[SessionRequest, Empty]("unsubscribe", GrantView, "Ends the subscription to a session.")
	SendPrompt        = Define[SendPromptRequest, SendPromptResponse]("send_prompt", GrantPrompt, "Sends a prompt, once per clientKey.")
	UploadBlob        = Define[UploadBlobRequest, UploadBlobResponse]("upload_blob", GrantPrompt, "Uploads a part of an image for a later prompt; repeating a part changes nothing.")
	GetBlob           = Define[GetBlobRequest, GetBlobResponse]("get_blob", GrantView, "Returns a part of an image of a session.")
	EditQueue         = Define[EditQueueRequest, EditQueueResponse]("edit_queue", GrantPrompt, "Edits, reorders and removes queued prompts.")
	CancelTurn        = Define[CancelTurnRequest, CancelTurnResponse]("cancel_turn", GrantPrompt, "Cancels a running turn.")
	AnswerApproval    = Define[AnswerApprovalRequest, AnswerApprovalResponse]("answer_approval", GrantApprove, "Answers a pending approval; the first answer wins.")
	AnswerQuestion    = Define[AnswerQuestionRequest, AnswerQuestionResponse]("answer_question", GrantPrompt, "Answers a question of the agent; the first answer wins.")
	ListRules         = Define[ListRulesRequest, ListRulesResponse]("list_rules", GrantView, "Lists the permission rules for tool calls.")
	AddRule           = Define[RuleRequest, AddRuleResponse]("add_rule", GrantManage, "Adds a rule for one project or all projects.")
	RemoveRule        = Define[RuleRequest, RemoveRuleResponse]("remove_rule", GrantManage, "Removes a stored rule.")
	ListAgents        = Define[ListAgentsRequest, ListAgentsResponse]("list_agents", GrantView, "Lists the agent definitions of a project, and the files that were skipped.")
	PreviewAgent      = Define[PreviewAgentRequest, PreviewAgentResponse]("preview_agent", GrantView, "Shows the system prompt and the tools that an agent gets.")
	SaveAgent         = Define[SaveAgentRequest, SaveAgentResponse]("save_agent", GrantManage, "Creates or changes the file of an agent definition.")
	DeleteAgent       = Define[DeleteAgentRequest, Empty]("delete_agent", GrantManage, "Deletes the file of an agent definition.")
	ListSkills        = Define[ListSkillsRequest, ListSkillsResponse]("list_skills", GrantView, "Lists the skills of a project.", Concurrently)
	GetSkill          = Define[GetSkillRequest, GetSkillResponse]("get_skill", GrantView, "Returns the text of a skill.", Concurrently)
	SetSkillEnabled   = Define[SetSkillEnabledRequest, SkillResponse]("set_skill_enabled", GrantManage, "Disables or enables a skill, in one project or in every project.")
	ListMemory        = Define[ListMemoryRequest, ListMemoryResponse]("list_memory", GrantView, "Lists the notes that are kept for later sessions.", Concurrently)
	GetMemoryNote     = Define[MemoryNoteRequest, MemoryNoteResponse]("get_memory_note", GrantView, "Returns the text of a note.")
	SaveMemoryNote    = Define[SaveMemoryNoteRequest, MemoryNoteResponse]("save_memory_note", GrantManage, "Creates a note, or replaces its text.")
	DeleteMemoryNote  = Define[DeleteMemoryNoteRequest, Empty]("delete_memory_note", GrantManage, "Deletes a note.")
	GetJournal        = Define[GetJournalRequest, GetJournalResponse]("get_journal", GrantView, "Returns a day of a project's journal.", Concurrently)
	ReviewNotes       = Define[ReviewNotesRequest, CreateSessionResponse]("review_notes", GrantPrompt, "Starts a session in which the agent merges and drops notes.", Concurrently)
	ListMCPServers    = Define[ListMCPServersRequest, ListMCPServersResponse]("list_mcp_servers", GrantManage, "Lists the MCP servers of a project with their states.")
	DecideMCPServer   = Define[DecideMCPServerRequest, DecideMCPServerResponse]("decide_mcp_server", GrantManage, "Allows or denies starting an MCP server of a project.")
	SaveMCPServer     = Define[SaveMCPServerRequest, MCPServerResponse]("save_mcp_server", GrantShell, "Adds or changes an MCP server of a project or of every project.")
	DeleteMCPServer   = Define[DeleteMCPServerRequest, Empty]("delete_mcp_server", GrantManage, "Deletes an MCP server of a project or of every project.")
	SetMCPEnabled     = Define[SetMCPServerEnabledRequest, MCPServerResponse]("set_mcp_server_enabled", GrantManage, "Disables or enables an MCP server, in one project or in every project.")
	TestMCPServer     = Define[TestMCPServerRequest, TestMCPServerResponse]("test_mcp_server", GrantManage, "Starts or contacts an MCP server once and lists its tools.", Concurrently)
	SignInMCPServer   = Define[SignInMCPServerRequest, SignInMCPServerResponse]("sign_in_mcp_server", GrantManage, "Begins a sign-in to an MCP server with OAuth.", Concurrently)
	FinishMCPSignIn   = Define[FinishMCPSignInRequest, Empty]("finish_mcp_sign_in", GrantManage, "Finishes a sign-in with the address to which the browser was sent.", Concurrently)
	AwaitMCPSignIn    = Define[AwaitMCPSignInRequest, AwaitMCPSignInResponse]("await_mcp_sign_in", GrantManage, "Waits for the end of a sign-in.", Concurrently)
	SignOutMCPServer  = Define[SignOutMCPServerRequest, MCPServerResponse]("sign_out_mcp_server", GrantManage, "Deletes and revokes the tokens of an MCP server.", Concurrently)
	ListMCPOffers     = Define[ListMCPOffersRequest, ListMCPOffersResponse]("list_mcp_offers", GrantPrompt, "Lists the resources and prompts of the MCP servers of a project.", Concurrently)
	ListHooks         = Define[ListHooksRequest, ListHooksResponse]("list_hooks", GrantManage, "Lists the hooks of a project with their last results.")
	DecideHook        = Define[DecideHookRequest, HookResponse]("decide_hook", GrantManage, "Allows or denies a hook of a project.")
	TestHook          = Define[TestHookRequest, TestHookResponse]("test_hook", GrantManage, "Runs a hook once with an example of its event.", Concurrently)
	ListExtensions    = Define[ListExtensionsRequest, ListExtensionsResponse]("list_extensions", GrantManage, "Lists the extensions of a project with what they contain and would run.", Concurrently)
	FetchExtension    = Define[FetchExtensionRequest, FetchExtensionResponse]("fetch_extension", GrantShell, "Copies an extension to the host for review.", Concurrently)
	SaveExtension     = Define[SaveExtensionRequest, ExtensionResponse]("save_extension", GrantShell, "Adds or replaces an extension that was fetched.")
	DecideExtension   = Define[DecideExtensionRequest, ExtensionResponse]("decide_extension", GrantManage, "Allows or denies an extension of a project.")
	SetExtension      = Define[SetExtensionEnabledRequest, ExtensionResponse]("set_extension_enabled", GrantManage, "Disables or enables an extension, in one project or in every project.")
	DeleteExtension   = Define[DeleteExtensionRequest, Empty]("delete_extension", GrantManage, "Removes an added extension.")
	GetBudgets        = Define[GetBudgetsRequest, BudgetsResponse]("get_budgets", GrantView, "Returns the budgets of a session or project and of the day, with what is used of them.")
	SetBudget         = Define[SetBudgetRequest, BudgetResponse]("set_budget", GrantManage, "Sets the limits of a session, a project or the day.")
	LiftBudget        = Define[LiftBudgetRequest, BudgetResponse]("lift_budget", GrantManage, "Adds to a budget, or lifts it.")
	ListSchedules     = Define[ListSchedulesRequest, ListSchedulesResponse]("list_schedules", GrantView, "Lists the schedules with their last runs.")
	SaveSchedule      = Define[SaveScheduleRequest, ScheduleResponse]("save_schedule", GrantManage, "Creates or replaces a schedule; the same clientKey yields the same schedule.", Concurrently)
	PreviewSchedule   = Define[PreviewScheduleRequest, PreviewScheduleResponse]("preview_schedule", GrantView, "Returns the next times of a cron expression.")
	EnableSchedule    = Define[EnableScheduleRequest, ScheduleResponse]("enable_schedule", GrantManage, "Enables or disables a schedule.", Concurrently)
	RunSchedule       = Define[RunScheduleRequest, RunScheduleResponse]("run_schedule", GrantManage, "Runs a schedule now, once per clientKey.", Concurrently)
	DeleteSchedule    = Define[ScheduleRequest, Empty]("delete_schedule", GrantManage, "Deletes a schedule. Sessions of its runs are kept.", Concurrently)
	ListPush          = Define[ListPushRequest, ListPushResponse]("list_push", GrantView, "Lists where a client is notified, what it is notified of, and how the last deliveries ended.")
	AddPush           = Define[AddPushRequest, PushResponse]("add_push", GrantView, "Has the host notify the client that asks, at an address.", Concurrently)
	RemovePush        = Define[PushRequest, Empty]("remove_push", GrantView, "Ends notifications at an address.")
	TestPush          = Define[PushRequest, PushResponse]("test_push", GrantView, "Sends a test notification and returns how that ended.", Concurrently)
	SetPush           = Define[SetPushRequest, PushSettingsResponse]("set_push", GrantView, "Sets what a client is notified of, and its quiet hours.")
	ListChannels      = Define[Empty, ListChannelsResponse]("list_channels", GrantManage, "Lists the channels with their chats, and the chat platforms that the host supports.")
	AddChannel        = Define[AddChannelRequest, ChannelResponse]("add_channel", GrantManage, "Adds a bot on a chat platform; the same clientKey yields the same channel.", Concurrently)
	TestChannel       = Define[ChannelRequest, ChannelResponse]("test_channel", GrantManage, "Asks the platform of a channel whether its token works.", Concurrently)
	RemoveChannel     = Define[ChannelRequest, Empty]("remove_channel", GrantManage, "Removes a channel with its token and chats. Their sessions are kept.", Concurrently)
	PairChannel       = Define[PairChannelRequest, PairChannelResponse]("pair_channel", GrantManage, "Creates a code that binds a chat to a project when it is typed there.")
	AllowSender       = Define[AllowSenderRequest, ChannelResponse]("allow_sender", GrantManage, "Lists a sender of a chat, or removes one from the list.")
	RemoveChat        = Define[RemoveChatRequest, ChannelResponse]("remove_chat", GrantManage, "Ends the access of a chat.")
	ListFiles         = Define[ListFilesRequest, ListFilesResponse]("list_files", GrantFiles, "Lists a folder of a project.")
	FindFiles         = Define[FindFilesRequest, FindFilesResponse]("find_files", GrantFiles, "Finds files of a project by parts of their paths.", Concurrently)
	ReadFile          = Define[ReadFileRequest, ReadFileResponse]("read_file", GrantFiles, "Returns a part of a file of a project.")
	GitStatus         = Define[GitStatusRequest, GitStatusResponse]("git_status", GrantFiles, "Lists the uncommitted changes of a repository.", Concurrently)
	GitDiff           = Define[GitDiffRequest, GitDiffResponse]("git_diff", GrantFiles, "Shows what is not committed, or what a commit changed.", Concurrently)
	GitLog            = Define[GitLogRequest, GitLogResponse]("git_log", GrantFiles, "Lists the commits of a repository.", Concurrently)
	GitBranches       = Define[GitBranchesRequest, GitBranchesResponse]("git_branches", GrantFiles, "Lists the local branches of a repository.", Concurrently)
	GitCommit         = Define[GitCommitRequest, GitCommitResponse]("git_commit", GrantFiles, "Commits the current content of some files.", Concurrently)
	GetChanges        = Define[GetChangesRequest, GetChangesResponse]("get_changes", GrantFiles, "Lists the files that changed since a session began.", Concurrently)
	RevertFile        = Define[RevertFileRequest, Empty]("revert_file", GrantFiles, "Restores a file as it was when a session began.", Concurrently)
	ListClients       = Define[Empty, ListClientsResponse]("list_clients", GrantManage, "Lists the clients of the host.")
	RevokeClient      = Define[RevokeClientRequest, Empty]("revoke_client", GrantManage, "Revokes a client and closes its connections.")
	RenameClient      = Define[RenameClientRequest, RenameClientResponse]("rename_client", GrantManage, "Sets the name under which the host shows a client.")
	SetGrant          = Define[SetGrantRequest, SetGrantResponse]("set_grant", GrantManage, "Gives a client a grant, or revokes it.")
	SetLimits         = Define[SetLimitsRequest, SetLimitsResponse]("set_limits", GrantManage, "Limits a client to some projects and to a time.")
	CreateGuestLink   = Define[CreateGuestLinkRequest, CreateGuestLinkResponse]("create_guest_link", GrantManage, "Admits a client that sees one session, for a limited time; the same keys yield the same client.")
	ListProviders     = Define[Empty, ListProvidersResponse]("list_providers", GrantManage, "Lists the model providers, and where the key of each comes from.")
	SetProviderKey    = Define[SetProviderKeyRequest, ProviderResponse]("set_provider_key", GrantManage, "Saves the key of a model provider on the host, which uses it from the next call on.", Concurrently)
	RemoveProviderKey = Define[RemoveProviderKeyRequest, ProviderResponse]("remove_provider_key", GrantManage, "Removes the saved key of a model provider.", Concurrently)
	CreateToken       = Define[CreateTokenRequest, CreateTokenResponse]("create_token", GrantLocal, "Registers a token with some grants for programs on the host's machine; the same hash yields the same token.")
	ListTokens        = Define[Empty, ListTokensResponse]("list_tokens", GrantLocal, "Lists the tokens.")
	RevokeToken       = Define[RevokeTokenRequest, Empty]("revoke_token", GrantLocal, "Revokes a token and closes its connections.")
	CreatePairing     = Define[CreatePairingRequest, CreatePairingResponse]("create_pairing", GrantLocal, "Requests a pairing code from the relay, to be shown to a person.", Concurrently)
	RedeemPairing     = Define[RedeemPairingRequest, RedeemPairingResponse]("redeem_pairing", GrantLocal, "Redeems a code that an entry shows.", Concurrently)
	AwaitPairing      = Define[PairingRequest, AwaitPairingResponse]("await_pairing", GrantLocal, "Waits until the other side has proven that it knows the code.", Concurrently)
	FinishPairing     = Define[FinishPairingRequest, FinishPairingResponse]("finish_pairing", GrantLocal, "Accepts or rejects the other side.", Concurrently)
	OpenTerminal      = Define[OpenTerminalRequest, TerminalResponse]("open_terminal", GrantShell, "Starts a shell on the host's machine; the same clientKey yields the same terminal.")
	ListTerminals     = Define[Empty, ListTerminalsResponse]("list_terminals", GrantShell, "Lists the terminals of the asking client.")
	AttachTerminal    = Define[AttachTerminalRequest, AttachTerminalResponse]("attach_terminal", GrantShell, "Sends the output of a terminal from an offset to this connection.")
	DetachTerminal    = Define[TerminalRequest, Empty]("detach_terminal", GrantShell, "Ends the output to this connection. The shell continues.")
	AckTerminal       = Define[AckTerminalRequest, Empty]("ack_terminal", GrantShell, "Acknowledges output, so that more follows.")
	WriteTerminal     = Define[WriteTerminalRequest, Empty]("write_terminal", GrantShell, "Types into a terminal.")
	ResizeTerminal    = Define[ResizeTerminalRequest, TerminalResponse]("resize_terminal", GrantShell, "Sets the size of a terminal.")
	CloseTerminal     = Define[TerminalRequest, Empty]("close_terminal", GrantShell, "Ends the shell with everything in its session, and removes the terminal.")
	NameHost          = Define[NameHostRequest, Empty]("name_host", GrantLocal, "Sets the name of the host's machine that others see; its connections to relays are made again.", Concurrently)
	StopHost          = Define[Empty, Empty]("stop_host", GrantLocal, "Stops the host cleanly.")
	PauseHost         = Define[PauseHostRequest, Empty]("pause_host", GrantLocal, "Waits until no turn runs, and begins nothing new for half a minute, so that the host can be replaced.", Concurrently)
	ResumeHost        = Define[Empty, Empty]("resume_host", GrantLocal, "Ends the pause of a host that is not replaced after all. Repeating it changes nothing.")
	RestartHost       = Define[Empty, Empty]("restart_host", GrantLocal, "Stops a host that is paused cleanly, and executes its program again in the same process.")
)

// Table lists every request. A test compares it with the definitions.
func Table() []Spec {
	return slices.Concat(hostRequests(), sessionRequests(), settingRequests(), fileRequests(), clientRequests(), pushRequests(), terminalRequests(), ownRequests())
}

// hostRequests describe the host and its projects.
func hostRequests() []Spec {
	return []Spec{
		GetHost.Spec(),
		ListPaths.Spec(),
		Leave.Spec(),
		ListProjects.Spec(),
		AddProject.Spec(),
		RemoveProject.Spec(),
		TrustProject.Spec(),
		ListDir.Spec(),
	}
}

// sessionRequests make, change and read sessions.
func sessionRequests() []Spec {
	return []Spec{
		ListSessions.Spec(),
		SearchSessions.Spec(),
		CreateSession.Spec(),
		RenameSession.Spec(),
		UpdateSession.Spec(),
		GetSnapshot.Spec(),
		DeleteSession.Spec(),
		CopySession.Spec(),
		ImportSession.Spec(),
		ListTranscripts.Spec(),
		ImportTranscript.Spec(),
		VerifySession.Spec(),
		PrepareMove.Spec(),
		StartMove.Spec(),
		AcceptMove.Spec(),
		ListMoves.Spec(),
		GetMove.Spec(),
		CancelMove.Spec(),
		MoveStatus.Spec(),
		PutMovePart.Spec(),
		CheckMove.Spec(),
		EndMove.Spec(),
		SetModel.Spec(),
		SetMode.Spec(),
		SetBackend.Spec(),
		GetBackend.Spec(),
		SetBackendOption.Spec(),
		ListBackends.Spec(),
		TestBackend.Spec(),
		ForkSession.Spec(),
		GetTree.Spec(),
		RewindSession.Spec(),
		NavigateSession.Spec(),
		SetLabel.Spec(),
		CompactSession.Spec(),
		ResyncEvents.Spec(),
		GetEntries.Spec(),
		GetProcessLog.Spec(),
		SetAttendance.Spec(),
		Unsubscribe.Spec(),
		SendPrompt.Spec(),
		UploadBlob.Spec(),
		GetBlob.Spec(),
		EditQueue.Spec(),
		CancelTurn.Spec(),
		AnswerApproval.Spec(),
		AnswerQuestion.Spec(),
	}
}

// settingRequests are about what agents work with.
func settingRequests() []Spec {
	return []Spec{
		ListRules.Spec(),
		AddRule.Spec(),
		RemoveRule.Spec(),
		ListAgents.Spec(),
		PreviewAgent.Spec(),
		SaveAgent.Spec(),
		DeleteAgent.Spec(),
		ListSkills.Spec(),
		GetSkill.Spec(),
		SetSkillEnabled.Spec(),
		ListMemory.Spec(),
		GetMemoryNote.Spec(),
		SaveMemoryNote.Spec(),
		DeleteMemoryNote.Spec(),
		GetJournal.Spec(),
		ReviewNotes.Spec(),
		ListMCPServers.Spec(),
		DecideMCPServer.Spec(),
		SaveMCPServer.Spec(),
		DeleteMCPServer.Spec(),
		SetMCPEnabled.Spec(),
		TestMCPServer.Spec(),
		SignInMCPServer.Spec(),
		FinishMCPSignIn.Spec(),
		AwaitMCPSignIn.Spec(),
		SignOutMCPServer.Spec(),
		ListMCPOffers.Spec(),
		ListHooks.Spec(),
		DecideHook.Spec(),
		TestHook.Spec(),
		ListExtensions.Spec(),
		FetchExtension.Spec(),
		SaveExtension.Spec(),
		DecideExtension.Spec(),
		SetExtension.Spec(),
		DeleteExtension.Spec(),
	}
}

// fileRequests are about the files of projects.
func fileRequests() []Spec {
	return []Spec{
		GetBudgets.Spec(),
		SetBudget.Spec(),
		LiftBudget.Spec(),
		ListSchedules.Spec(),
		SaveSchedule.Spec(),
		PreviewSchedule.Spec(),
		EnableSchedule.Spec(),
		RunSchedule.Spec(),
		DeleteSchedule.Spec(),
		ListFiles.Spec(),
		FindFiles.Spec(),
		ReadFile.Spec(),
		GitStatus.Spec(),
		GitDiff.Spec(),
		GitLog.Spec(),
		GitBranches.Spec(),
		GitCommit.Spec(),
		GetChanges.Spec(),
		RevertFile.Spec(),
	}
}

// clientRequests are about who may reach the host, and with what.
func clientRequests() []Spec {
	return []Spec{
		ListClients.Spec(),
		RevokeClient.Spec(),
		RenameClient.Spec(),
		SetGrant.Spec(),
		SetLimits.Spec(),
		CreateGuestLink.Spec(),
		ListProviders.Spec(),
		SetProviderKey.Spec(),
		RemoveProviderKey.Spec(),
		CreateToken.Spec(),
		ListTokens.Spec(),
		RevokeToken.Spec(),
		CreatePairing.Spec(),
		RedeemPairing.Spec(),
		AwaitPairing.Spec(),
		FinishPairing.Spec(),
	}
}

// pushRequests are about notifications and chats.
func pushRequests() []Spec {
	return []Spec{
		ListChannels.Spec(),
		AddChannel.Spec(),
		TestChannel.Spec(),
		RemoveChannel.Spec(),
		PairChannel.Spec(),
		AllowSender.Spec(),
		RemoveChat.Spec(),
		ListPush.Spec(),
		AddPush.Spec(),
		RemovePush.Spec(),
		TestPush.Spec(),
		SetPush.Spec(),
	}
}

// terminalRequests are about shells.
func terminalRequests() []Spec {
	return []Spec{
		OpenTerminal.Spec(),
		ListTerminals.Spec(),
		AttachTerminal.Spec(),
		DetachTerminal.Spec(),
		AckTerminal.Spec(),
		WriteTerminal.Spec(),
		ResizeTerminal.Spec(),
		CloseTerminal.Spec(),
	}
}

// ownRequests are about the running host itself.
func ownRequests() []Spec {
	return []Spec{
		NameHost.Spec(),
		StopHost.Spec(),
		PauseHost.Spec(),
		ResumeHost.Spec(),
		RestartHost.Spec(),
	}
}

// Lookup returns the request with the given name.
func Lookup(name string) (Spec, bool) {
	for _, spec := range Table() {
		if spec.Name == name {
			return spec, true
		}
	}
	return Spec{}, false
}
