package cli

import (
	"testing"

	"github.com/scorel/scorel/packages/protocol/api"
)

func TestBackendState(t *testing.T) {
	for want, b := range map[string]api.Backend{
		"installed":                    {Path: "/bin/x"},
		"missing: npm install x":       {Install: "npm install x", Denied: api.BackendNeedsBypass},
		"missing: install its command": {},
		"installed, not usable here: it may act without asking, see docs/backends.md#permissions": {Path: "/bin/x", Denied: api.BackendNeedsBypass},
		"installed, not usable here: this client may not send prompts":                            {Path: "/bin/x", Denied: api.BackendNeedsPrompt},
		"installed, not usable here: for a reason that this version does not know":                {Path: "/bin/x", Denied: "later"},
	} {
		if got := backendState(b); got != want {
			t.Errorf("%+v: %q, want %q", b, got, want)
		}
	}
}
