package api

// Spec is one line of the table of requests.
type Spec struct {
	Name     string
	Grant    Grant
	Request  any // zero value of the request type
	Response any // zero value of the response type
	Doc      string
}

// Table lists every request of this version. A name is never used for something
// else later.
func Table() []Spec {
	return []Spec{
		{"get_host", GrantView, Empty{}, GetHostResponse{}, "Describes the host, its models and what the asking connection may do."},
		{"list_projects", GrantView, Empty{}, ListProjectsResponse{}, "Lists the projects."},
		{"add_project", GrantManage, AddProjectRequest{}, AddProjectResponse{}, "Makes a folder of the host a project; the same folder gives the same project."},
		{"remove_project", GrantManage, RemoveProjectRequest{}, Empty{}, "Forgets a project that has no sessions. The folder stays."},
		{"trust_project", GrantManage, TrustProjectRequest{}, TrustProjectResponse{}, "Lets a folder's own settings, skills and MCP servers count, or no longer."},
		{"list_dir", GrantManage, ListDirRequest{}, ListDirResponse{}, "Lists the folders in a folder of the host."},
		{"list_sessions", GrantView, ListSessionsRequest{}, ListSessionsResponse{}, "Lists sessions, newest first, all or a page of them."},
		{"search_sessions", GrantView, SearchSessionsRequest{}, SearchSessionsResponse{}, "Searches the text of all sessions, newest hits first."},
		{"create_session", GrantPrompt, CreateSessionRequest{}, CreateSessionResponse{}, "Makes a session; the same clientKey gives the same session."},
		{"rename_session", GrantPrompt, RenameSessionRequest{}, Empty{}, "Names a session."},
		{"delete_session", GrantManage, SessionRequest{}, Empty{}, "Takes a session away for good."},
		{"copy_session", GrantManage, CopySessionRequest{}, Empty{}, "Copies or moves a session to another session provider, every byte of it."},
		{"import_session", GrantLocal, ImportSessionRequest{}, ImportSessionResponse{}, "Takes a session file of the host's machine in, of scorel or Pi."},
		{"set_model", GrantPrompt, SetModelRequest{}, Empty{}, "Chooses the model, and how much it thinks, for the next turns of a session."},
		{"set_mode", GrantManage, SetModeRequest{}, Empty{}, "Says how much the agent may do in a session without asking."},
		{"fork_session", GrantPrompt, ForkSessionRequest{}, ForkSessionResponse{}, "Makes a new session of the path to an entry; the same clientKey gives the same session."},
		{"get_tree", GrantView, SessionRequest{}, GetTreeResponse{}, "Gives the tree of a session in short."},
		{"rewind_session", GrantPrompt, RewindSessionRequest{}, MoveLeafResponse{}, "Moves the leaf back on its path."},
		{"navigate_session", GrantPrompt, NavigateSessionRequest{}, MoveLeafResponse{}, "Moves the leaf anywhere in the tree."},
		{"set_label", GrantPrompt, SetLabelRequest{}, Empty{}, "Labels an entry."},
		{"compact_session", GrantPrompt, CompactSessionRequest{}, CompactSessionResponse{}, "Lets a summary stand for the older part of a session."},
		{"resync_events", GrantView, ResyncEventsRequest{}, ResyncEventsResponse{}, "Subscribes to a session and catches up from what was seen."},
		{"get_entries", GrantView, GetEntriesRequest{}, GetEntriesResponse{}, "Gives the entries of a log before or after a place in it, or around an entry."},
		{"get_process_log", GrantView, GetProcessLogRequest{}, GetProcessLogResponse{}, "Gives the log of an operation, by its reference."},
		{"unsubscribe", GrantView, SessionRequest{}, Empty{}, "Ends the subscription."},
		{"send_prompt", GrantPrompt, SendPromptRequest{}, SendPromptResponse{}, "Sends a prompt; the same clientKey sends it once."},
		{"edit_queue", GrantPrompt, EditQueueRequest{}, EditQueueResponse{}, "Edits, reorders and removes prompts that wait."},
		{"cancel_turn", GrantPrompt, CancelTurnRequest{}, CancelTurnResponse{}, "Cancels a running turn."},
		{"answer_approval", GrantApprove, AnswerApprovalRequest{}, AnswerApprovalResponse{}, "Answers a tool call that waits; the first answer wins."},
		{"answer_question", GrantPrompt, AnswerQuestionRequest{}, AnswerQuestionResponse{}, "Answers a question of the agent; the first answer wins."},
		{"list_rules", GrantView, ListRulesRequest{}, ListRulesResponse{}, "Lists the rules that calls of tools are judged by."},
		{"add_rule", GrantManage, RuleRequest{}, AddRuleResponse{}, "Keeps a rule for a project, or for all."},
		{"remove_rule", GrantManage, RuleRequest{}, RemoveRuleResponse{}, "Takes back a rule that is kept."},
		{"list_mcp_servers", GrantManage, ListMCPServersRequest{}, ListMCPServersResponse{}, "Lists the MCP servers of a project and how they stand."},
		{"decide_mcp_server", GrantManage, DecideMCPServerRequest{}, DecideMCPServerResponse{}, "Allows or denies to start a server that a project names."},
		{"list_clients", GrantManage, Empty{}, ListClientsResponse{}, "Lists the entries that the host knows."},
		{"revoke_client", GrantManage, RevokeClientRequest{}, Empty{}, "Shuts an entry out at once."},
		{"create_token", GrantLocal, CreateTokenRequest{}, CreateTokenResponse{}, "Admits a token with some grants, for programs on the host's machine; the same hash is the same token."},
		{"list_tokens", GrantLocal, Empty{}, ListTokensResponse{}, "Lists the tokens."},
		{"revoke_token", GrantLocal, RevokeTokenRequest{}, Empty{}, "Ends a token, and its connections at once."},
		{"create_pairing", GrantLocal, Empty{}, CreatePairingResponse{}, "Asks the relay for a pairing code to show."},
		{"redeem_pairing", GrantLocal, RedeemPairingRequest{}, RedeemPairingResponse{}, "Takes a code that an entry shows."},
		{"await_pairing", GrantLocal, PairingRequest{}, AwaitPairingResponse{}, "Waits until the other side proved that it knows the code."},
		{"finish_pairing", GrantLocal, FinishPairingRequest{}, FinishPairingResponse{}, "Accepts or rejects the other side."},
		{"stop_host", GrantLocal, Empty{}, Empty{}, "Ends the host cleanly."},
	}
}

// Lookup finds a request by its name.
func Lookup(name string) (Spec, bool) {
	for _, spec := range Table() {
		if spec.Name == name {
			return spec, true
		}
	}
	return Spec{}, false
}
