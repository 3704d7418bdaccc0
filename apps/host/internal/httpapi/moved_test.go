package httpapi

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
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

// oneSession is a host that has sessions, in which prompts wait.
type oneSession struct{ noSessions }

func (oneSession) ResyncEvents(_ context.Context, _ *dispatch.Conn, _ api.ResyncEventsRequest, reply func(api.ResyncEventsResponse)) error {
	reply(api.ResyncEventsResponse{Mode: api.ResyncFull})
	return nil
}

func (oneSession) SendPrompt(context.Context, *dispatch.Conn, api.SendPromptRequest) (api.SendPromptResponse, error) {
	return api.SendPromptResponse{State: api.PromptQueued}, nil
}

// leaving is a host whose sessions are on another one as soon as that is set.
type leaving struct{ gone atomic.Bool }

func (l *leaving) Any() bool { return l.gone.Load() }
func (l *leaving) Refusal(string, api.Grant) *api.Error {
	return api.Errorf(api.KindMoved, "the session was moved to desk")
}

// served runs the API of a host with sessions.
func served(t *testing.T, sessions Sessions, moves dispatch.Moves) (*httptest.Server, *dispatch.Hub) {
	t.Helper()
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
	hub := dispatch.NewHub(log, clients)
	s := New(Options{Logger: log, Sessions: sessions, Tokens: tokens, LocalToken: "secret", Dispatcher: dispatch.New(dispatch.Options{
		Logger: log, Hub: hub, Tokens: tokens, Unwatched: func() {}, Moves: moves,
		Endpoints: []dispatch.Endpoint{
			dispatch.Serve(api.ResyncEvents, func(context.Context, *dispatch.Conn, api.ResyncEventsRequest) (r api.ResyncEventsResponse, err error) {
				return r, state.UnknownSession("s")
			}),
			dispatch.Serve(api.GetEntries, sessions.GetEntries), dispatch.Serve(api.SendPrompt, sessions.SendPrompt),
		},
	})})
	server := httptest.NewServer(s.routes())
	t.Cleanup(server.Close)
	return server, hub
}

// send sends a request with the token of the host.
func send(t *testing.T, server *httptest.Server, method, path, body string) *http.Response {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer secret")
	request.Header.Set("Content-Type", "application/json")
	response, err := server.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	return response
}

// TestAStreamEndsWithItsSession: an open stream says that its session was moved or deleted, and ends.
// What happens to other sessions does not concern it.
func TestAStreamEndsWithItsSession(t *testing.T) {
	keys, err := ident.Generate(ident.KindDevice, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	desk := keys.ID()
	for want, notify := range map[string]func(hub *dispatch.Hub, id string){
		`event: session_moved` + "\n" + `data: {"type":"session_moved","id":"s","deviceId":"` + desk.String() + `"}` + "\n\n": func(hub *dispatch.Hub, id string) {
			hub.NotifyMoved("p", api.SessionMoved{ID: id, DeviceID: desk})
			hub.NotifyDeleted("p", id)
		},
		`event: session_deleted` + "\n" + `data: {"type":"session_deleted","id":"s"}` + "\n\n": func(hub *dispatch.Hub, id string) { hub.NotifyDeleted("p", id) },
	} {
		server, hub := served(t, oneSession{}, nil)
		stream := send(t, server, http.MethodGet, "/v1/sessions/s/events", "")
		reader := bufio.NewReader(stream.Body)
		for line := ""; line != "\n"; { // the answer to resync_events
			var err error
			if line, err = reader.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
		}
		notify(hub, "other")
		notify(hub, "s")
		if rest, err := io.ReadAll(reader); err != nil || string(rest) != want {
			t.Errorf("the stream ends with %q, %v", rest, err)
		}
	}
}

// TestAWaitEndsWithItsSession: a request that waits for a turn gets the answer that requests about a
// moved session get.
func TestAWaitEndsWithItsSession(t *testing.T) {
	moves := &leaving{}
	queued := make(chan struct{})
	server, hub := served(t, queueing{queued: queued}, moves)
	go func() {
		<-queued
		moves.gone.Store(true)
		hub.NotifyMoved("p", api.SessionMoved{ID: "other"})
		hub.NotifyMoved("p", api.SessionMoved{ID: "s"})
	}()
	response := send(t, server, http.MethodPost, "/v1/send_prompt?wait=turn", `{"sessionId": "s", "clientKey": "k", "text": "hello"}`)
	answer, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusGone || !strings.Contains(string(answer), "moved to desk") {
		t.Errorf("%d %s %v", response.StatusCode, answer, err)
	}
}

// queueing is oneSession that reports when a prompt is in the queue.
type queueing struct {
	oneSession
	queued chan struct{}
}

func (q queueing) SendPrompt(ctx context.Context, c *dispatch.Conn, r api.SendPromptRequest) (api.SendPromptResponse, error) {
	close(q.queued)
	return q.oneSession.SendPrompt(ctx, c, r)
}

// TestAMovedSessionByHTTP: a stream and a wait are told of a move as other requests are.
func TestAMovedSessionByHTTP(t *testing.T) {
	server, _ := served(t, noSessions{}, allMoved{})
	for id, want := range map[string]int{"moved": http.StatusGone, "unknown": http.StatusNotFound} {
		prompt := `{"sessionId": "` + id + `", "clientKey": "k", "text": "hello"}`
		for _, r := range []struct{ method, path, body string }{
			{http.MethodGet, "/v1/sessions/" + id + "/events", ""},
			{http.MethodPost, "/v1/send_prompt", prompt},
			{http.MethodPost, "/v1/send_prompt?wait=turn", prompt},
		} {
			response := send(t, server, r.method, r.path, r.body)
			var failure api.HTTPFailure
			if err := json.NewDecoder(response.Body).Decode(&failure); err != nil || response.StatusCode != want {
				t.Errorf("%s: %d %+v %v, want %d", r.path, response.StatusCode, failure, err, want)
			}
		}
	}
}
