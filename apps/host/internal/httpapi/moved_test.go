package httpapi

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
)

// noSessions is a host that has no session.
type noSessions struct{}

func (noSessions) ResyncEvents(context.Context, *dispatch.Conn, api.ResyncEventsRequest, func(api.ResyncEventsResponse)) error {
	return state.UnknownSession("s")
}

func (noSessions) GetEntries(context.Context, *dispatch.Conn, api.GetEntriesRequest) (response api.GetEntriesResponse, err error) {
	return response, state.UnknownSession("s")
}

func (noSessions) SendPrompt(context.Context, *dispatch.Conn, api.SendPromptRequest) (response api.SendPromptResponse, err error) {
	return response, state.UnknownSession("s")
}

// allMoved is a host whose session "moved" is on another one.
type allMoved struct{}

func (allMoved) Any() bool { return true }
func (allMoved) Refusal(id string, _ api.Grant) *api.Error {
	if id != "moved" {
		return nil
	}
	return api.Errorf(api.KindMoved, "the session was moved to another device")
}

// TestAMovedSessionByHTTP: a stream and a wait are told of a move as other requests are.
func TestAMovedSessionByHTTP(t *testing.T) {
	home := t.TempDir()
	clients, err := state.LoadClients(filepath.Join(home, "clients.json"))
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := state.LoadTokens(filepath.Join(home, "tokens.json"))
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	sessions := noSessions{}
	s := New(Options{Logger: log, Sessions: sessions, Tokens: tokens, LocalToken: "secret", Dispatcher: dispatch.New(dispatch.Options{
		Logger: log, Hub: dispatch.NewHub(log, clients), Tokens: tokens, Unwatched: func() {}, Moves: allMoved{},
		Endpoints: []dispatch.Endpoint{
			dispatch.Serve(api.ResyncEvents, func(context.Context, *dispatch.Conn, api.ResyncEventsRequest) (r api.ResyncEventsResponse, err error) {
				return r, state.UnknownSession("s")
			}),
			dispatch.Serve(api.GetEntries, sessions.GetEntries), dispatch.Serve(api.SendPrompt, sessions.SendPrompt),
		},
	})})
	server := httptest.NewServer(s.routes())
	t.Cleanup(server.Close)
	for id, want := range map[string]int{"moved": http.StatusGone, "unknown": http.StatusNotFound} {
		prompt := `{"sessionId": "` + id + `", "clientKey": "k", "text": "hello"}`
		for _, r := range []struct{ method, path, body string }{
			{http.MethodGet, "/v1/sessions/" + id + "/events", ""},
			{http.MethodPost, "/v1/send_prompt", prompt},
			{http.MethodPost, "/v1/send_prompt?wait=turn", prompt},
		} {
			request, err := http.NewRequestWithContext(t.Context(), r.method, server.URL+r.path, strings.NewReader(r.body))
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Authorization", "Bearer secret")
			request.Header.Set("Content-Type", "application/json")
			response, err := server.Client().Do(request)
			if err != nil {
				t.Fatal(err)
			}
			var failure api.HTTPFailure
			err = json.NewDecoder(response.Body).Decode(&failure)
			if _ = response.Body.Close(); err != nil || response.StatusCode != want {
				t.Errorf("%s: %d %+v %v, want %d", r.path, response.StatusCode, failure, err, want)
			}
		}
	}
}
