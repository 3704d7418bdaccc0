package state

import (
	"crypto/rand"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

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
	older, err := json.Marshal(clientsFile{0, []Client{{ID: id, Public: keys.Public(), Label: "phone", Grants: api.AllGrants()}}})
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
		_, found, changed, err := has("before", given != changes).SetGrant(id, api.GrantRules, given)
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
	if _, found, changed, err := clients.SetGrant(ids[0], api.GrantFiles, false); err != nil || !found || !changed {
		t.Fatalf("found %t, changed %t, %v", found, changed, err)
	}
	if has(ids[0]) {
		t.Error("the grant is back after it was revoked")
	}
}
