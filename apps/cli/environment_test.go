package cli

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// variable is a line of docs/environment.md.
type variable struct{ name, meaning string }

// variables says what each environment variable does. Those of scorel's own are found in the
// sources, so that none can be missing.
func variables() map[string][]variable {
	return map[string][]variable{
		"Read by the program": {
			{"SCOREL_HOME", "folder of scorel's files; without it, `~/.scorel`. `--home` replaces it"},
			{"SCOREL_RELAY_URL", "address of the relay, for hosts and for commands that dial one. `--relay` replaces it"},
			{"SCOREL_INVITE", "invite to a relay that admits by invite. `--invite` replaces it"},
			{"SCOREL_RELAY_STORE", "store of a relay, instead of `--store`, which other users of the machine can see"},
			{"SCOREL_RELAY_BUS", "NATS servers of a relay, instead of `--bus`, which other users of the machine can see"},
			{"SCOREL_SESSIONS_POSTGRES", "address of the database with sessions ([operations.md](operations.md#sessions-in-a-database)); `url_env` names another variable"},
			{"SCOREL_SESSIONS_MYSQL", "the same for MySQL and MariaDB"},
			{"SCOREL_CHANNEL_NAME", "secret setting NAME of the platform that `scorel channel serve` serves, such as `SCOREL_CHANNEL_TOKEN` ([channels.md](channels.md))"},
			{"SCOREL_MDNS", "`off` turns off the search for hosts in the local network after a failure; `--announce` is not affected ([paths.md](paths.md))"},
			{"SCOREL_RELEASE_URL", "mirror of the releases that `scorel update` and the install scripts use ([install.md](install.md))"},
			{"SCOREL_TRACE_URL", "collector that `scorel send` sends a span to ([operations.md](operations.md#traces)); without it, none"},
			{"TRACEPARENT", "trace that a prompt of `scorel send` belongs to, as other programs set it"},
			{"ANTHROPIC_API_KEY", "API key of the provider, if `config.toml` has no providers; otherwise `api_key_env` names the variable ([models.md](models.md))"},
			{"OPENAI_API_KEY", "the same"},
			{"OPENAI_BASE_URL", "address of a server with OpenAI's API, if `config.toml` has no providers"},
			{"GEMINI_API_KEY", "the same as `ANTHROPIC_API_KEY`"},
			{"HTTPS_PROXY, HTTP_PROXY, NO_PROXY", "proxy to the relay ([operations.md](operations.md#through-a-corporate-proxy))"},
			{"VISUAL, EDITOR", "editor that `scorel memory edit` opens"},
			{"SSL_CERT_FILE", "certificates of authorities that are trusted, on Linux"},
		},
		"Read by the install scripts": {
			{"SCOREL_INSTALL_DIR", "folder that the program is installed in"},
			{"SCOREL_RELEASE_URL", "mirror of the release"},
			{"SCOREL_REQUIRE_SIGNATURE", "`1`: fail where the signature cannot be checked"},
		},
		"Set for commands, hooks and servers": {
			{"SCOREL_PROJECT_DIR", "folder of the session, for hooks ([hooks.md](hooks.md))"},
			{"SCOREL_EXTENSION_ROOT", "folder of the extension, for its hooks and servers ([extensions.md](extensions.md))"},
			{"SCOREL_PROCESS_EVENTS", "`1`: the command may report progress ([process-events.md](process-events.md))"},
			{"SCOREL_COMMAND_ID", "name of the file in `run/commands` that records the command"},
		},
	}
}

// groupsOfVariables is the order on the page.
func groupsOfVariables() []string {
	return []string{"Read by the program", "Read by the install scripts", "Set for commands, hooks and servers"}
}

// inner are variables that scorel sets for its own processes, reads in tests, or reads when a
// release is made (docs/releasing.md). Those that begin with SCOREL_PROVIDER_ only name saved keys.
func inner(name string) bool {
	return slices.Contains([]string{"SCOREL_KEYS_FD", "SCOREL_RESTARTED", "SCOREL_PROVIDER_"}, name) ||
		strings.HasPrefix(name, "SCOREL_TEST") || strings.HasPrefix(name, "SCOREL_RELEASE_KEY") || name == "SCOREL_RELEASE_PASSWORD"
}

var variableInSource = regexp.MustCompile(`["${:](SCOREL_[A-Z_]+)`)

// variablesInSources returns the names of scorel's variables in the sources of the program and of
// the install scripts. One that ends in _ is completed by the program.
func variablesInSources(t *testing.T) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	read := func(path string, entry fs.DirEntry, err error) error {
		ext := filepath.Ext(path)
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains([]string{"node_modules", "dist", "bench", "testdata"}, entry.Name()):
			return filepath.SkipDir
		case entry.IsDir() || strings.HasSuffix(path, "_test.go") || !slices.Contains([]string{".go", ".sh", ".ps1"}, ext):
			return nil
		}
		data, err := os.ReadFile(path)
		for _, match := range variableInSource.FindAllSubmatch(data, -1) {
			found[string(match[1])] = true
		}
		return err
	}
	for _, top := range []string{"../../apps", "../../packages", "../../deploy/release"} {
		if err := filepath.WalkDir(top, read); err != nil {
			t.Fatal(err)
		}
	}
	return found
}

// TestDocumentOfTheVariablesIsFresh: docs/environment.md lists every environment variable. Run
// `go test . -run Document -update` in apps/cli to write it.
func TestDocumentOfTheVariablesIsFresh(t *testing.T) {
	var text strings.Builder
	text.WriteString("# Environment variables\n\nThis page lists the environment variables of scorel, for people who configure it. It is generated. A flag replaces the\n" +
		"variable of the same meaning, and the variable the setting of [config.toml](configuration.md). Services read variables\n" +
		"from a file ([services.md](services.md)).\n")
	listed := map[string]bool{}
	for _, group := range groupsOfVariables() {
		fmt.Fprintf(&text, "\n## %s\n\n| variable | meaning |\n|---|---|\n", group)
		for _, v := range variables()[group] {
			listed[v.name] = true
			fmt.Fprintf(&text, "| `%s` | %s |\n", strings.ReplaceAll(v.name, ", ", "`, `"), v.meaning)
		}
	}
	found := variablesInSources(t)
	if len(found) < 15 {
		t.Fatalf("only %d variables were found in the sources", len(found))
	}
	for name := range found {
		begins := func(other string) bool { return strings.HasPrefix(other, name) && strings.HasSuffix(name, "_") }
		if !inner(name) && !listed[name] && !slices.ContainsFunc(variables()[groupsOfVariables()[0]], func(v variable) bool { return begins(v.name) }) {
			t.Errorf("say in variables what %s does", name)
		}
	}
	for name := range listed {
		if strings.HasPrefix(name, "SCOREL_") && !found[name] && !found["SCOREL_"+strings.Split(name, "_")[1]+"_"] {
			t.Errorf("no source has the variable %s", name)
		}
	}
	const document = "docs/environment.md"
	if *update {
		if err := os.WriteFile("../../"+document, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if readDocument(t, document) != text.String() {
		t.Errorf("%s is stale: run `go test . -run Document -update` in apps/cli", document)
	}
}
