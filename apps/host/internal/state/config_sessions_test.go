package state_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/state"
)

func TestSessionProviders(t *testing.T) {
	projects, err := state.LoadProjects(filepath.Join(t.TempDir(), "projects.json"))
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	project, err := projects.Add(folder)
	if err != nil {
		t.Fatal(err)
	}
	config, err := load(t, `session_provider = "mysql"
[session_providers.mysql]
url_env = "MY_DATABASE"
[session_providers.postgres]
url = "postgres://ada@localhost/x"
[projects."`+folder+`/"]
session_provider = "postgres"
[projects."/not/there"]
session_provider = "file"
`, "MY_DATABASE", "mysql://u:secret@h/d", "SCOREL_SESSIONS_POSTGRES", "postgres://not-this")
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]string{project.ID: "postgres", "prj_other": "mysql"} {
		if got := config.SessionProvider(id); got != want {
			t.Errorf("%s is kept by %s, want %s", id, got, want)
		}
	}
	for name, want := range map[string]string{"file": "", "mysql": "mysql://u:secret@h/d", "postgres": "postgres://ada@localhost/x"} {
		if got := config.SessionURL(name); got != want {
			t.Errorf("the address of %s is %q", name, got)
		}
	}
	if got := config.SecretEnvs(); !slices.Equal(got, []string{"MY_DATABASE", "SCOREL_SESSIONS_MYSQL", "SCOREL_SESSIONS_POSTGRES"}) {
		t.Errorf("secrets are in %v", got)
	}
	config, err = load(t, `session_provider = "postgres"`, "SCOREL_SESSIONS_POSTGRES", "postgres://x")
	if err != nil || config.SessionProvider("prj_1") != "postgres" || config.SessionURL("postgres") != "postgres://x" || config.SessionURL("mysql") != "" {
		t.Errorf("%v", err)
	}
	if config, err = load(t, ""); err != nil || config.SessionProvider("prj_1") != "file" {
		t.Errorf("by default: %s, %v", config.SessionProvider("prj_1"), err)
	}
}

func TestSessionProviderErrors(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"unknown":             {`session_provider = "mongo"`, `unknown session_provider "mongo"; use file, postgres or mysql`},
		"unknown of projects": {"[projects.\"/a\"]\nsession_provider = \"files\"", `projects."/a": unknown session_provider "files"; use file, postgres or mysql`},
		"no address":          {`session_provider = "mysql"`, `put it in the environment variable SCOREL_SESSIONS_MYSQL`},
		"empty variable":      {"session_provider = \"mysql\"\n[session_providers.mysql]\nurl_env = \"EMPTY\"", `put it in the environment variable EMPTY`},
		"a password":          {"[session_providers.mysql]\nurl = \"mysql://u:secret@h/d\"", `url must not contain a password`},
		"another password":    {"[session_providers.postgres]\nurl = \"postgres://h/d?password=secret\"", `url must not contain a password`},
		"no address at all":   {"[session_providers.mysql]\nurl = \"se cret%\"", `url is invalid: use mysql://user@host/database`},
		"the address as name": {"[session_providers.mysql]\nurl_env = \"mysql://u:secret@h/d\"", `url_env must be the name of an environment variable`},
		"both":                {"[session_providers.mysql]\nurl = \"mysql://h/d\"\nurl_env = \"X\"", `give url or url_env, not both`},
		"unknown store":       {"[session_providers.mongo]\nurl_env = \"X\"", `session_providers.mongo: is unknown; use postgres or mysql`},
		"file has no address": {"[session_providers.file]\nurl_env = \"X\"", `session_providers.file: is unknown`},
		"unknown key":         {"[session_providers.mysql]\nurl_evn = \"X\"", `config.toml:2: unknown key "session_providers.mysql.url_evn"; did you mean "url_env"?`},
		"key of a project":    {"[projects.\"/a\"]\nsession_providr = \"file\"", `did you mean "session_provider"?`},
		"no absolute path":    {"[projects.site]\nsession_provider = \"file\"", `projects."site": the name must be the absolute path of a folder`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := load(t, test.text)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("error %v, want %q", err, test.want)
			}
			if strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "\n") {
				t.Errorf("the error shows a password or has several lines: %v", err)
			}
		})
	}
}
