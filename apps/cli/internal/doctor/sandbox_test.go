package doctor

import (
	"slices"
	"testing"

	"github.com/scorel/scorel/packages/protocol/api"
)

func TestSandboxWords(t *testing.T) {
	for _, test := range []struct {
		info api.HostInfo
		want []string
	}{
		{api.HostInfo{}, nil},
		{api.HostInfo{Sandbox: "none", SandboxNote: "it is disabled in config.toml"},
			[]string{"none: commands can do what you can (it is disabled in config.toml)"}},
		{api.HostInfo{Sandbox: "bubblewrap+landlock", SandboxLimits: &api.SandboxLimits{Network: "closed"}},
			[]string{"bubblewrap+landlock", "the network is closed", "commands can write to the project only"}},
		{api.HostInfo{Sandbox: "landlock", SandboxNote: "bubblewrap is not installed", SandboxLimits: &api.SandboxLimits{
			Network: "no_tcp", Writable: []string{"/tmp", "/data"}, Missing: []string{"/gone"}, Exposed: []string{"/tmp/home"},
		}}, []string{
			"landlock (bubblewrap is not installed)", "the network is closed for TCP only: Landlock alone cannot block more",
			"commands can write to the project, /tmp, /data", "/gone, where commands may write, does not exist: create it if they need it",
			"commands can change /tmp/home, with scorel's keys: it is in a writable folder, and only bubblewrap can hide it",
		}},
		{api.HostInfo{Sandbox: "none", RunsAsRoot: true}, []string{
			"none: commands can do what you can",
			"the host runs as root without a strong sandbox, so the mode auto asks about every command that does more than read: run it as an ordinary user",
		}},
		{api.HostInfo{Sandbox: "bubblewrap+landlock", RunsAsRoot: true, SandboxLimits: &api.SandboxLimits{Network: "open"}}, []string{
			"bubblewrap+landlock", "the network is open", "commands can write to the project only", "the host runs as root: run it as an ordinary user",
		}},
		{api.HostInfo{Sandbox: "later", SandboxLimits: &api.SandboxLimits{Network: "filtered"}},
			[]string{"later", "the network is filtered", "commands can write to the project only"}},
	} {
		if got := Sandbox(test.info); !slices.Equal(got, test.want) {
			t.Errorf("%+v: %q, want %q", test.info, got, test.want)
		}
	}
}
