package cli

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/packages/protocol/api"
)

// parity names the command that makes a request, or says why none does. local says why a command
// has no --device, plain why it has no --json.
type parity struct {
	definition, command, none, local, plain string
}

const (
	ownMachine   = "only clients on the host's machine may do it"
	inChat       = "it is interactive"
	connected    = "it is a part of each connection that follows a session, and has no result for people"
	betweenHosts = "it is a part of a move, which one host tells the other"
	inTerminal   = "it is a part of each open terminal"
)

// parities has a row for each request of the protocol.
func parities() map[string]parity {
	return map[string]parity{
		"get_host":               {definition: "GetHost", command: "model list"},
		"list_paths":             {none: "the paths to a device are listed with the devices of this machine"},
		"leave":                  {definition: "Leave", command: "devices forget", local: "it names the device"},
		"list_projects":          {definition: "ListProjects", command: "project list"},
		"add_project":            {definition: "AddProject", command: "project add"},
		"remove_project":         {definition: "RemoveProject", command: "project remove"},
		"trust_project":          {definition: "TrustProject", command: "project trust"},
		"list_dir":               {definition: "ListDir", command: "project folders"},
		"list_sessions":          {definition: "ListSessions", command: "session list"},
		"search_sessions":        {definition: "SearchSessions", command: "session search"},
		"create_session":         {definition: "CreateSession", command: "send"},
		"rename_session":         {definition: "RenameSession", command: "session rename"},
		"update_session":         {definition: "UpdateSession", command: "session archive"},
		"get_snapshot":           {definition: "GetSnapshot", command: "session inspect"},
		"delete_session":         {definition: "DeleteSession", command: "session delete"},
		"copy_session":           {definition: "CopySession", command: "session copy"},
		"import_session":         {definition: "ImportSession", command: "session import"},
		"list_transcripts":       {definition: "ListTranscripts", command: "session import"},
		"import_transcript":      {definition: "ImportTranscript", command: "session import"},
		"verify_session":         {definition: "VerifySession", command: "session verify"},
		"set_model":              {definition: "SetModel", command: "session model"},
		"set_mode":               {definition: "SetMode", command: "session mode"},
		"prepare_move":           {definition: "PrepareMove", command: "session move"},
		"start_move":             {definition: "StartMove", command: "session move"},
		"accept_move":            {definition: "AcceptMove", command: "session move"},
		"get_move":               {definition: "GetMove", command: "session move"},
		"list_moves":             {definition: "ListMoves", command: "session move"},
		"cancel_move":            {definition: "CancelMove", command: "session move"},
		"move_status":            {none: betweenHosts},
		"put_move_part":          {none: betweenHosts},
		"check_move":             {none: betweenHosts},
		"end_move":               {none: betweenHosts},
		"fork_session":           {definition: "ForkSession", command: "session fork"},
		"get_tree":               {definition: "GetTree", command: "session tree"},
		"list_versions":          {none: "session tree shows them as branches"},
		"rewind_session":         {definition: "RewindSession", command: "session rewind"},
		"navigate_session":       {definition: "NavigateSession", command: "session navigate"},
		"set_label":              {definition: "SetLabel", command: "session label"},
		"compact_session":        {definition: "CompactSession", command: "session compact"},
		"resync_events":          {definition: "ResyncEvents", command: "session show"},
		"get_entries":            {definition: "GetEntries", command: "session show"},
		"get_process_log":        {definition: "GetProcessLog", command: "session progress"},
		"set_attendance":         {none: connected},
		"unsubscribe":            {none: connected},
		"send_prompt":            {definition: "SendPrompt", command: "send"},
		"upload_blob":            {definition: "UploadBlob", command: "send"},
		"get_blob":               {definition: "GetBlob", command: "session images"},
		"edit_queue":             {definition: "EditQueue", command: "session queue edit"},
		"cancel_turn":            {definition: "CancelTurn", command: "session cancel"},
		"answer_approval":        {definition: "AnswerApproval", command: "session answer"},
		"answer_question":        {definition: "AnswerQuestion", command: "session answer"},
		"list_rules":             {definition: "ListRules", command: "permission list"},
		"add_rule":               {definition: "AddRule", command: "permission add"},
		"remove_rule":            {definition: "RemoveRule", command: "permission remove"},
		"list_agents":            {definition: "ListAgents", command: "agent list"},
		"list_backends":          {definition: "ListBackends", command: "backend list"},
		"test_backend":           {definition: "TestBackend", command: "backend test"},
		"set_backend":            {definition: "SetBackend", command: "send"},
		"get_backend":            {definition: "GetBackend", command: "backend options"},
		"set_backend_option":     {definition: "SetBackendOption", command: "backend options"},
		"preview_agent":          {definition: "PreviewAgent", command: "agent preview"},
		"save_agent":             {definition: "SaveAgent", command: "agent edit"},
		"delete_agent":           {definition: "DeleteAgent", command: "agent delete"},
		"list_skills":            {definition: "ListSkills", command: "skill list"},
		"set_skill_enabled":      {definition: "SetSkillEnabled", command: "skill disable"},
		"get_skill":              {definition: "GetSkill", command: "skill show"},
		"list_memory":            {definition: "ListMemory", command: "memory list"},
		"get_memory_note":        {definition: "GetMemoryNote", command: "memory show"},
		"save_memory_note":       {definition: "SaveMemoryNote", command: "memory edit"},
		"delete_memory_note":     {definition: "DeleteMemoryNote", command: "memory delete"},
		"get_journal":            {definition: "GetJournal", command: "memory journal"},
		"review_notes":           {definition: "ReviewNotes", command: "memory review"},
		"list_mcp_servers":       {definition: "ListMCPServers", command: "mcp list"},
		"save_mcp_server":        {definition: "SaveMCPServer", command: "mcp edit"},
		"delete_mcp_server":      {definition: "DeleteMCPServer", command: "mcp remove"},
		"set_mcp_server_enabled": {definition: "SetMCPEnabled", command: "mcp disable"},
		"test_mcp_server":        {definition: "TestMCPServer", command: "mcp test"},
		"sign_in_mcp_server":     {definition: "SignInMCPServer", command: "mcp login"},
		"finish_mcp_sign_in":     {definition: "FinishMCPSignIn", command: "mcp login"},
		"await_mcp_sign_in":      {definition: "AwaitMCPSignIn", command: "mcp login"},
		"sign_out_mcp_server":    {definition: "SignOutMCPServer", command: "mcp logout"},
		"list_mcp_offers":        {definition: "ListMCPOffers", command: "mcp offers"},
		"decide_mcp_server":      {definition: "DecideMCPServer", command: "mcp allow"},
		"list_hooks":             {definition: "ListHooks", command: "hook list"},
		"decide_hook":            {definition: "DecideHook", command: "hook allow"},
		"test_hook":              {definition: "TestHook", command: "hook test"},
		"list_extensions":        {definition: "ListExtensions", command: "extension list"},
		"fetch_extension":        {definition: "FetchExtension", command: "extension add"},
		"save_extension":         {definition: "SaveExtension", command: "extension add"},
		"decide_extension":       {definition: "DecideExtension", command: "extension allow"},
		"set_extension_enabled":  {definition: "SetExtension", command: "extension enable"},
		"delete_extension":       {definition: "DeleteExtension", command: "extension remove"},
		"get_budgets":            {definition: "GetBudgets", command: "budget show"},
		"set_budget":             {definition: "SetBudget", command: "budget set"},
		"list_channels":          {definition: "ListChannels", command: "channel list"},
		"add_channel":            {definition: "AddChannel", command: "channel add"},
		"test_channel":           {definition: "TestChannel", command: "channel test"},
		"remove_channel":         {definition: "RemoveChannel", command: "channel remove"},
		"pair_channel":           {definition: "PairChannel", command: "channel pair"},
		"allow_sender":           {definition: "AllowSender", command: "channel allow"},
		"remove_chat":            {definition: "RemoveChat", command: "channel remove"},
		"list_push":              {definition: "ListPush", command: "push list"},
		"add_push":               {definition: "AddPush", command: "push add"},
		"remove_push":            {definition: "RemovePush", command: "push remove"},
		"test_push":              {definition: "TestPush", command: "push test"},
		"set_push":               {definition: "SetPush", command: "push settings"},
		"lift_budget":            {definition: "LiftBudget", command: "budget lift"},
		"list_schedules":         {definition: "ListSchedules", command: "schedule list"},
		"save_schedule":          {definition: "SaveSchedule", command: "schedule add"},
		"preview_schedule":       {definition: "PreviewSchedule", command: "schedule times"},
		"enable_schedule":        {definition: "EnableSchedule", command: "schedule enable"},
		"run_schedule":           {definition: "RunSchedule", command: "schedule run"},
		"delete_schedule":        {definition: "DeleteSchedule", command: "schedule remove"},
		"list_files":             {definition: "ListFiles", command: "file list"},
		"find_files":             {definition: "FindFiles", command: "file find"},
		"read_file":              {definition: "ReadFile", command: "file show"},
		"git_status":             {definition: "GitStatus", command: "git status"},
		"git_diff":               {definition: "GitDiff", command: "git diff"},
		"git_log":                {definition: "GitLog", command: "git log"},
		"git_branches":           {definition: "GitBranches", command: "git branches"},
		"git_commit":             {definition: "GitCommit", command: "git commit"},
		"get_changes":            {definition: "GetChanges", command: "session changes"},
		"revert_file":            {definition: "RevertFile", command: "session revert"},
		"list_clients":           {definition: "ListClients", command: "host clients"},
		"create_guest_link":      {definition: "CreateGuestLink", command: "session share"},
		"revoke_client":          {definition: "RevokeClient", command: "host clients revoke"},
		"rename_client":          {definition: "RenameClient", command: "host clients rename"},
		"set_grant":              {definition: "SetGrant", command: "host clients grant"},
		"set_limits":             {definition: "SetLimits", command: "host clients limit"},
		"list_providers":         {definition: "ListProviders", command: "model key list"},
		"set_provider_key":       {definition: "SetProviderKey", command: "model key set"},
		"remove_provider_key":    {definition: "RemoveProviderKey", command: "model key remove"},
		"save_provider":          {definition: "SaveProvider", command: "model provider add"},
		"remove_provider":        {definition: "RemoveProvider", command: "model provider remove"},
		"save_model":             {definition: "SaveModel", command: "model add"},
		"remove_model":           {definition: "RemoveModel", command: "model remove"},
		"set_default_model":      {definition: "SetDefaultModel", command: "model default"},
		"test_model":             {definition: "TestModel", command: "model test"},
		"create_token":           {definition: "CreateToken", command: "host token create", local: ownMachine},
		"list_tokens":            {definition: "ListTokens", command: "host token list", local: ownMachine},
		"revoke_token":           {definition: "RevokeToken", command: "host token revoke", local: ownMachine},
		"create_pairing":         {definition: "CreatePairing", command: "pair", local: ownMachine},
		"redeem_pairing":         {definition: "RedeemPairing", command: "pair", local: ownMachine},
		"await_pairing":          {definition: "AwaitPairing", command: "pair", local: ownMachine},
		"finish_pairing":         {definition: "FinishPairing", command: "pair", local: ownMachine},
		"open_terminal":          {definition: "OpenTerminal", command: "terminal open"},
		"list_terminals":         {definition: "ListTerminals", command: "terminal list"},
		"attach_terminal":        {definition: "AttachTerminal", command: "terminal attach", plain: inChat},
		"detach_terminal":        {none: "the end of the connection detaches"},
		"ack_terminal":           {definition: "AckTerminal", none: inTerminal},
		"write_terminal":         {definition: "WriteTerminal", none: inTerminal},
		"resize_terminal":        {definition: "ResizeTerminal", none: inTerminal},
		"close_terminal":         {definition: "CloseTerminal", command: "terminal close"},
		"name_host":              {definition: "NameHost", command: "pair", local: ownMachine},
		"stop_host":              {definition: "StopHost", command: "host stop", local: ownMachine},
		"pause_host":             {definition: "PauseHost", command: "host restart", local: ownMachine},
		"resume_host":            {definition: "ResumeHost", command: "host restart", local: ownMachine},
		"restart_host":           {definition: "RestartHost", command: "host restart", local: ownMachine},
	}
}

// TestEveryRequestHasACommand: what the page can ask a host for, the command line can too, with
// JSON and on every paired machine.
func TestEveryRequestHasACommand(t *testing.T) {
	rows, used := parities(), definitionsUsed(t)
	for _, spec := range api.Table() {
		row, known := rows[spec.Name]
		delete(rows, spec.Name)
		if !known || (row.command == "") == (row.none == "") {
			t.Errorf("%s: name its command in parities, or say why it has none", spec.Name)
			continue
		}
		if row.definition != "" && !used[row.definition] {
			t.Errorf("%s: no source of the command line mentions api.%s", spec.Name, row.definition)
		}
		if row.command == "" {
			continue
		}
		if row.definition == "" {
			t.Errorf("%s: name its definition", spec.Name)
		}
		cmd := commandNamed(t, row.command)
		if cmd == nil {
			continue
		}
		if has := cmd.Flags().Lookup("json") != nil; has == (row.plain != "") {
			t.Errorf("scorel %s has --json: %v, but its reason for having none is %q", row.command, has, row.plain)
		}
		if has := cmd.Flags().Lookup("device") != nil; has == (row.local != "") {
			t.Errorf("scorel %s has --device: %v, but its reason for having none is %q", row.command, has, row.local)
		}
	}
	for name := range rows {
		t.Errorf("%s is not a request any more: remove its row", name)
	}
}

func commandNamed(t *testing.T, path string) *cobra.Command {
	t.Helper()
	discard := new(bytes.Buffer)
	top := newRoot(&app{console: console{discard, discard, discard}, env: &environment{getenv: func(string) string { return "" }}})
	cmd, rest, err := top.Find(strings.Fields(path))
	if err != nil || len(rest) > 0 || cmd == top || !cmd.Runnable() {
		t.Errorf("there is no command scorel %s (%v)", path, err)
		return nil
	}
	return cmd
}

// definitionsUsed returns the names X for which a source file of the command line, besides the
// terminal client, or the client package mentions api.X.
func definitionsUsed(t *testing.T) map[string]bool {
	t.Helper()
	used := map[string]bool{}
	for _, root := range []string{".", "../../packages/client"} {
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && (entry.Name() == "chat" || entry.Name() == "testdata"):
				return fs.SkipDir
			case filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go"):
				return nil
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(node ast.Node) bool {
				if selector, ok := node.(*ast.SelectorExpr); ok {
					if name, ok := selector.X.(*ast.Ident); ok && name.Name == "api" {
						used[selector.Sel.Name] = true
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return used
}
