package chats

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host/internal/channel"
	"github.com/scorel/scorel/apps/host/internal/channel/channeltest"
	"github.com/scorel/scorel/apps/host/internal/dispatch/dispatchtest"
	"github.com/scorel/scorel/apps/host/internal/publicnet"
	"github.com/scorel/scorel/packages/protocol/api"
)

// keptNowhere are secrets that are not kept.
type keptNowhere struct{ noSecrets }

func (keptNowhere) Save(context.Context, string, string, string) (string, error) { return "", nil }

// TestClientsNameNoPrivateServer: only this machine's user adds a channel that connects to an address
// of the machine or its network. For others, that is refused at once where it is certain, and
// otherwise when the name is dialed. Channels of earlier versions connect to what they name.
func TestClientsNameNoPrivateServer(t *testing.T) {
	t.Parallel()
	h, folder := dispatchtest.New(t), t.TempDir()
	if _, err := newStore(filepath.Join(folder, "chn_1.json"), &record{ID: "chn_1", Kind: "webhook", Settings: map[string]string{"url": "http://127.0.0.1:1"}}); err != nil {
		t.Fatal(err)
	}
	var asked []bool // of each platform that was made, whether it connects to public addresses only
	c, err := New(Options{
		Logger: h.Log, Folder: folder, Secrets: keptNowhere{}, Projects: h.Projects, Hub: h.Hub, Now: time.Now, Giver: everyone,
		Open: func(_ string, _ map[string]string, public bool) (channel.Platform, error) {
			asked = append(asked, public)
			return unreachable{channeltest.NewMemory()}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	h.Serve(c.Endpoints())
	phone, local := h.Connect("phone", api.AllGrants()...), h.Local()
	add := func(setting, address string) api.AddChannelRequest {
		settings := map[string]string{"token": "1:abc", "secret": "0123456789abcdef"}
		if address != "" {
			settings[setting] = address
		}
		kind := map[string]string{"api": "telegram", "url": "webhook"}[setting]
		return api.AddChannelRequest{ClientKey: setting + address, Kind: kind, Settings: settings}
	}
	for _, address := range []string{"http://127.0.0.1:8080", "https://127.0.0.1", "https://[::1]", "http://localhost", "https://printer", "https://10.0.0.1/x", "https://169.254.169.254"} {
		for _, setting := range []string{"api", "url"} {
			_, err := dispatchtest.Try(t, phone, api.AddChannel, add(setting, address))
			if err == nil || !strings.Contains(err.Error(), "add it there with `scorel channel add`") {
				t.Errorf("%s %s: %v", setting, address, err)
			}
		}
	}
	if len(asked) > 0 {
		t.Error("a platform was made for a private server")
	}
	test := func(client *dispatchtest.Client, id string) {
		t.Helper()
		_, err := dispatchtest.Try(t, client, api.TestChannel, api.ChannelRequest{ID: id})
		if err == nil || !strings.Contains(err.Error(), "add it there with `scorel channel add`") {
			t.Errorf("a server that is found to be private when it is dialed: %v", err)
		}
	}
	for _, c := range []struct {
		by     *dispatchtest.Client
		server string
		public bool
	}{{phone, "https://example.com", true}, {phone, "", false}, {local, "https://example.com/local", false}, {local, "http://127.0.0.1:8080", false}} {
		asked = nil
		id := dispatchtest.Call(t, c.by, api.AddChannel, add("api", c.server)).Channel.ID
		test(local, id)
		if len(asked) != 2 || asked[0] != c.public || asked[1] != c.public {
			t.Errorf("%q: public addresses only: %v", c.server, asked)
		}
	}
	asked = nil
	test(phone, "chn_1")
	if len(asked) != 1 || asked[0] {
		t.Errorf("a channel of an earlier version connects to public addresses only: %v", asked)
	}
}

// unreachable is a platform whose server turns out to be private.
type unreachable struct{ *channeltest.Memory }

func (unreachable) Check(context.Context) (channel.Identity, error) {
	return channel.Identity{}, publicnet.ErrPrivate
}
