package cli

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// describing is a transport to a host that answers every request with its description.
type describing struct {
	host    api.HostInfo
	answers chan []byte
}

func (d describing) Send(_ context.Context, message []byte) error {
	var head api.RequestHead
	if err := json.Unmarshal(message, &head); err != nil {
		return err
	}
	answer, err := api.EncodeResponse(head.RequestID, api.GetHostResponse{Host: d.host})
	if err == nil {
		d.answers <- answer
	}
	return err
}

func (d describing) Receive(ctx context.Context) ([]byte, error) {
	select {
	case answer, ok := <-d.answers:
		if !ok {
			return nil, io.EOF
		}
		return answer, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (d describing) Close() error {
	close(d.answers)
	return nil
}

// TestAnOlderHostIsGivenNoLimits: it would ignore them, and give the client everything.
func TestAnOlderHostIsGivenNoLimits(t *testing.T) {
	path := api.Path{Kind: api.PathRelay, URL: "https://relay.example", State: api.PathConnected}
	view := []api.Grant{api.GrantView}
	for name, tt := range map[string]struct {
		paths   []api.Path
		grants  []api.Grant
		limits  api.ClientLimits
		refused bool
	}{
		"everything":        {},
		"some grants":       {grants: view, refused: true},
		"some projects":     {limits: api.ClientLimits{Projects: []string{"prj_a"}}, refused: true},
		"for a time":        {limits: api.ClientLimits{ExpiresAt: 1}, refused: true},
		"on a host of now":  {paths: []api.Path{path}, grants: view},
		"all of it, on one": {paths: []api.Path{path}},
	} {
		t.Run(name, func(t *testing.T) {
			c := client.New(describing{api.HostInfo{Paths: tt.paths}, make(chan []byte, 1)}, nil)
			defer c.Close()
			err := checkMayLimit(t.Context(), c, tt.grants, tt.limits)
			if (err != nil) != tt.refused || err != nil && !strings.Contains(err.Error(), "older version") {
				t.Errorf("got %v", err)
			}
		})
	}
}
