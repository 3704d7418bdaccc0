package api

// Requests about what agents work with.
var (
	ListRules        = Define[ListRulesRequest, ListRulesResponse]("list_rules", GrantView, "Lists the permission rules for tool calls.", Shown)
	AddRule          = Define[RuleRequest, AddRuleResponse]("add_rule", GrantManage, "Adds a rule for one project or all projects.", Named)
	RemoveRule       = Define[RuleRequest, RemoveRuleResponse]("remove_rule", GrantManage, "Removes a stored rule.", Named)
	ListAgents       = Define[ListAgentsRequest, ListAgentsResponse]("list_agents", GrantView, "Lists the agent definitions of a project, and the files that were skipped.", Shown)
	PreviewAgent     = Define[PreviewAgentRequest, PreviewAgentResponse]("preview_agent", GrantView, "Shows the system prompt and the tools that an agent gets.", Named)
	SaveAgent        = Define[SaveAgentRequest, SaveAgentResponse]("save_agent", GrantManage, "Creates or changes the file of an agent definition.", Named)
	DeleteAgent      = Define[DeleteAgentRequest, Empty]("delete_agent", GrantManage, "Deletes the file of an agent definition.", Named)
	ListSkills       = Define[ListSkillsRequest, ListSkillsResponse]("list_skills", GrantView, "Lists the skills of a project.", Concurrently, Named)
	GetSkill         = Define[GetSkillRequest, GetSkillResponse]("get_skill", GrantView, "Returns the text of a skill.", Concurrently, Named)
	SetSkillEnabled  = Define[SetSkillEnabledRequest, SkillResponse]("set_skill_enabled", GrantManage, "Disables or enables a skill, in one project or in every project.", Named)
	ListMemory       = Define[ListMemoryRequest, ListMemoryResponse]("list_memory", GrantView, "Lists the notes that are kept for later sessions.", Concurrently, Shown)
	GetMemoryNote    = Define[MemoryNoteRequest, MemoryNoteResponse]("get_memory_note", GrantView, "Returns the text of a note.", Shown)
	SaveMemoryNote   = Define[SaveMemoryNoteRequest, MemoryNoteResponse]("save_memory_note", GrantManage, "Creates a note, or replaces its text.", Named)
	DeleteMemoryNote = Define[DeleteMemoryNoteRequest, Empty]("delete_memory_note", GrantManage, "Deletes a note.", Named)
	GetJournal       = Define[GetJournalRequest, GetJournalResponse]("get_journal", GrantView, "Returns a day of a project's journal.", Concurrently, Named)
	ReviewNotes      = Define[ReviewNotesRequest, CreateSessionResponse]("review_notes", GrantPrompt, "Starts a session in which the agent merges and drops notes.", Concurrently, Named)
	ListMCPServers   = Define[ListMCPServersRequest, ListMCPServersResponse]("list_mcp_servers", GrantManage, "Lists the MCP servers of a project with their states.", Named)
	DecideMCPServer  = Define[DecideMCPServerRequest, DecideMCPServerResponse]("decide_mcp_server", GrantManage, "Allows or denies starting an MCP server of a project.", Named)
	SaveMCPServer    = Define[SaveMCPServerRequest, MCPServerResponse]("save_mcp_server", GrantShell, "Adds or changes an MCP server of a project or of every project.")
	DeleteMCPServer  = Define[DeleteMCPServerRequest, Empty]("delete_mcp_server", GrantManage, "Deletes an MCP server of a project or of every project.")
	SetMCPEnabled    = Define[SetMCPServerEnabledRequest, MCPServerResponse]("set_mcp_server_enabled", GrantManage, "Disables or enables an MCP server, in one project or in every project.")
	TestMCPServer    = Define[TestMCPServerRequest, TestMCPServerResponse]("test_mcp_server", GrantManage, "Starts or contacts an MCP server once and lists its tools.", Concurrently)
	SignInMCPServer  = Define[SignInMCPServerRequest, SignInMCPServerResponse]("sign_in_mcp_server", GrantManage, "Begins a sign-in to an MCP server with OAuth.", Concurrently)
	FinishMCPSignIn  = Define[FinishMCPSignInRequest, Empty]("finish_mcp_sign_in", GrantManage, "Finishes a sign-in with the address to which the browser was sent.", Concurrently)
	AwaitMCPSignIn   = Define[AwaitMCPSignInRequest, AwaitMCPSignInResponse]("await_mcp_sign_in", GrantManage, "Waits for the end of a sign-in.", Concurrently)
	SignOutMCPServer = Define[SignOutMCPServerRequest, MCPServerResponse]("sign_out_mcp_server", GrantManage, "Deletes and revokes the tokens of an MCP server.", Concurrently)
	ListMCPOffers    = Define[ListMCPOffersRequest, ListMCPOffersResponse]("list_mcp_offers", GrantPrompt, "Lists the resources and prompts of the MCP servers of a project.", Concurrently)
	ListHooks        = Define[ListHooksRequest, ListHooksResponse]("list_hooks", GrantManage, "Lists the hooks of a project with their last results.", Named)
	DecideHook       = Define[DecideHookRequest, HookResponse]("decide_hook", GrantManage, "Allows or denies a hook of a project.", Named)
	TestHook         = Define[TestHookRequest, TestHookResponse]("test_hook", GrantManage, "Runs a hook once with an example of its event.", Concurrently, Named)
	ListExtensions   = Define[ListExtensionsRequest, ListExtensionsResponse]("list_extensions", GrantManage, "Lists the extensions of a project with what they contain and would run.", Concurrently)
	FetchExtension   = Define[FetchExtensionRequest, FetchExtensionResponse]("fetch_extension", GrantShell, "Copies an extension to the host for review.", Concurrently)
	SaveExtension    = Define[SaveExtensionRequest, ExtensionResponse]("save_extension", GrantShell, "Adds or replaces an extension that was fetched.")
	DecideExtension  = Define[DecideExtensionRequest, ExtensionResponse]("decide_extension", GrantManage, "Allows or denies an extension of a project.", Named)
	SetExtension     = Define[SetExtensionEnabledRequest, ExtensionResponse]("set_extension_enabled", GrantManage, "Disables or enables an extension, in one project or in every project.")
	DeleteExtension  = Define[DeleteExtensionRequest, Empty]("delete_extension", GrantManage, "Removes an added extension.")
)

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
