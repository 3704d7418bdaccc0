package api

// Requests that make, change and read sessions.
var (
	ListSessions     = Define[ListSessionsRequest, ListSessionsResponse]("list_sessions", GrantView, "Lists sessions, newest first, all or a page of them.", Shown)
	SearchSessions   = Define[SearchSessionsRequest, SearchSessionsResponse]("search_sessions", GrantView, "Searches the text of all sessions, newest hits first.", Shown)
	CreateSession    = Define[CreateSessionRequest, CreateSessionResponse]("create_session", GrantPrompt, "Creates a session; the same clientKey yields the same session.", Concurrently, Named)
	RenameSession    = Define[RenameSessionRequest, Empty]("rename_session", GrantPrompt, "Renames a session.", Named)
	UpdateSession    = Define[UpdateSessionRequest, UpdateSessionResponse]("update_session", GrantPrompt, "Changes a session's title, archived and pinned state, and metadata.", Concurrently, Named)
	GetSnapshot      = Define[SessionRequest, GetSnapshotResponse]("get_snapshot", GrantView, "Returns the current state of a session and the context for its model.", Named)
	DeleteSession    = Define[SessionRequest, DeleteSessionResponse]("delete_session", GrantManage, "Deletes a session permanently.", Concurrently, Named)
	CopySession      = Define[CopySessionRequest, Empty]("copy_session", GrantManage, "Copies or moves a session to another session provider, byte for byte.", Concurrently, Named)
	ImportSession    = Define[ImportSessionRequest, ImportSessionResponse]("import_session", GrantLocal, "Imports a scorel or Pi session file of the host's machine.", Concurrently)
	ListTranscripts  = Define[ListTranscriptsRequest, ListTranscriptsResponse]("list_transcripts", GrantManage, "Lists the conversations that another agent keeps on the host's machine, newest first. Also needs the grant files.", Concurrently)
	ImportTranscript = Define[ImportTranscriptRequest, ImportTranscriptResponse]("import_transcript", GrantManage, "Imports such a conversation as a session, or adds what is new to an earlier import. Also needs the grant files.", Concurrently)
	VerifySession    = Define[VerifySessionRequest, VerifySessionResponse]("verify_session", GrantView, "Checks the hash chain of a session, its signed heads, and who answered its approvals.", Concurrently, Named)
	PrepareMove      = Define[PrepareMoveRequest, PrepareMoveResponse]("prepare_move", GrantManage, "Pauses a session for its move to another host and says what is moved.", Concurrently, Named)
	StartMove        = Define[StartMoveRequest, MoveResponse]("start_move", GrantManage, "Starts a prepared move to a host that accepted it.", Shown)
	AcceptMove       = Define[AcceptMoveRequest, AcceptMoveResponse]("accept_move", GrantManage, "Has the host expect a session from another host, and returns how that host connects.", Concurrently, Named)
	ListMoves        = Define[Empty, ListMovesResponse]("list_moves", GrantManage, "Lists moves of sessions from and to this host, newest first.", Shown)
	GetMove          = Define[MoveRequest, MoveResponse]("get_move", GrantManage, "Returns how far a move is.", Shown)
	CancelMove       = Define[MoveRequest, MoveResponse]("cancel_move", GrantManage, "Cancels a move that is not committed: the session stays where it is.", Concurrently, Shown)
	MoveStatus       = Define[MoveRequest, MoveStatusResponse]("move_status", GrantMove, "Tells the sending host how much of each item has arrived.", Concurrently)
	PutMovePart      = Define[PutMovePartRequest, PutMovePartResponse]("put_move_part", GrantMove, "Adds a part to an item of a move.", Concurrently)
	CheckMove        = Define[MoveRequest, CheckMoveResponse]("check_move", GrantMove, "Checks what has arrived and confirms that it is on disk.", Concurrently)
	EndMove          = Define[EndMoveRequest, Empty]("end_move", GrantMove, "Tells the receiving host that a move is committed, canceled or forgotten.", Concurrently)
	SetModel         = Define[SetModelRequest, Empty]("set_model", GrantPrompt, "Sets the model and its thinking level for the next turns of a session.", Named)
	SetMode          = Define[SetModeRequest, Empty]("set_mode", GrantManage, "Sets how much the agent may do in a session without asking.", Named)
	SetBackend       = Define[SetBackendRequest, Empty]("set_backend", GrantPrompt, "Sets the program that works on the next turns of a session.", Named)
	GetBackend       = Define[GetBackendRequest, GetBackendResponse]("get_backend", GrantView, "Returns the options and commands of the program that works on the next turns of a session.", Named)
	SetBackendOption = Define[SetBackendOptionRequest, Empty]("set_backend_option", GrantPrompt, "Changes an option of the program that works on the next turns of a session.", Named)
	ListBackends     = Define[Empty, ListBackendsResponse]("list_backends", GrantView, "Lists the programs that can work on turns, and whether they are installed.", Concurrently, Shown)
	TestBackend      = Define[TestBackendRequest, TestBackendResponse]("test_backend", GrantManage, "Starts a program, begins a session in it and ends it.", Concurrently)
	ForkSession      = Define[ForkSessionRequest, ForkSessionResponse]("fork_session", GrantPrompt, "Creates a session from the path to an entry; the same clientKey yields the same session.", Named)
	GetTree          = Define[SessionRequest, GetTreeResponse]("get_tree", GrantView, "Returns an outline of a session's tree.", Named)
	ListVersions     = Define[SessionRequest, ListVersionsResponse]("list_versions", GrantView, "Lists the user messages of a session that have other versions.", Named)
	RewindSession    = Define[RewindSessionRequest, MoveLeafResponse]("rewind_session", GrantPrompt, "Moves the leaf back on its path.", Named)
	NavigateSession  = Define[NavigateSessionRequest, MoveLeafResponse]("navigate_session", GrantPrompt, "Moves the leaf anywhere in the tree.", Named)
	SetLabel         = Define[SetLabelRequest, Empty]("set_label", GrantPrompt, "Labels an entry.", Named)
	CompactSession   = Define[CompactSessionRequest, CompactSessionResponse]("compact_session", GrantPrompt, "Replaces the older part of a session by a summary.", Named)
	ResyncEvents     = Define[ResyncEventsRequest, ResyncEventsResponse]("resync_events", GrantView, "Subscribes to a session and returns what the entry has missed.", Named, Guests)
	GetEntries       = Define[GetEntriesRequest, GetEntriesResponse]("get_entries", GrantView, "Returns entries of a log before or after a position, or around an entry.", Named, Guests)
	GetProcessLog    = Define[GetProcessLogRequest, GetProcessLogResponse]("get_process_log", GrantView, "Returns the log of an operation, by its reference.", Shown)
	SetAttendance    = Define[SetAttendanceRequest, Empty]("set_attendance", GrantView, "Says whether a person sees anything of this connection, from now on.", Shown)
	Unsubscribe      = Define[SessionRequest, Empty]("unsubscribe", GrantView, "Ends the subscription to a session.", Named, Guests)
	SendPrompt       = Define[SendPromptRequest, SendPromptResponse]("send_prompt", GrantPrompt, "Sends a prompt, once per clientKey.", Named)
	UploadBlob       = Define[UploadBlobRequest, UploadBlobResponse]("upload_blob", GrantPrompt, "Uploads a part of an image for a later prompt; repeating a part changes nothing.", Shown)
	GetBlob          = Define[GetBlobRequest, GetBlobResponse]("get_blob", GrantView, "Returns a part of an image of a session.", Named, Guests)
	EditQueue        = Define[EditQueueRequest, EditQueueResponse]("edit_queue", GrantPrompt, "Edits, reorders and removes queued prompts.", Named)
	CancelTurn       = Define[CancelTurnRequest, CancelTurnResponse]("cancel_turn", GrantPrompt, "Cancels a running turn.", Named)
	AnswerApproval   = Define[AnswerApprovalRequest, AnswerApprovalResponse]("answer_approval", GrantApprove, "Answers a pending approval; the first answer wins.", Named)
	AnswerQuestion   = Define[AnswerQuestionRequest, AnswerQuestionResponse]("answer_question", GrantPrompt, "Answers a question of the agent; the first answer wins.", Named)
)

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
		ListVersions.Spec(),
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
