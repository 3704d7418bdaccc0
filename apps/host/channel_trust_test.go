package host_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/packages/protocol/api"
)

// TestChannelServerStopsWithItsTrust: the channel server of a project is stopped at once when the
// trust in the project is taken back, not at the next turn.
func TestChannelServerStopsWithItsTrust(t *testing.T) {
	t.Parallel()
	s := &talkScene{scene: newScene(t, nil), t: t}
	file, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"talk": map[string]any{"command": thisProgram(t), "env": map[string]string{channelServer: "plain"}}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.folder, ".mcp.json"), file, 0o600); err != nil {
		t.Fatal(err)
	}
	s.c = dial(t, start(t, host.Config{Home: s.home, Projects: []string{s.folder}}), func(api.EventEnvelope) {})
	s.project = call(t, s.c, api.ListProjects, api.Empty{}).Projects[0].ID
	call(t, s.c, api.TrustProject, api.TrustProjectRequest{ProjectID: s.project, Trusted: true})
	listed := call(t, s.c, api.ListMCPServers, api.ListMCPServersRequest{ProjectID: s.project}).Servers
	call(t, s.c, api.DecideMCPServer, api.DecideMCPServerRequest{ProjectID: s.project, Name: "talk", Hash: listed[0].Hash, Allow: true})
	request := api.AddChannelRequest{ClientKey: "k", Kind: "mcp", Settings: map[string]string{"server": "talk", "project": s.project}}
	s.channel = call(t, s.c, api.AddChannel, request).Channel
	s.state(api.ChannelConnected)
	call(t, s.c, api.TrustProject, api.TrustProjectRequest{ProjectID: s.project})
	s.state(api.ChannelFailed)
	if err := s.ask(t.Context(), "GET", "/said?after=0", nil, nil); err == nil {
		t.Error("the server runs on in a folder that is not trusted")
	}
	call(t, s.c, api.TrustProject, api.TrustProjectRequest{ProjectID: s.project, Trusted: true})
	s.state(api.ChannelConnected)
}
