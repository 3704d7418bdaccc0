// Package webhooktest is a server for the webhook platform, for tests: it is the server that
// docs/channels.md describes, with a chat program in memory behind it.
package webhooktest

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host/internal/channel"
	"github.com/scorel/scorel/apps/host/internal/channel/channeltest"
	"github.com/scorel/scorel/apps/host/internal/channel/webhook"
)

// Server checks signatures, refuses what was sent before, and keeps the platform of channeltest
// behind them.
type Server struct {
	*channeltest.Memory
	// Forge changes the signature of each event. It is set before the first request.
	Forge func(signature string) string
	// Step is called when a request arrived, and when it was handled and not answered yet. It
	// is set before the first request.
	Step func(path string)

	server *httptest.Server
	mu     sync.Mutex
	nonces map[string]bool
	base   channel.Platform
}

// URL is the address of the server, for a setting of the platform. Its secret is
// channeltest.Token.
func (f *Server) URL() string { return f.server.URL + "/hook/" }

// Start runs a server until the test ends.
func Start(t *testing.T) *Server {
	f := &Server{Memory: channeltest.NewMemory(), nonces: map[string]bool{}, Forge: func(s string) string { return s }, Step: func(string) {}}
	f.SetLimits(channel.Limits{Text: 16 << 10, Units: func(s channel.Segment) int { return len(s.Text) }, Edits: true, Buttons: true, Idempotent: true, File: channel.MaxFile})
	f.base = f.Memory
	f.server = httptest.NewServer(http.HandlerFunc(f.serve))
	t.Cleanup(func() {
		f.server.CloseClientConnections()
		f.server.Close()
	})
	return f
}

// New implements channeltest.Fake.
func (f *Server) New(t *testing.T, token string) channel.Platform {
	p, err := webhook.New(webhook.Options{URL: f.URL(), Secret: token})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Edit implements channeltest.Fake: it is that of a person.
func (f *Server) Edit(chat channel.Chat, messageID, text string) bool {
	return f.Memory.Fake().Edit(chat, messageID, text)
}

func (f *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(io.LimitReader(r.Body, 40<<20))
	timestamp, nonce := r.Header.Get("Scorel-Timestamp"), r.Header.Get("Scorel-Nonce")
	f.mu.Lock()
	known := f.nonces[nonce]
	f.nonces[nonce] = true
	f.mu.Unlock()
	at, _ := strconv.ParseInt(timestamp, 10, 64)
	fresh := time.Since(time.Unix(at, 0)).Abs() < 5*time.Minute
	if known || !fresh || r.Header.Get("Scorel-Signature") != webhook.Sign([]byte(channeltest.Token), timestamp, nonce, r.Method, r.URL.RequestURI(), body) {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	f.Step(r.URL.Path)
	defer f.Step(r.URL.Path)
	switch r.URL.Path {
	case "/hook/check":
		_, _ = io.WriteString(w, `{"id":"1","name":"@hook"}`)
	case "/hook/events":
		f.events(w, r)
	case "/hook/send", "/hook/edit":
		f.post(w, r, body)
	case "/hook/file":
		file, err := f.base.Fetch(r.Context(), channel.File{Ref: r.URL.Query().Get("ref")})
		if err == nil {
			_, _ = io.Copy(w, file)
		}
	case "/hook/answer":
		_, _ = io.WriteString(w, `{}`)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// stream writes updates to a client; Take is called by the platform in memory.
type stream struct {
	w     http.ResponseWriter
	forge func(string) string
}

func (s stream) Connected() {
	_, _ = io.WriteString(s.w, ": hello\n\n")
	_ = http.NewResponseController(s.w).Flush()
}

func (s stream) event(id string, u channel.Update) error {
	u.Cursor = nil
	data, err := json.Marshal(u)
	if err != nil {
		return err
	}
	signature := s.forge(webhook.SignEvent([]byte(channeltest.Token), id, data))
	if _, err := fmt.Fprintf(s.w, "id: %s\ndata: {\"update\":%s,\"signature\":%q}\n\n", id, data, signature); err != nil {
		return err
	}
	return http.NewResponseController(s.w).Flush()
}

func (f *Server) events(w http.ResponseWriter, r *http.Request) {
	_ = f.base.Run(r.Context(), []byte(r.URL.Query().Get("after")), numbered{stream{w, f.Forge}})
}

// numbered gives events the position after them.
type numbered struct {
	stream
}

func (n numbered) Take(_ context.Context, u channel.Update) error {
	return n.event(string(u.Cursor), u)
}

func (f *Server) post(w http.ResponseWriter, r *http.Request, body []byte) {
	var m struct {
		Key, Chat, ID string
		Parts         []struct{ Kind, Text, Lang string }
		Buttons       []channel.Button
		File          *struct{ Name, MIME, Data string }
	}
	if err := json.Unmarshal(body, &m); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	out := channel.Outgoing{Key: m.Key, Buttons: m.Buttons}
	kinds := []string{"text", "bold", "code", "block"}
	for _, p := range m.Parts {
		out.Text = append(out.Text, channel.Segment{Kind: channel.Kind(slices.Index(kinds, p.Kind)), Text: p.Text, Lang: p.Lang})
	}
	if m.File != nil {
		data, _ := base64.StdEncoding.DecodeString(m.File.Data)
		out.File = &channel.Upload{Name: m.File.Name, Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }}
	}
	id, err := m.ID, error(nil)
	if m.ID != "" {
		err = f.base.Edit(r.Context(), m.Chat, m.ID, out)
	} else {
		id, err = f.base.Send(r.Context(), m.Chat, out)
	}
	answer(w, id, err)
}

func answer(w http.ResponseWriter, id string, err error) {
	var limited *channel.RateLimited
	switch {
	case err == nil:
		_ = json.NewEncoder(w).Encode(map[string]string{"id": id})
	case errors.As(err, &limited):
		w.Header().Set("Retry-After", strconv.Itoa(int(limited.After/time.Second)))
		w.WriteHeader(http.StatusTooManyRequests)
	case errors.Is(err, channel.ErrChatGone):
		w.WriteHeader(http.StatusGone)
	case errors.Is(err, channel.ErrMessageGone):
		w.WriteHeader(http.StatusNotFound)
	case errors.Is(err, channel.ErrRejected):
		w.WriteHeader(http.StatusUnprocessableEntity)
	default:
		w.WriteHeader(http.StatusBadGateway)
	}
}
