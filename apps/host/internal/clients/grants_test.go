package clients_test

import (
	"crypto/rand"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host/internal/dispatch/dispatchtest"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
)

// admit puts a client with some grants and limits on the list.
func admit(t *testing.T, h *dispatchtest.Host, limits api.ClientLimits, grants ...api.Grant) ident.ID {
	t.Helper()
	keys, err := ident.Generate(ident.KindClient, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Clients.Admit(state.Client{ID: keys.ID(), Public: keys.Public(), Label: "x", Grants: grants, ClientLimits: limits}); err != nil {
		t.Fatal(err)
	}
	return keys.ID()
}

func grantOf(id ident.ID, grant api.Grant) api.SetGrantRequest {
	return api.SetGrantRequest{ClientID: id, Grant: grant, Given: true}
}

func limitsOf(id ident.ID, expiresAt int64, projects ...string) api.SetLimitsRequest {
	return api.SetLimitsRequest{ClientID: id, ClientLimits: api.ClientLimits{Projects: projects, ExpiresAt: expiresAt}}
}

// TestNobodyRaisesTheirOwnGrants: neither a client, nor a token, nor a client with the help
// of another that has no more.
func TestNobodyRaisesTheirOwnGrants(t *testing.T) {
	h, _ := serve(t)
	project := h.AddProject().ID
	manager := admit(t, h, api.ClientLimits{}, api.GrantView, api.GrantManage)
	limited := admit(t, h, api.ClientLimits{Projects: []string{project}}, api.GrantView, api.GrantApprove)
	c := h.Connect(manager.String())
	for _, grant := range api.ClientGrants() {
		if grant != api.GrantView {
			dispatchtest.Refused(t, c, api.SetGrant, grantOf(manager, grant), api.KindNotAllowed)
		}
		if grant != api.GrantView && grant != api.GrantManage {
			dispatchtest.Refused(t, c, api.SetGrant, grantOf(limited, grant), api.KindNotAllowed)
		}
	}
	dispatchtest.Refused(t, c, api.SetLimits, limitsOf(manager, 0), api.KindNotAllowed)
	dispatchtest.Refused(t, c, api.SetLimits, limitsOf(limited, 0), api.KindNotAllowed) // it would extend "approve"
	dispatchtest.Refused(t, h.Connect("program", api.AllGrants()...), api.SetGrant, grantOf(limited, api.GrantPrompt), api.KindNotAllowed)
	dispatchtest.Call(t, c, api.SetGrant, grantOf(limited, api.GrantManage))
	dispatchtest.Call(t, c, api.SetGrant, api.SetGrantRequest{ClientID: limited, Grant: api.GrantApprove})
	got := dispatchtest.Call(t, c, api.SetLimits, limitsOf(limited, 0)).Client
	if !slices.Equal(got.Grants, []api.Grant{api.GrantView, api.GrantManage}) || got.Projects != nil {
		t.Errorf("the client has %+v", got)
	}
}

// TestALimitedManager: a client with "manage" reaches only clients within its own projects,
// and gives no access for longer than its own.
func TestALimitedManager(t *testing.T) {
	h, _ := serve(t)
	mine, other := h.AddProject().ID, h.AddProject().ID
	soon, later := time.Now().Add(time.Hour).UnixMilli(), time.Now().Add(2*time.Hour).UnixMilli()
	all := api.AllGrants()
	manager := admit(t, h, api.ClientLimits{Projects: []string{mine}, ExpiresAt: soon}, all...)
	within := admit(t, h, api.ClientLimits{Projects: []string{mine}, ExpiresAt: soon}, api.GrantView)
	longer := admit(t, h, api.ClientLimits{Projects: []string{mine}}, api.GrantView)
	c := h.Connect(manager.String())
	for _, beyond := range []ident.ID{admit(t, h, api.ClientLimits{}, all...), admit(t, h, api.ClientLimits{Projects: []string{mine, other}}, all...)} {
		dispatchtest.Refused(t, c, api.RevokeClient, api.RevokeClientRequest{ClientID: beyond}, api.KindNotFound)
		dispatchtest.Refused(t, c, api.RenameClient, api.RenameClientRequest{ClientID: beyond, Label: "x"}, api.KindNotFound)
		dispatchtest.Refused(t, c, api.SetGrant, grantOf(beyond, api.GrantPrompt), api.KindNotFound)
		dispatchtest.Refused(t, c, api.SetLimits, limitsOf(beyond, soon, mine), api.KindNotFound)
	}
	var listed []ident.ID
	for _, client := range dispatchtest.Call(t, c, api.ListClients, api.Empty{}).Clients {
		listed = append(listed, client.ID)
	}
	if !slices.Equal(listed, []ident.ID{manager, within, longer}) {
		t.Errorf("it sees %v", listed)
	}
	dispatchtest.Refused(t, c, api.SetLimits, limitsOf(within, soon), api.KindNotAllowed)
	dispatchtest.Refused(t, c, api.SetLimits, limitsOf(within, later, mine), api.KindNotAllowed)
	dispatchtest.Refused(t, c, api.SetLimits, limitsOf(within, 0, mine), api.KindNotAllowed)
	dispatchtest.Refused(t, c, api.SetGrant, grantOf(longer, api.GrantPrompt), api.KindNotAllowed)
	dispatchtest.Call(t, c, api.SetGrant, grantOf(within, api.GrantPrompt))
	dispatchtest.Call(t, c, api.SetLimits, limitsOf(within, soon-1, mine))
	dispatchtest.Call(t, c, api.RevokeClient, api.RevokeClientRequest{ClientID: longer})
}

// TestLimitsAreChecked: no time in the past, no unknown project, and no terminals with a
// list of projects.
func TestLimitsAreChecked(t *testing.T) {
	h, _ := serve(t)
	project := h.AddProject().ID
	id, local := pair(t, h), h.Local()
	dispatchtest.Refused(t, local, api.SetLimits, limitsOf(id, time.Now().UnixMilli()), api.KindBadRequest)
	dispatchtest.Refused(t, local, api.SetLimits, limitsOf(id, 0, "prj_none"), api.KindNotFound)
	got := dispatchtest.Call(t, local, api.SetLimits, limitsOf(id, 0, project, project)).Client
	if !slices.Equal(got.Projects, []string{project}) {
		t.Errorf("%+v", got)
	}
	dispatchtest.Refused(t, local, api.SetGrant, grantOf(id, api.GrantShell), api.KindConflict)
	dispatchtest.Call(t, local, api.SetLimits, limitsOf(id, 0))
	dispatchtest.Call(t, local, api.SetGrant, grantOf(id, api.GrantShell))
	dispatchtest.Refused(t, local, api.SetLimits, limitsOf(id, 0, project), api.KindConflict)
}

// TestLimitsOutliveTheirProjects: the time of a client can be changed after one of its projects
// was removed.
func TestLimitsOutliveTheirProjects(t *testing.T) {
	h, _ := serve(t)
	stays, goes := h.AddProject().ID, h.AddProject().ID
	id, local := pair(t, h), h.Local()
	dispatchtest.Call(t, local, api.SetLimits, limitsOf(id, 0, stays, goes))
	if _, err := h.Projects.Remove(goes); err != nil {
		t.Fatal(err)
	}
	soon := time.Now().Add(time.Hour).UnixMilli()
	got := dispatchtest.Call(t, local, api.SetLimits, limitsOf(id, soon, stays, goes)).Client
	if !slices.Equal(got.Projects, []string{stays, goes}) || got.ExpiresAt != soon {
		t.Errorf("%+v", got)
	}
}

// TestGrantsAndLimitsChangeInOneStep: terminals and a list of projects exclude each other, also
// when they are given at the same moment.
func TestGrantsAndLimitsChangeInOneStep(t *testing.T) {
	h, _ := serve(t)
	project := h.AddProject().ID
	one, other := h.Local(), h.Local()
	for range 100 {
		id := pair(t, h)
		var changing sync.WaitGroup
		changing.Go(func() {
			_, _ = dispatchtest.Try(t, one, api.SetGrant, grantOf(id, api.GrantShell))
		})
		changing.Go(func() {
			_, _ = dispatchtest.Try(t, other, api.SetLimits, limitsOf(id, 0, project))
		})
		changing.Wait()
		got, _ := h.Clients.Get(id)
		if slices.Contains(got.Grants, api.GrantShell) == (len(got.Projects) > 0) {
			t.Fatalf("the client has %+v", got)
		}
		if _, err := h.Clients.Remove(id); err != nil {
			t.Fatal(err)
		}
	}
}
