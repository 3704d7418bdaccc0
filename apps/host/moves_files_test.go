package host_test

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

// TestMovingFilesNeedsTheirGrant: a connection that may not read files does not send them to another
// device either, not even those that another connection has prepared. Files that nobody reads over
// the API are not among the changes that are moved.
func TestMovingFilesNeedsTheirGrant(t *testing.T) {
	g := newGrove(t, map[string]string{"a.txt": "a\n"})
	for name, text := range map[string]string{"new.txt": "new\n", ".env": "KEY=secret\n"} {
		if err := os.WriteFile(filepath.Join(g.folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	id := sessionOf(t, newHTTPEntry(t, g.h, g.h.State().Token))
	addToken(t, g.h, "manage", api.GrantView, api.GrantPrompt, api.GrantManage)
	addToken(t, g.h, "files", api.GrantView, api.GrantManage, api.GrantFiles)
	manage, files := newHTTPEntry(t, g.h, "manage"), newHTTPEntry(t, g.h, "files")
	device, err := ident.Generate(ident.KindDevice, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	prepare := api.PrepareMoveRequest{SessionID: id, To: device.ID(), WithFiles: true}
	refused := func(path string, request any) {
		t.Helper()
		body, err := json.Marshal(request)
		if err != nil {
			t.Fatal(err)
		}
		status, answer := manage.post(path, string(body))
		wantHTTP(t, status, answer, 403, api.KindNotAllowed)
	}
	refused("/v1/prepare_move", prepare)
	move := ask[api.PrepareMoveResponse](files, "/v1/prepare_move", prepare).Move
	if want := filepath.Base(g.folder) + "/.env"; !slices.Equal(move.Skipped, []string{want}) {
		t.Errorf("left out: %q, not %q", move.Skipped, want)
	}
	refused("/v1/start_move", api.StartMoveRequest{
		MoveID: move.ID, Keys: api.DeviceKeys(device.Public()), Paths: []api.Path{{Kind: api.PathRelay, URL: "http://127.0.0.1:1"}}, Proof: api.BindingProof{Signature: []byte("x")},
	})
	ask[api.MoveResponse](files, "/v1/cancel_move", api.MoveRequest{MoveID: move.ID})
	prepare.WithFiles = false
	ask[api.PrepareMoveResponse](manage, "/v1/prepare_move", prepare)
}
