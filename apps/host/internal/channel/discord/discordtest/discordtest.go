// Package discordtest is a fake of Discord for tests. It enforces what the platform documents.
package discordtest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/scorel/scorel/apps/host/internal/channel"
	"github.com/scorel/scorel/apps/host/internal/channel/channeltest"
	"github.com/scorel/scorel/apps/host/internal/channel/discord"
	"github.com/scorel/scorel/apps/host/internal/channel/gateway/gatewaytest"
)

// BotID is the account of the bot.
const BotID = "999"

// Fake is Discord: the HTTP API with the limits of its documentation, and the gateway.
type Fake struct {
	channeltest.Screen
	server *httptest.Server
	Gate   *gatewaytest.Gateway

	nextID  int
	Said    map[string]map[string]any // by id, of people
	order   []string
	files   map[string][]byte
	nonces  map[string]string
	pressed map[string]bool
	Guild   map[string]map[string]any // channels of a server, by id
}

// Start runs a fake until the test ends.
func Start(t *testing.T) *Fake {
	f := &Fake{
		nextID: 1000, Said: map[string]map[string]any{}, files: map[string][]byte{}, Screen: channeltest.NewScreen(),
		nonces: map[string]string{}, pressed: map[string]bool{}, Guild: map[string]map[string]any{},
	}
	f.Gate = gatewaytest.New(t, gatewaytest.Options{
		Token: channeltest.Token, Unauthorized: 4004, Step: f.Reached,
		Ready: map[string]any{"user": map[string]any{"id": BotID, "username": "scorel", "bot": true}},
	})
	f.server = httptest.NewServer(f.Steps(f.serve))
	t.Cleanup(f.server.Close)
	return f
}

// URL is the address of the API, for a setting of the platform.
func (f *Fake) URL() string { return f.server.URL }

// New implements channeltest.Fake.
func (f *Fake) New(t *testing.T, token string) channel.Platform {
	p, err := discord.New(discord.Options{Token: token, API: f.server.URL})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// failure is an answer to a request that failed.
type failure struct {
	status, code int
	text         string
}

func (f *Fake) serve(w http.ResponseWriter, r *http.Request) {
	f.Lock()
	defer f.Unlock()
	if name, is := strings.CutPrefix(r.URL.Path, "/files/"); is {
		_, _ = w.Write(f.files[name])
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if r.Header.Get("Authorization") != "Bot "+channeltest.Token {
		refuse(w, &failure{401, 0, "401: Unauthorized"})
		return
	}
	result, failed := f.call(r, strings.Split(strings.Trim(r.URL.Path, "/"), "/"))
	if failed != nil {
		if failed.status == 429 {
			w.Header().Set("Retry-After", strconv.Itoa(failed.code))
		}
		refuse(w, failed)
		return
	}
	if result == nil {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	_ = json.NewEncoder(w).Encode(result)
}

func refuse(w http.ResponseWriter, failed *failure) {
	w.WriteHeader(failed.status)
	answer := map[string]any{"message": failed.text, "code": failed.code}
	if failed.status == 429 {
		answer = map[string]any{"message": failed.text, "retry_after": float64(failed.code), "global": false}
	}
	_ = json.NewEncoder(w).Encode(answer)
}

func (f *Fake) call(r *http.Request, path []string) (any, *failure) {
	switch {
	case r.URL.Path == "/users/@me":
		return map[string]any{"id": BotID, "username": "scorel", "bot": true}, nil
	case r.URL.Path == "/gateway/bot":
		return map[string]any{"url": f.Gate.URL}, nil
	case len(path) == 4 && path[0] == "interactions" && path[3] == "callback":
		return nil, f.answer(r, path[1], path[2])
	case len(path) >= 2 && path[0] == "channels" && f.Gone[path[1]]:
		return nil, &failure{403, 50001, "Missing Access"}
	case len(path) == 2 && path[0] == "channels":
		if at := f.Guild[path[1]]; at != nil {
			return at, nil
		}
		return map[string]any{"id": path[1], "type": 1}, nil
	case len(path) == 3 && path[2] == "messages" && r.Method == http.MethodGet:
		return f.history(path[1], r), nil
	case len(path) == 4 && path[2] == "messages" && r.Method == http.MethodGet:
		if m := f.Said[path[3]]; m != nil && m["channel_id"] == path[1] {
			return m, nil
		}
		return nil, &failure{404, 10008, "Unknown Message"}
	case len(path) == 3 && path[2] == "messages" && r.Method == http.MethodPost, len(path) == 4 && path[2] == "messages" && r.Method == http.MethodPatch:
		return f.post(r, path)
	}
	return nil, &failure{404, 0, "404: Not Found"}
}

func (f *Fake) history(chat string, r *http.Request) []map[string]any {
	after, _ := strconv.Atoi(r.URL.Query().Get("after"))
	limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
	page := []map[string]any{}
	for _, id := range f.order {
		m := f.Said[id]
		if n, _ := strconv.Atoi(id); m != nil && n > after && m["channel_id"] == chat && len(page) < min(limit, 100) {
			m = copied(m)
			delete(m, "guild_id") // the history does not say it
			page = append(page, m)
		}
	}
	slices.Reverse(page) // the newest first
	return page
}

func copied(m map[string]any) map[string]any {
	out := map[string]any{}
	for k, v := range m {
		out[k] = v
	}
	return out
}

func (f *Fake) answer(r *http.Request, id, token string) *failure {
	var answer struct {
		Type int
		Data struct {
			Content string
			Flags   int
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&answer); err != nil || answer.Type != 6 && (answer.Type != 4 || answer.Data.Content == "" || answer.Data.Flags&64 == 0) {
		return &failure{400, 50035, "Invalid Form Body"}
	}
	if !f.pressed[id+"/"+token] {
		return &failure{404, 10062, "Unknown interaction"}
	}
	delete(f.pressed, id+"/"+token)
	return nil
}

// posted is what a bot sends.
type posted struct {
	Content    string
	Nonce      string
	Enforce    bool `json:"enforce_nonce"`
	Components []struct {
		Type       int
		Components []struct {
			Type, Style int
			Label       string
			ID          string `json:"custom_id"`
		}
	}
	Mentions *struct{ Parse []string } `json:"allowed_mentions"`
	Files    []struct {
		ID       int
		Filename string
	} `json:"attachments"`
}

func (f *Fake) post(r *http.Request, path []string) (any, *failure) {
	if f.Refuse > 0 {
		after := int(f.Refuse / time.Second)
		f.Refuse = 0
		return nil, &failure{429, after, "You are being rate limited."}
	}
	var m posted
	var s channeltest.Shown
	body := io.Reader(r.Body)
	if strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/") {
		if err := r.ParseMultipartForm(64 << 20); err != nil {
			return nil, &failure{400, 50035, "Invalid Form Body"}
		}
		body = strings.NewReader(r.FormValue("payload_json"))
		file, _, err := r.FormFile("files[0]")
		if err != nil {
			return nil, &failure{400, 50035, "Invalid Form Body"}
		}
		s.File, _ = io.ReadAll(file)
	}
	if err := json.NewDecoder(body).Decode(&m); err != nil {
		return nil, &failure{400, 50109, "The request body contains invalid JSON."}
	}
	if failed := m.check(&s); failed != nil {
		return nil, failed
	}
	chat := path[1]
	if r.Method == http.MethodPatch {
		i := slices.IndexFunc(f.Messages[chat], func(old channeltest.Shown) bool { return old.ID == path[3] })
		if i < 0 {
			return nil, &failure{404, 10008, "Unknown Message"}
		}
		s.ID = path[3]
		f.Messages[chat][i] = s
		return map[string]any{"id": s.ID}, nil
	}
	if id := f.nonces[m.Nonce]; id != "" && m.Enforce {
		return map[string]any{"id": id}, nil
	}
	f.nextID++
	s.ID = strconv.Itoa(f.nextID)
	f.nonces[m.Nonce] = s.ID
	f.Messages[chat] = append(f.Messages[chat], s)
	return map[string]any{"id": s.ID}, nil
}

func (m posted) check(s *channeltest.Shown) *failure {
	switch {
	case m.Mentions == nil || m.Mentions.Parse == nil || len(m.Mentions.Parse) > 0:
		return &failure{400, 50035, "the text could mention people"}
	case utf8.RuneCountInString(m.Content) > 2000, len(m.Nonce) > 25, len(m.Components) > 5:
		return &failure{400, 50035, "Invalid Form Body"}
	case strings.TrimSpace(m.Content) == "" && s.File == nil:
		return &failure{400, 50006, "Cannot send an empty message"}
	case len(s.File) > 10<<20:
		return &failure{413, 40005, "Request entity too large"}
	}
	if len(m.Files) > 0 {
		s.FileName = m.Files[0].Filename
	}
	for _, row := range m.Components {
		if row.Type != 1 || len(row.Components) == 0 || len(row.Components) > 5 {
			return &failure{400, 50035, "Invalid Form Body"}
		}
		for _, b := range row.Components {
			if b.Type != 2 || b.Style < 1 || b.Style > 4 || b.Label == "" || utf8.RuneCountInString(b.Label) > 80 || b.ID == "" || len(b.ID) > 100 {
				return &failure{400, 50035, "Invalid Form Body"}
			}
			s.Buttons = append(s.Buttons, channel.Button{Label: b.Label, Data: b.ID, Risky: b.Style == 4})
		}
	}
	show(m.Content, s)
	return nil
}

// person returns a person as Discord describes people.
func person(from channel.Sender) map[string]any {
	return map[string]any{"id": from.ID, "username": strings.ToLower(from.Name), "global_name": from.Name, "bot": from.Bot}
}

// show reads a text as Discord's clients do, as far as the suite needs it: what is not escaped
// and means something disappears from the text.
func show(content string, s *channeltest.Shown) {
	var text strings.Builder
	for rest := content; rest != ""; {
		lineStart := text.Len() == 0 || strings.HasSuffix(text.String(), "\n")
		if code, after, ok := codeBlock(rest); ok {
			s.Code = append(s.Code, code)
			text.WriteString(code)
			rest = after
			continue
		}
		if code, after, ok := inlineCode(rest); ok {
			s.Code = append(s.Code, code)
			text.WriteString(code)
			rest = after
			continue
		}
		r, n := utf8.DecodeRuneInString(rest)
		switch {
		case r == '\\' && len(rest) > 1 && strings.ContainsRune("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", rune(rest[1])):
			text.WriteByte(rest[1])
			n = 2
		case strings.HasPrefix(rest, "https://") || strings.HasPrefix(rest, "http://"):
			n = strings.IndexAny(rest+" ", " \n\t<")
			text.WriteString(rest[:n])
		case strings.HasPrefix(rest, "**") && strings.Contains(rest[2:], "**"):
			n = 4 + strings.Index(rest[2:], "**")
			var inner channeltest.Shown
			show(rest[2:n-2], &inner)
			s.Bold = append(s.Bold, inner.Text)
			text.WriteString(inner.Text)
		case strings.ContainsRune("*_~|<@[]`", r), lineStart && strings.ContainsRune("#>-+", r): // it means something
		default:
			text.WriteString(rest[:n])
		}
		rest = rest[n:]
	}
	s.Text = text.String()
}

func codeBlock(rest string) (code, after string, ok bool) {
	body, ok := strings.CutPrefix(rest, "```")
	if !ok {
		return "", "", false
	}
	code, after, ok = strings.Cut(body, "```")
	if !ok || strings.TrimSpace(code) == "" {
		return "", "", false
	}
	if lang, more, found := strings.Cut(code, "\n"); found && !strings.ContainsAny(lang, " \t`") {
		code = more
	}
	return strings.Trim(code, "\n"), after, true
}

func inlineCode(rest string) (code, after string, ok bool) {
	n := len(rest) - len(strings.TrimLeft(rest, "`"))
	if n == 0 {
		return "", "", false
	}
	ticks := rest[:n]
	code, after, ok = strings.Cut(rest[n:], ticks)
	if !ok || strings.HasPrefix(after, "`") {
		return "", "", false
	}
	if n > 1 {
		code = strings.TrimSuffix(strings.TrimPrefix(code, " "), " ")
	}
	return code, after, true
}
