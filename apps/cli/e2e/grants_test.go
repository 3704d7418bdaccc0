package e2e

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
)

// TestTheRulesGrant: a paired client adds a rule that opens a lot only with the grant for it
// and only when it confirms the rule. A change holds at once in the connection that is open.
func TestTheRulesGrant(t *testing.T) {
	w := newWorld(t)
	e := w.pairEntry(t)
	id := e.keys.ID()
	c := w.open(t, e, nil)
	other := w.open(t, w.pairEntry(t), nil)
	const wide = "bash(tar *)"
	add := func(c *client.Client, confirm string) error {
		r := api.RuleRequest{Rule: wide, Kind: api.RuleAllow, ProjectID: w.project.ID, Confirm: confirm}
		_, err := client.Call(t.Context(), c, api.AddRule, r)
		return err
	}
	set := func(c *client.Client, id ident.ID, grant api.Grant, given bool) (api.Client, error) {
		r, err := client.Call(t.Context(), c, api.SetGrant, api.SetGrantRequest{ClientID: id, Grant: grant, Given: given})
		return r.Client, err
	}
	granted := func() []api.Grant { return ask(t, c, api.GetHost, api.Empty{}).Host.Grants }
	refused := func() {
		t.Helper()
		err := add(c, wide)
		if kindOf(err) != api.KindNotAllowed || !strings.Contains(err.Error(), "`scorel host clients grant "+id.String()+" rules`") {
			t.Errorf("without the grant: %v", err)
		}
	}

	refused()
	if _, err := set(c, id, api.GrantRules, true); kindOf(err) != api.KindNotAllowed {
		t.Errorf("a paired client gave itself a grant: %v", err)
	}
	for _, grant := range []api.Grant{api.GrantLocal, api.GrantView, "", "Rules"} {
		if _, err := set(w.local, id, grant, true); kindOf(err) != api.KindBadRequest {
			t.Errorf("%q: %v", grant, err)
		}
	}
	if _, err := set(w.local, newKeys(t).ID(), api.GrantRules, true); kindOf(err) != api.KindNotFound {
		t.Errorf("a client that is not there: %v", err)
	}
	for range 2 { // again changes nothing
		known, err := set(w.local, id, api.GrantRules, true)
		if want := append(api.AllGrants(), api.GrantRules); err != nil || !slices.Equal(known.Grants, want) || !slices.Equal(granted(), want) {
			t.Fatalf("%+v, %v, open connection %q", known, err, granted())
		}
	}
	if err := add(c, ""); kindOf(err) != api.KindUnconfirmed {
		t.Errorf("not confirmed: %v", err)
	}
	if err := add(c, wide); err != nil {
		t.Errorf("with the grant, confirmed: %v", err)
	}
	if err := add(other, wide); kindOf(err) != api.KindNotAllowed {
		t.Errorf("another client: %v", err)
	}
	if _, err := set(w.local, id, api.GrantRules, false); err != nil || !slices.Equal(granted(), api.AllGrants()) {
		t.Errorf("%v, open connection %q", err, granted())
	}
	refused()
}

func kindOf(err error) api.Kind {
	var refusal *api.Error
	if !errors.As(err, &refusal) {
		return api.KindUnknown
	}
	return refusal.Kind
}
