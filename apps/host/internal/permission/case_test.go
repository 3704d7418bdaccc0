package permission

import (
	"testing"

	"github.com/scorel/scorel/packages/protocol/api"
)

// TestCapitalLettersOpenNothing: many machines ignore the case of file names.
func TestCapitalLettersOpenNothing(t *testing.T) {
	p := testPolicy(t, api.ModeAcceptEdits)
	deny, err := ParseRules([]string{"read_file(.env)", "read_file(~/.ssh/**)", "write_file(src/gen/**)"}, testTools())
	if err != nil {
		t.Fatal(err)
	}
	p.Rules.Deny = deny
	for _, c := range []struct {
		request Request
		other   Action // on a file system that respects case
		same    Action
	}{
		{Request{Tool: "write_file", Writes: true, Paths: []string{".Git/config"}}, Ask, Ask},
		{Request{Tool: "write_file", Writes: true, Paths: []string{".GIT/hooks/pre-commit"}}, Deny, Deny},
		{Request{Tool: "write_file", Writes: true, Paths: []string{"/home/ann/.Scorel/config.toml"}}, Deny, Deny},
		{Request{Tool: "read_file", Paths: []string{".ENV"}}, Allow, Deny},
		{Request{Tool: "read_file", Paths: []string{"/Home/Ann/.SSH/id_rsa"}}, Allow, Deny},
		{Request{Tool: "write_file", Writes: true, Paths: []string{"SRC/Gen/x"}}, Allow, Deny},
	} {
		for folds, want := range map[bool]Action{false: c.other, true: c.same} {
			p.FoldsCase = folds
			if v := p.Judge(c.request); v.Action != want {
				t.Errorf("%+v, folded %v: %v (%s), want %v", c.request, folds, v.Action, v.Reason, want)
			}
		}
	}
	if v := judge(p, "cat .ENV"); v.Action != Ask {
		t.Errorf("a secret in capitals: %+v", v)
	}
}
