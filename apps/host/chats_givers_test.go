package host_test

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
)

// TestChatEndsWithItsClient revokes the client that connected a chat.
func TestChatEndsWithItsClient(t *testing.T) {
	s := newChatScene(t, nil)
	s.before(func() {})
	phone, err := ident.Generate(ident.KindClient, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	paths := state.Paths{Home: s.home}
	clients, err := state.LoadClients(paths.Clients())
	if err != nil {
		t.Fatal(err)
	}
	if err := clients.Add(phone.ID(), phone.Public(), "phone"); err != nil {
		t.Fatal(err)
	}
	connectedBy(t, filepath.Join(paths.Channels(), s.channel+".json"), phone.ID())
	s.c = dial(t, start(t, s.cfg), func(api.EventEnvelope) {})
	s.fake.Say(group, ada, "/status")
	s.shows("This chat has no session yet")
	call(t, s.c, api.RevokeClient, api.RevokeClientRequest{ClientID: phone.ID()})
	if chats := s.chats(); len(chats) != 0 {
		t.Errorf("the chats are %+v", chats)
	}
	s.fake.Say(group, ada, "/status")
	s.shows("This chat is not connected.")
}

// connectedBy makes the only chat of a channel one that a client connected.
func connectedBy(t *testing.T, path string, id ident.ID) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := bytes.Replace(data, []byte(`"by":"host"`), fmt.Appendf(nil, `"by":%q`, id), 1)
	if bytes.Equal(changed, data) {
		t.Fatalf("%s does not say who connected the chat: %s", path, data)
	}
	if err := os.WriteFile(path, changed, 0o600); err != nil {
		t.Fatal(err)
	}
}
