package state

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/configuration.md")

// settings says what each setting of config.toml does. The reference has the settings from the
// types that the file is decoded into, so that none can be missing.
var settings = map[string]string{
	"default_model":          "name of the model for new sessions; without it, the only model",
	"auxiliary_model":        "name of the model for titles and summaries; without it, the model of the session",
	"relay_url":              "address of the relay",
	"relay_urls":             "more relays that the host stays connected to",
	"relay_invite":           "invite to the first relay, for the first login",
	"label":                  "name of the machine that others see; without it, a name that was chosen, or the host name",
	"max_steps":              "calls of the model in one turn, 2 to 10 000; default 200",
	"keep_awake":             "whether the machine stays awake while a turn runs; default true",
	"metrics_listen":         "address of this machine at which it serves metrics, see [operations.md](operations.md#metrics-of-a-host); off by default",
	"trace_url":              "address of a collector that spans are sent to, see [operations.md](operations.md#traces); off by default",
	"session_provider":       "store of new sessions: `file` (default), `postgres` or `mysql`",
	"compaction":             "when older messages are summarized, see [session-format.md](session-format.md)",
	"compaction.share":       "used share of the context window above which a session is compacted, 0.1 to 0.95; default 0.8; 0 leaves it to people",
	"compaction.keep_tokens": "tokens of recent messages that are kept, at least 100; default 20 000",

	"providers.NAME":             "a provider of models, see [models.md](models.md)",
	"providers.NAME.type":        "`openai`, `openai-responses`, `anthropic`, `google` or `demo`",
	"providers.NAME.base_url":    "address; without it, the provider's own",
	"providers.NAME.api_key_env": "environment variable that holds the key",

	"models.NAME":                   "a model, see [models.md](models.md)",
	"models.NAME.provider":          "name of one of `[providers]`",
	"models.NAME.id":                "the provider's name for the model",
	"models.NAME.context_window":    "size of the context window in tokens",
	"models.NAME.max_tokens":        "tokens per answer; without it, the provider decides",
	"models.NAME.thinking":          "`off`, `minimal`, `low`, `medium` or `high`; without it, the provider decides",
	"models.NAME.images":            "whether it accepts images; without it, guessed from the id",
	"models.NAME.price_input":       "US dollars per million input tokens",
	"models.NAME.price_output":      "US dollars per million output tokens",
	"models.NAME.price_cache_read":  "the same for tokens read from the cache; without it, as input",
	"models.NAME.price_cache_write": "the same for tokens written to the cache; without it, as input",

	"permissions":               "what the agent may do, see [permissions.md](permissions.md)",
	"permissions.mode":          "mode of new sessions; default `ask`",
	"permissions.remote_mode":   "most permissive mode that a paired device may set; default `auto`",
	"permissions.allow":         "rules that allow",
	"permissions.ask":           "rules that ask",
	"permissions.deny":          "rules that deny",
	"permissions.fetch_private": "non-public addresses and networks that `fetch_url` may connect to",

	"sandbox":          "the sandbox of commands, see [permissions.md](permissions.md#sandbox)",
	"sandbox.enabled":  "whether commands run in it; default true",
	"sandbox.network":  "whether commands in it have network access",
	"sandbox.writable": "folders besides the project that commands may write to: absolute, or beginning with `~/`",

	"questions":         "questions of the agent, see [permissions.md](permissions.md#questions)",
	"questions.timeout": "how long a question waits, such as `30m` (default); `0` means forever",
	"environment":       "variables of commands, see [permissions.md](permissions.md#environment)",
	"environment.pass":  "variables that commands get although they look like secrets",

	"crew":                            "subagents, see [agents.md](agents.md)",
	"crew.enabled":                    "whether agents can delegate tasks; default true",
	"crew.max_concurrent":             "how many may work at once for one session, 1 to 16; default 3",
	"crew.presets":                    "agent definitions that may be used; without it, all",
	"crew.tools":                      "tools that subagents may use at most; without it, those of their definition",
	"crew.backends":                   "programs of vendors that may work on tasks; without it, none",
	"crew.agents.NAME.backends":       "programs of vendors that may work on its tasks",
	"crew.agents.NAME":                "settings of one agent definition",
	"crew.agents.NAME.enabled":        "whether it may be used; default true",
	"crew.agents.NAME.max_concurrent": "how many may work at once with it",
	"crew.agents.NAME.tools":          "tools that it may use at most",

	"worktrees":        "worktrees of sessions, see [permissions.md](permissions.md#worktrees)",
	"worktrees.folder": "folder for them; without it, one beside the home",

	"session_providers.NAME":         "a database for sessions, `postgres` or `mysql`, see [operations.md](operations.md#sessions-in-a-database)",
	"session_providers.NAME.url":     "its address, without a password",
	"session_providers.NAME.url_env": "environment variable that holds its address",
	"projects.NAME":                  "settings of the project in the folder of this name",
	"projects.NAME.session_provider": "store for new sessions of this project",

	"mcp":                     "MCP servers, see [skills-and-mcp.md](skills-and-mcp.md)",
	"mcp.client_metadata_url": "address of the document that describes this client to authorization servers",

	"mcp.servers.NAME":                     "an MCP server, or how one of that name in a project is used",
	"mcp.servers.NAME.command":             "program that is started",
	"mcp.servers.NAME.args":                "its arguments",
	"mcp.servers.NAME.env":                 "its environment variables",
	"mcp.servers.NAME.cwd":                 "folder that it is started in; without it, the project",
	"mcp.servers.NAME.url":                 "address, for a server that is not started",
	"mcp.servers.NAME.headers":             "headers of each request to the address",
	"mcp.servers.NAME.start_timeout":       "seconds until it has listed its tools",
	"mcp.servers.NAME.tool_timeout":        "seconds of one call",
	"mcp.servers.NAME.enabled":             "whether it is used; default true",
	"mcp.servers.NAME.sandbox":             "whether it runs in the sandbox; default true",
	"mcp.servers.NAME.enabled_tools":       "the only tools that are offered; without it, all",
	"mcp.servers.NAME.disabled_tools":      "tools that are not offered",
	"mcp.servers.NAME.oauth":               "how the host signs in to the server",
	"mcp.servers.NAME.oauth.client_id":     "id of a client that was registered before",
	"mcp.servers.NAME.oauth.client_secret": "its secret; needs `issuer`; variables are expanded",
	"mcp.servers.NAME.oauth.issuer":        "the only authorization server that is used",
	"mcp.servers.NAME.oauth.callback_port": "port for the answer; without it, any free one",
	"mcp.servers.NAME.oauth.scopes":        "scopes to ask for; without it, those that the server names",

	"hooks":         "a command that runs at an event; may be repeated, see [hooks.md](hooks.md)",
	"hooks.name":    "name that is shown",
	"hooks.event":   "event that runs it",
	"hooks.command": "command, run by bash",
	"hooks.tools":   "tools for whose calls it runs; without it, all",
	"hooks.timeout": "seconds, at most 600; default 30",
	"hooks.sandbox": "whether it runs in the sandbox; default true",
	"hooks.enabled": "whether it runs; default true",

	"budgets":                "limits on cost and tokens, see [models.md](models.md#budgets)",
	"budgets.session_cost":   "US dollars of one session",
	"budgets.session_tokens": "tokens of one session",
	"budgets.project_cost":   "US dollars of one project in a day",
	"budgets.project_tokens": "tokens of one project in a day",
	"budgets.day_cost":       "US dollars of the host in a day",
	"budgets.day_tokens":     "tokens of the host in a day",

	"backends.NAME":          "another agent, see [backends.md](backends.md)",
	"backends.NAME.type":     "`acp`",
	"backends.NAME.command":  "program that is started; without it, that of the built-in backend of this name",
	"backends.NAME.args":     "its arguments",
	"backends.NAME.env":      "names of variables that it gets",
	"backends.NAME.mode":     "mode of the program for new sessions",
	"backends.NAME.model":    "model of the program for new sessions",
	"backends.NAME.asks":     "whether the program's own settings make it ask before it acts, so that clients that may not set the mode `bypass` can use it; default false",
	"backends.NAME.sandbox":  "whether it runs in the sandbox of the host; default false",
	"backends.NAME.writable": "folders besides the session's that it may write to in the sandbox",
}

// TestReferenceOfTheSettingsIsFresh: docs/configuration.md lists every setting. Run
// `go test . -run Reference -update` in this folder to write it.
func TestReferenceOfTheSettingsIsFresh(t *testing.T) {
	const document = "../../../../docs/configuration.md"
	r := reference{t: t, used: map[string]bool{}}
	r.tables(reflect.TypeFor[configFile](), "")
	for key := range settings {
		if !r.used[key] {
			t.Errorf("config.toml has no setting %s", key)
		}
	}
	want := "# config.toml\n\nThis page lists every setting of `config.toml` in `SCOREL_HOME`, for people who configure a host. It is generated from the\n" +
		"types that the file is read into. Unknown settings are errors. `NAME` is a name that you choose. No setting holds an API\nkey. " +
		"[relay.toml](relay-configuration.md) configures a relay.\n" + r.text.String()
	if *update {
		if err := os.WriteFile(document, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(document); err != nil || string(got) != want {
		t.Errorf("docs/configuration.md is stale (%v): run `go test . -run Reference -update` in apps/host/internal/state", err)
	}
}

// reference writes the settings of config.toml as tables.
type reference struct {
	t    *testing.T
	text strings.Builder
	used map[string]bool
}

// tables writes the settings of a struct, and after it those of the structs within it.
func (r *reference) tables(of reflect.Type, at string) {
	type inner struct {
		of reflect.Type
		at string
	}
	var within []inner
	rows := 0
	for i := range of.NumField() {
		key := at + of.Field(i).Tag.Get("toml")
		typ := of.Field(i).Type
		if typ.Kind() == reflect.Pointer {
			typ = typ.Elem()
		}
		if typ.Kind() == reflect.Map && typ.Elem().Kind() == reflect.Struct {
			within = append(within, inner{typ.Elem(), key + ".NAME"})
			continue
		}
		if typ.Kind() == reflect.Slice && typ.Elem().Kind() == reflect.Struct {
			typ = typ.Elem()
		}
		if typ.Kind() == reflect.Struct {
			within = append(within, inner{typ, key})
			continue
		}
		if rows++; rows == 1 {
			r.text.WriteString("\n| setting | type | meaning |\n|---|---|---|\n")
		}
		fmt.Fprintf(&r.text, "| `%s` | %s | %s |\n", of.Field(i).Tag.Get("toml"), nameOf(typ), r.meaning(key))
	}
	for _, each := range within {
		head, meaning := "["+each.at+"]", r.meaning(each.at)
		if each.at == "hooks" {
			head = "[[hooks]]"
		}
		fmt.Fprintf(&r.text, "\n## `%s`\n\n%s.\n", head, strings.ToUpper(meaning[:1])+meaning[1:])
		r.tables(each.of, each.at+".")
	}
}

func (r *reference) meaning(key string) string {
	r.t.Helper()
	r.used[key] = true
	if settings[key] == "" {
		r.t.Errorf("say in settings what %s does", key)
		return "-"
	}
	return settings[key]
}

// nameOf returns the name of a type in TOML.
func nameOf(typ reflect.Type) string {
	switch typ.Kind() {
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Int, reflect.Int64:
		return "integer"
	case reflect.Float64:
		return "number"
	case reflect.Slice:
		return nameOf(typ.Elem()) + "s"
	case reflect.Map:
		return "table of " + nameOf(typ.Elem()) + "s"
	}
	return typ.String()
}
