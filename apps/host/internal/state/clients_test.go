package state

import (
	"crypto/rand"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
)

// TestClientsGetTheRulesGrantOnlyWhenGiven: neither pairing nor a list from before the
// grant existed includes it, and pairing again removes it.
func TestClientsGetTheRulesGrantOnlyWhenGiven(t *testing.T) {
	keys, err := ident.Generate(ident.KindClient, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	id, path := keys.ID(), filepath.Join(t.TempDir(), "clients.json")
	older, err := json.Marshal(clientsFile{Clients: []Client{{ID: id, Public: keys.Public(), Label: "phone", Grants: api.AllGrants()}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, older, 0o600); err != nil {
		t.Fatal(err)
	}
	has := func(when string, want bool) *Clients {
		t.Helper()
		clients, err := LoadClients(path)
		if err != nil {
			t.Fatal(err)
		}
		if client, ok := clients.Get(id); !ok || slices.Contains(client.Grants, api.GrantRules) != want {
			t.Errorf("%s: %+v", when, client)
		}
		return clients
	}
	set := func(given, changes bool) {
		t.Helper()
		_, found, changed, err := has("before", given != changes).SetGrant(id, api.GrantRules, given, always)
		if err != nil || !found || changed != changes {
			t.Errorf("given %t: found %t, changed %t, %v", given, found, changed, err)
		}
	}
	set(false, false)
	set(true, true)
	set(true, false)
	set(false, true)
	set(true, true)
	if err := has("kept", true).Add(id, keys.Public(), "phone"); err != nil {
		t.Fatal(err)
	}
	has("paired again", false)
}

// TestOlderClientsGetTheFilesGrant: whoever was paired before the grant existed has it,
// until it is revoked, which lasts.
func TestOlderClientsGetTheFilesGrant(t *testing.T) {
	path := filepath.Join(t.TempDir(), "clients.json")
	var ids []ident.ID
	var older clientsFile
	for _, grants := range [][]api.Grant{{api.GrantView, api.GrantPrompt, api.GrantApprove, api.GrantManage}, {api.GrantView}} {
		keys, err := ident.Generate(ident.KindClient, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, keys.ID())
		older.Clients = append(older.Clients, Client{ID: keys.ID(), Public: keys.Public(), Grants: grants})
	}
	data, err := json.Marshal(older)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	has := func(id ident.ID) bool {
		clients, err := LoadClients(path)
		if err != nil {
			t.Fatal(err)
		}
		client, _ := clients.Get(id)
		return slices.Contains(client.Grants, api.GrantFiles)
	}
	if !has(ids[0]) || has(ids[1]) {
		t.Errorf("with prompt %t, without %t", has(ids[0]), has(ids[1]))
	}
	clients, err := LoadClients(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, found, changed, err := clients.SetGrant(ids[0], api.GrantFiles, false, always); err != nil || !found || !changed {
		t.Fatalf("found %t, changed %t, %v", found, changed, err)
	}
	if has(ids[0]) {
		t.Error("the grant is back after it was revoked")
	}
}

// TestClientsRememberWhenTheyWereSeen: the time is cut to the minute, survives a restart,
// never goes back, and the file is written at most once a minute.
func TestClientsRememberWhenTheyWereSeen(t *testing.T) {
	keys, err := ident.Generate(ident.KindClient, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	id, path := keys.ID(), filepath.Join(t.TempDir(), "clients.json")
	clients, err := LoadClients(path)
	if err != nil {
		t.Fatal(err)
	}
	noon := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	if err := clients.Saw(id, noon); err != nil {
		t.Fatal(err)
	}
	if _, known := clients.Get(id); known {
		t.Fatal("a stranger is on the list because it was seen")
	}
	if err := clients.Add(id, keys.Public(), "phone"); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		at, want time.Time
		writes   bool
	}{
		{noon.Add(59 * time.Second), noon, true},
		{noon.Add(5 * time.Second), noon, false},
		{noon.Add(90 * time.Second), noon.Add(time.Minute), true},
		{noon, noon.Add(time.Minute), false},
	} {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := clients.Saw(id, step.at); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path); (err == nil) != step.writes {
			t.Errorf("seen at %s: written %t, want %t", step.at, err == nil, step.writes)
		}
		if _, _, _, err := clients.SetGrant(id, api.GrantRules, step.writes, always); err != nil { // writes the file in any case
			t.Fatal(err)
		}
		again, err := LoadClients(path)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := again.Get(id); got.LastSeen != step.want.UnixMilli() {
			t.Errorf("seen at %s: remembered %s", step.at, time.UnixMilli(got.LastSeen).UTC())
		}
	}
}

// TestOlderHostsRefuseLimitedClients: a host that knows no limits does not find a limited
// client among those that it admits, and this one finds them in the order of their pairing.
func TestOlderHostsRefuseLimitedClients(t *testing.T) {
	path := filepath.Join(t.TempDir(), "clients.json")
	clients, err := LoadClients(path)
	if err != nil {
		t.Fatal(err)
	}
	var ids []ident.ID
	for _, limits := range []api.ClientLimits{{Projects: []string{"prj_1"}}, {}, {ExpiresAt: 1}} {
		keys, err := ident.Generate(ident.KindClient, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, keys.ID())
		if _, err := clients.Admit(Client{ID: keys.ID(), Public: keys.Public(), Grants: api.AllGrants(), ClientLimits: limits}); err != nil {
			t.Fatal(err)
		}
	}
	var older struct{ Clients []Client }
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &older); err != nil {
		t.Fatal(err)
	}
	if len(older.Clients) != 1 || older.Clients[0].ID != ids[1] {
		t.Errorf("an older host admits %+v", older.Clients)
	}
	again, err := LoadClients(path)
	if err != nil {
		t.Fatal(err)
	}
	var loaded []ident.ID
	for _, client := range again.List() {
		loaded = append(loaded, client.ID)
	}
	if len(loaded) != 3 || !slices.Contains(loaded, ids[0]) {
		t.Errorf("loaded %v", loaded)
	}
	if client, _ := again.Get(ids[2]); !client.Expired(time.Now()) || !slices.Equal(again.list[slices.Index(loaded, ids[0])].Projects, []string{"prj_1"}) {
		t.Errorf("the limits are lost: %+v", again.List())
	}
}

func always(Client) error { return nil }

// TestAdmittingIsUndone: a client that was known gets back what it had, unless it was removed
// or admitted again meanwhile.
func TestAdmittingIsUndone(t *testing.T) {
	clients, err := LoadClients(filepath.Join(t.TempDir(), "clients.json"))
	if err != nil {
		t.Fatal(err)
	}
	keys, err := ident.Generate(ident.KindClient, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	admit := func(grants ...api.Grant) (undo func() error) {
		t.Helper()
		undo, err := clients.Admit(Client{ID: keys.ID(), Public: keys.Public(), Label: "phone", Grants: grants})
		if err != nil {
			t.Fatal(err)
		}
		return undo
	}
	undone := func(undo func() error, want ...api.Grant) {
		t.Helper()
		if err := undo(); err != nil {
			t.Fatal(err)
		}
		if got, _ := clients.Get(keys.ID()); !slices.Equal(got.Grants, want) {
			t.Errorf("it has %q, want %q", got.Grants, want)
		}
	}
	undone(admit(api.GrantView))
	admit(api.GrantView)
	again := admit(api.GrantView, api.GrantPrompt)
	undone(again, api.GrantView)
	undone(again, api.GrantView)
	late := admit(api.GrantPrompt)
	admit(api.GrantView, api.GrantFiles)
	undone(late, api.GrantView, api.GrantFiles)
	late = admit(api.GrantPrompt)
	if _, err := clients.Remove(keys.ID()); err != nil {
		t.Fatal(err)
	}
	undone(late)
}
