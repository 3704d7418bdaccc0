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
		{api.HostInfo{Sandbox: "none", SandboxNote: "it is switched off in config.toml"},
			[]string{"none: commands can do what you can (it is switched off in config.toml)"}},
		{api.HostInfo{Sandbox: "bubblewrap+landlock", SandboxLimits: &api.SandboxLimits{Network: "closed"}},
			[]string{"bubblewrap+landlock", "the network is closed", "commands can write to the project only"}},
		{api.HostInfo{Sandbox: "landlock", SandboxNote: "bubblewrap is not installed", SandboxLimits: &api.SandboxLimits{
			Network: "no_tcp", Writable: []string{"/tmp", "/data"}, Missing: []string{"/gone"}, Exposed: []string{"/tmp/home"},
		}}, []string{
			"landlock (bubblewrap is not installed)", "the network is closed for TCP only: Landlock alone can cut off no more",
			"commands can write to the project, /tmp, /data", "/gone is in sandbox.writable and not there",
			"commands can change /tmp/home, with scorel's keys: it lies in a writable folder, and only bubblewrap would hide it",
		}},
		{api.HostInfo{Sandbox: "later", SandboxLimits: &api.SandboxLimits{Network: "filtered"}},
			[]string{"later", "the network is filtered", "commands can write to the project only"}},
	} {
		if got := Sandbox(test.info); !slices.Equal(got, test.want) {
			t.Errorf("%+v: %q, want %q", test.info, got, test.want)
		}
	}
}
