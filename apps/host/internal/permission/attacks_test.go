package permission

import (
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/protocol/api"
)

// attack is a command line and its verdict in each of settings: a allows, ? asks, n denies.
type attack struct{ name, command, verdicts string }

// settings are the configurations that each attack is tried in, in the order of its
// verdicts.
func settings() []struct {
	name   string
	mode   api.Mode
	hidden bool
} {
	return []struct {
		name   string
		mode   api.Mode
		hidden bool
	}{
		{"plan", api.ModePlan, true},
		{"ask", api.ModeAsk, true},
		{"accept-edits", api.ModeAcceptEdits, true},
		{"auto without a sandbox", api.ModeAuto, false},
		{"auto", api.ModeAuto, true},
		{"bypass", api.ModeBypass, true},
	}
}

// attackedFiles exist on the attacked machine. A trailing slash marks a folder.
var attackedFiles = []string{
	"/work/site/.env", "/work/site/.git/config", "/work/site/.git/index", "/work/site/README.md", "/work/site/main.go", "/work/site/tool.py",
	"/work/site/src/a.go", "/work/site/src/b.go", "/work/site/lib/a.go", "/work/site/lib/src/a.go", "/work/site/list", "/work/site/empty/",
	"/home/ann/.scorel/identity.json", "/home/ann/.scorel/config.toml", "/home/ann/.ssh/id_rsa", "/home/ann/notes.txt", "/etc/passwd",
	"/root/.scorel/identity.json", "/tmp/",
}

// attackedPolicy is a policy of that machine, where link in the project leads to the keys.
func attackedPolicy(t *testing.T, mode api.Mode, hidden bool) Policy {
	p := testPolicy(t, mode)
	p.PrivateHidden = hidden
	p.Private = append(p.Private, "/root/.scorel")
	p.Resolve = func(full string) string {
		full = path.Clean(strings.Replace(full, "/work/site/link", "/home/ann/.scorel", 1))
		return full
	}
	p.Exists = func(full string) (there, folder bool) {
		for _, file := range attackedFiles {
			if file == full {
				return true, false
			}
			folder = folder || strings.HasPrefix(file, strings.TrimSuffix(full, "/")+"/")
		}
		return folder, folder
	}
	p.List = func(folder string) (names []string, complete bool) {
		for _, file := range append(attackedFiles, "/work/site/link") {
			if rest, found := strings.CutPrefix(file, strings.TrimSuffix(folder, "/")+"/"); found {
				name, _, _ := strings.Cut(rest, "/")
				if name != "" && !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
		return names, true
	}
	p.Env = func(name string) string {
		return map[string]string{"SCOREL_HOME": "/home/ann/.scorel", "TMPDIR": "/tmp"}[name]
	}
	p.HomeOf = func(name string) string { return map[string]string{"root": "/root", "ann": "/home/ann"}[name] }
	return p
}

// holds checks each attack in every setting.
func holds(t *testing.T, attacks []attack) {
	t.Helper()
	seen := map[string]bool{}
	for _, a := range attacks {
		if seen[a.name] {
			t.Errorf("two attacks are named %q", a.name)
		}
		seen[a.name] = true
		t.Run(a.name, func(t *testing.T) {
			got, why := "", ""
			for _, s := range settings() {
				v := judge(attackedPolicy(t, s.mode, s.hidden), a.command)
				got += string("a?n"[v.Action])
				why += "\n\t" + s.name + ": " + v.Reason + " (" + strings.Join(v.Risk.Reasons, "; ") + ")"
				if v.Action != Allow && v.Reason == "" {
					t.Errorf("%s: no reason", s.name)
				}
			}
			if got != a.verdicts {
				t.Errorf("%q: %s, want %s:%s", a.command, got, a.verdicts, why)
			}
		})
	}
}
