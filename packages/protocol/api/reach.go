package api

import "slices"

// Reach is how far a request goes. It decides what becomes of it on a connection that is
// limited to some projects.
type Reach uint8

const (
	// ReachHost is the whole host: the request is refused. It applies to each request
	// that is not listed here.
	ReachHost Reach = iota
	// ReachNamed is the session or the project that the request names. It must name one,
	// and one that the connection does not see is unknown.
	ReachNamed
	// ReachShown is what the connection sees: what the request names is checked as for
	// ReachNamed, and the handler leaves out the rest.
	ReachShown
)

// reachOf returns the reach of a request.
func reachOf(name string) Reach {
	switch {
	case slices.Contains(aboutNamed(), name):
		return ReachNamed
	case slices.Contains(aboutShown(), name):
		return ReachShown
	}
	return ReachHost
}

// aboutNamed lists the requests about the session or project that they name.
func aboutNamed() []string {
	return []string{
		"remove_project", "trust_project", "create_session", "rename_session", "update_session", "get_snapshot",
		"delete_session", "copy_session", "verify_session", "set_model", "set_mode", "set_backend", "get_backend", "set_backend_option", "fork_session", "get_tree",
		"rewind_session", "navigate_session", "set_label", "compact_session", "resync_events", "get_entries",
		"unsubscribe", "send_prompt", "get_blob", "edit_queue", "cancel_turn", "answer_approval",
		"answer_question", "add_rule", "remove_rule", "preview_agent", "save_agent", "delete_agent", "list_skills",
		"get_skill", "save_memory_note", "delete_memory_note", "get_journal", "review_notes", "list_mcp_servers", "decide_mcp_server",
		"list_hooks", "decide_hook", "test_hook", "decide_extension",
		"list_files", "find_files", "read_file", "git_status", "git_diff", "git_log", "git_branches", "git_commit",
		"get_changes", "revert_file", "set_skill_enabled", "create_guest_link", "prepare_move", "accept_move",
		"save_schedule", "enable_schedule", "run_schedule", "delete_schedule",
	}
}

// aboutShown lists the requests that are answered with what the connection sees.
func aboutShown() []string {
	return []string{
		"get_host", "list_projects", "list_sessions", "search_sessions", "get_process_log", "set_attendance",
		"upload_blob", "list_rules", "list_agents", "list_memory", "get_memory_note", "list_clients",
		"revoke_client", "rename_client", "set_grant", "set_limits", "list_paths", "leave",
		"list_schedules", "preview_schedule",
		"start_move", "list_moves", "get_move", "cancel_move",
		"list_backends", "list_push", "add_push", "remove_push", "test_push", "set_push",
	}
}

// forGuests lists the requests that a guest link can make about its session.
func forGuests() []string {
	return []string{"resync_events", "get_entries", "unsubscribe", "get_blob"}
}
