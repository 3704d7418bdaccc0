package state_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/state"
)

func TestLoadMCPServers(t *testing.T) {
	config, err := load(t, `
[mcp.servers.git]
command = "git-mcp"
args = ["-v"]
env = { A = "${B}" }
tool_timeout = 5
disabled_tools = ["push"]
[mcp.servers.web]
url = "https://${HOST}/mcp"
enabled = false
[mcp.servers.theirs]
enabled_tools = []
`)
	if err != nil {
		t.Fatal(err)
	}
	git, web, theirs := config.MCP["git"], config.MCP["web"], config.MCP["theirs"]
	if git.Command != "git-mcp" || git.ToolTimeout != 5 || git.Env["A"] != "${B}" || git.Enabled != nil || git.EnabledTools != nil {
		t.Errorf("git is %+v", git)
	}
	if web.Enabled == nil || *web.Enabled || theirs.EnabledTools == nil {
		t.Errorf("web is %+v, theirs %+v", web, theirs)
	}
}

func TestBadMCPServers(t *testing.T) {
	for text, want := range map[string]string{
		"[mcp.servers.a]\ncommand = 'x'\nurl = 'https://x'":         "give command or url, not both",
		"[mcp.servers.a]\nargs = ['x']":                             "belong to a command",
		"[mcp.servers.a]\nheaders = { A = 'x' }":                    "belong to a url",
		"[mcp.servers.a]\nurl = 'ftp://x'":                          "https://",
		"[mcp.servers.a]\ncommand = 'x'\nstart_timeout = -1":        "are in seconds",
		"[mcp.servers.'a b']\ncommand = 'x'":                        "the name of a server",
		"[mcp.servers.a]\ncommnd = 'x'":                             `did you mean "command"?`,
		"[mcp.server.a]\ncommand = 'x'":                             "unknown key",
		"[mcp.servers.a]\ncommand = 7":                              "must be a string",
		"[mcp.servers.a]\ncommand = 'x'\ntool_timeout = 'a minute'": "must be a whole number",
	} {
		if _, err := load(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func TestConsentsSurvive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mcp.json")
	consents, err := state.LoadConsents(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, decision := range []state.Consent{
		{Project: "/a", Server: "s", Hash: "1", Allowed: true}, {Project: "/b", Server: "s", Hash: "1"}, {Project: "/a", Server: "s", Hash: "2", Allowed: true},
	} {
		if err := consents.Decide(decision); err != nil {
			t.Fatal(err)
		}
	}
	if consents, err = state.LoadConsents(path); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		project, hash    string
		allowed, decided bool
	}{{"/a", "2", true, true}, {"/a", "1", false, false}, {"/b", "1", false, true}, {"/c", "1", false, false}} {
		if allowed, decided := consents.Find(c.project, "s", c.hash); allowed != c.allowed || decided != c.decided {
			t.Errorf("%s %s: %v %v", c.project, c.hash, allowed, decided)
		}
	}
}
