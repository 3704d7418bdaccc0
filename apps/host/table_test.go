package host

import (
	"slices"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/apps/host/internal/moves"
	"github.com/scorel/scorel/apps/host/internal/projects"
	"github.com/scorel/scorel/apps/host/internal/sessions"
	"github.com/scorel/scorel/packages/protocol/api"
)

// TestEveryRequestIsServedBehindItsGrant walks the table: each line has a
// handler, each handler a line, and without the grant the request is refused
// before its handler sees it.
func TestEveryRequestIsServedBehindItsGrant(t *testing.T) {
	w := &wiring{Host: &Host{sessions: &sessions.Manager{}, moves: moves.New(new(moves.Records), moves.Options{})}, projectAPI: projects.New(projects.Options{})}
	served := map[string]bool{}
	for _, e := range w.endpoints() {
		served[e.Name] = true
	}
	d := dispatch.New(dispatch.Options{Endpoints: w.endpoints()})
	for _, spec := range api.Table() {
		if !served[spec.Name] {
			t.Errorf("%s has no handler", spec.Name)
		}
		delete(served, spec.Name)
		if spec.Grant == "" {
			t.Errorf("%s names no grant", spec.Name)
		}
		all := append(api.AllGrants(), api.GrantLocal, api.GrantRules, api.GrantShell, api.GrantMove)
		without := slices.DeleteFunc(slices.Clone(all), func(g api.Grant) bool { return g == spec.Grant })
		if _, refusal := d.NewConn("", without, nil).Admit(spec.Name); refusal == nil {
			t.Errorf("%s is served without the grant %s", spec.Name, spec.Grant)
		}
		if _, refusal := d.NewConn("", []api.Grant{spec.Grant}, nil).Admit(spec.Name); refusal != nil {
			t.Errorf("%s is refused with its grant: %s", spec.Name, refusal)
		}
	}
	for name := range served {
		t.Errorf("the handler of %s is not in the table", name)
	}
}

// TestNoClientGetsTheLocalGrant: what only this machine may do is never given away.
func TestNoClientGetsTheLocalGrant(t *testing.T) {
	for name, grants := range map[string][]api.Grant{"pairing": api.AllGrants(), "set_grant": api.ExtraGrants()} {
		if slices.Contains(grants, api.GrantLocal) {
			t.Errorf("%s gives the local grant", name)
		}
	}
}
