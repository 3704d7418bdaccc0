package dispatch

import (
	"testing"

	"github.com/scorel/scorel/packages/protocol/api"
)

// TestWhoCountsAsLooking: only a person who may act on the session counts, and only while they
// see it. A guest and a token do not.
func TestWhoCountsAsLooking(t *testing.T) {
	all := Access{Grants: []api.Grant{api.GrantView, api.GrantPrompt, api.GrantApprove}}
	for name, c := range map[string]struct {
		client string
		access Access
		shows  bool
		hidden []string
		away   bool
		want   bool
	}{
		"a person":       {"cli_a", all, true, nil, false, true},
		"a view only":    {"cli_a", Access{Grants: []api.Grant{api.GrantView, api.GrantPrompt}}, true, nil, false, false},
		"a guest":        {"gst_a", Access{SessionID: "s", Grants: all.Grants}, true, nil, false, false},
		"a token":        {"tok_a", all, true, nil, false, false},
		"a program":      {"cli_a", all, false, nil, false, false},
		"out of sight":   {"cli_a", all, true, []string{"s"}, false, false},
		"another hidden": {"cli_a", all, true, []string{"t"}, false, true},
		"nobody there":   {"cli_a", all, true, nil, true, false},
	} {
		conn := &Conn{clientID: c.client, access: c.access}
		conn.Shows("s", c.shows)
		conn.SetHidden(c.hidden)
		conn.SetAway(c.away)
		if got := conn.looksAt(api.GrantApprove, "s"); got != c.want || conn.looksAt(api.GrantApprove, "other") {
			t.Errorf("%s: %t", name, got)
		}
	}
}
