package permission

import (
	"testing"

	"github.com/scorel/scorel/packages/protocol/api"
)

// TestNothingIsPlantedForGit: no mode but bypass writes what git would run later.
func TestNothingIsPlantedForGit(t *testing.T) {
	for _, c := range []struct {
		path   string
		asks   bool
		exists string
	}{
		{"src/a.go", false, ""},
		{"sub/config", false, ""},
		{"sub/header.go", false, ""},
		{"sub/HEAD", true, ""},
		{"sub/config", true, "/work/site/sub/HEAD"},
		{"sub/hooks/post-update", true, "/work/site/sub/HEAD"},
		{"src/config", false, "/work/site/sub/HEAD"},
		{"src/config", false, "/work/HEAD"},
		{".husky/pre-commit", true, ""},
		{"web/.Husky/_/pre-commit", true, ""},
		{".githooks/pre-push", true, ""},
		{".github/workflows/x.yml", false, ""},
	} {
		for _, mode := range []api.Mode{api.ModeAcceptEdits, api.ModeAuto} {
			p := testPolicy(t, mode)
			p.Exists = func(full string) (there, folder bool) { return full == c.exists, false }
			v := p.Judge(Request{Tool: "write_file", Writes: true, Paths: []string{c.path}})
			if (v.Action == Ask) != c.asks || (v.Risk.Level == api.RiskHigh) != c.asks || c.asks && v.Propose != nil {
				t.Errorf("%s: %s beside %q: %+v", mode, c.path, c.exists, v)
			}
			if got := judge(p, "echo x > "+c.path).Action; (got == Ask) != c.asks {
				t.Errorf("%s: a redirection to %s beside %q: %v", mode, c.path, c.exists, got)
			}
		}
	}
}
