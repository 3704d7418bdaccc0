package host

import (
	"context"
	"slices"
	"testing"

	"github.com/scorel/scorel/packages/protocol/api"
)

// TestEveryRequestIsServedBehindItsGrant walks the table: each line has a
// handler, each handler a line, and without the grant the request is refused
// before its handler sees it.
func TestEveryRequestIsServedBehindItsGrant(t *testing.T) {
	h := &Host{}
	served := h.handlers()
	h.serve = map[string]handler{}
	for _, spec := range api.Table() {
		if served[spec.Name] == nil {
			t.Errorf("%s has no handler", spec.Name)
		}
		delete(served, spec.Name)
		if spec.Grant == "" {
			t.Errorf("%s names no grant", spec.Name)
		}
		h.serve[spec.Name] = func(context.Context, *conn, string, []byte) (any, error) { return api.Empty{}, nil }
		message := []byte(`{"type":"` + spec.Name + `","requestId":"1"}`)
		all := append(api.AllGrants(), api.GrantLocal)
		without := slices.DeleteFunc(slices.Clone(all), func(g api.Grant) bool { return g == spec.Grant })
		if _, refusal := (&conn{host: h, grants: without}).parse(message); refusal == nil {
			t.Errorf("%s is served without the grant %s", spec.Name, spec.Grant)
		}
		if _, refusal := (&conn{host: h, grants: []api.Grant{spec.Grant}}).parse(message); refusal != nil {
			t.Errorf("%s is refused with its grant: %s", spec.Name, refusal)
		}
	}
	for name := range served {
		t.Errorf("the handler of %s is not in the table", name)
	}
}

// TestNoClientGetsTheLocalGrant: what only this machine may do is never given away.
func TestNoClientGetsTheLocalGrant(t *testing.T) {
	if slices.Contains(api.AllGrants(), api.GrantLocal) {
		t.Fatal("clients are given the local grant")
	}
}
