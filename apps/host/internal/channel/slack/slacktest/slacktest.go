// Package slacktest is a fake of Slack for tests. It enforces what the platform documents.
package slacktest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"

	"github.com/scorel/scorel/apps/host/internal/channel"
	"github.com/scorel/scorel/apps/host/internal/channel/channeltest"
	"github.com/scorel/scorel/apps/host/internal/channel/slack"
)

// BotID is the account of the bot.
const BotID = "UBOT"

// Fake is Slack: the Web API with the limits of its documentation, and Socket Mode, which sends
// an envelope again until it is acknowledged.
type Fake struct {
	channeltest.Screen
	server *httptest.Server

	nextID   int
	said     []map[string]any
	files    map[string][]byte
	names    map[string]string // of files
	Waiting  []envelope        // that were not acknowledged
	last     envelope          // that was acknowledged
	sockets  map[*websocket.Conn]bool
	Deaf     bool // events are lost
	Forgets  bool // there is no history
	Notices  []string
	Channels map[string]map[string]any
}

type envelope struct {
	Type    string `json:"type"`
	ID      string `json:"envelope_id,omitempty"`
	Payload any    `json:"payload,omitempty"`
}

// Start runs a fake until the test ends.
func Start(t *testing.T) *Fake {
	f := &Fake{
		nextID: 1000, files: map[string][]byte{}, names: map[string]string{}, Screen: channeltest.NewScreen(),
		sockets: map[*websocket.Conn]bool{}, Channels: map[string]map[string]any{},
	}
	f.server = httptest.NewServer(f.Steps(f.serve))
	t.Cleanup(func() { f.Break(); f.server.Close() })
	return f
}

// URL is the address of the API, for a setting of the platform.
func (f *Fake) URL() string { return f.server.URL + "/api" }

// New implements channeltest.Fake.
func (f *Fake) New(t *testing.T, token string) channel.Platform {
	p, err := slack.New(slack.Options{Token: "xoxb-" + token, AppToken: "xapp-" + token, API: f.server.URL + "/api"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (f *Fake) serve(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == "/socket":
		f.socket(w, r)
		return
	case strings.HasPrefix(r.URL.Path, "/upload/"):
		f.upload(w, r)
		return
	case strings.HasPrefix(r.URL.Path, "/files/"):
		f.download(w, r)
		return
	}
	_ = r.ParseMultipartForm(64 << 20)
	_ = r.ParseForm()
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	if token == "" {
		token = r.FormValue("token")
	}
	method := strings.TrimPrefix(r.URL.Path, "/api/")
	want := "xoxb-" + channeltest.Token
	if method == "apps.connections.open" {
		want = "xapp-" + channeltest.Token
	}
	answer := map[string]any{"ok": false, "error": "invalid_auth"}
	if token == want {
		f.Lock()
		defer f.Unlock()
		if f.Refuse > 0 && strings.HasPrefix(method, "chat.") {
			w.Header().Set("Retry-After", strconv.Itoa(int(f.Refuse/time.Second)))
			w.WriteHeader(http.StatusTooManyRequests)
			f.Refuse = 0
			return
		}
		answer = f.call(r, method)
		if answer["error"] == nil {
			answer["ok"] = true
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer)
}

func failed(kind string) map[string]any { return map[string]any{"ok": false, "error": kind} }

func (f *Fake) call(r *http.Request, method string) map[string]any {
	place := r.FormValue("channel")
	if f.Gone[place] {
		return failed("not_in_channel")
	}
	switch method {
	case "auth.test":
		return map[string]any{"user": "scorel", "user_id": BotID}
	case "apps.connections.open":
		return map[string]any{"url": "ws" + strings.TrimPrefix(f.server.URL, "http") + "/socket"}
	case "users.info":
		return map[string]any{"user": map[string]any{"id": r.FormValue("user"), "real_name": "Ada"}}
	case "conversations.info":
		if at := f.Channels[place]; at != nil {
			return map[string]any{"channel": at}
		}
		return map[string]any{"channel": map[string]any{"id": place, "is_im": true}}
	case "conversations.history", "conversations.replies":
		return f.history(r)
	case "chat.postMessage", "chat.update", "chat.postEphemeral":
		return f.post(r, method)
	case "files.info":
		id := r.FormValue("file")
		return map[string]any{"file": map[string]any{"id": id, "name": f.names[id], "mimetype": "application/octet-stream", "url_private_download": f.server.URL + "/files/" + id}}
	case "files.getUploadURLExternal":
		f.nextID++
		id := "F" + strconv.Itoa(f.nextID)
		f.names[id] = r.FormValue("filename")
		return map[string]any{"upload_url": f.server.URL + "/upload/" + id, "file_id": id}
	case "files.completeUploadExternal":
		return f.complete(r)
	}
	return failed("unknown_method")
}

func (f *Fake) upload(w http.ResponseWriter, r *http.Request) {
	file, _, err := r.FormFile("file")
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	data, _ := io.ReadAll(file)
	f.Lock()
	defer f.Unlock()
	f.files[strings.TrimPrefix(r.URL.Path, "/upload/")] = data
}

func (f *Fake) download(w http.ResponseWriter, r *http.Request) {
	f.Lock()
	defer f.Unlock()
	if r.Header.Get("Authorization") != "Bearer xoxb-"+channeltest.Token {
		w.Header().Set("Content-Type", "text/html")
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	_, _ = w.Write(f.files[strings.TrimPrefix(r.URL.Path, "/files/")])
}

func (f *Fake) complete(r *http.Request) map[string]any {
	var files []struct{ ID string }
	if json.Unmarshal([]byte(r.FormValue("files")), &files) != nil || len(files) != 1 || f.files[files[0].ID] == nil {
		return failed("file_not_found")
	}
	chat := chatID(r.FormValue("channel_id"), r.FormValue("thread_ts"))
	id := files[0].ID
	f.Messages[chat] = append(f.Messages[chat], channeltest.Shown{ID: id, FileName: f.names[id], File: f.files[id]})
	return map[string]any{"files": []any{map[string]any{"id": id}}}
}

func chatID(place, thread string) string {
	if thread != "" {
		return place + "/" + thread
	}
	return place
}

func (f *Fake) history(r *http.Request) map[string]any {
	found := []map[string]any{}
	for _, m := range f.said {
		if f.Forgets {
			break
		}
		thread, _ := m["thread_ts"].(string)
		if m["channel"] == r.FormValue("channel") && m["ts"].(string) > r.FormValue("oldest") && thread == r.FormValue("ts") {
			found = append(found, m)
		}
	}
	if r.FormValue("ts") == "" {
		slices.Reverse(found) // the newest first
	}
	return map[string]any{"messages": found, "has_more": false}
}

// post checks and keeps a message of the bot.
func (f *Fake) post(r *http.Request, method string) map[string]any {
	var s channeltest.Shown
	if kind := read(r, &s); kind != "" {
		return failed(kind)
	}
	if method == "chat.postEphemeral" {
		f.Notices = append(f.Notices, s.Text)
		return map[string]any{"message_ts": "1.1"}
	}
	if method == "chat.update" {
		for chat, list := range f.Messages {
			if place, _, _ := strings.Cut(chat, "/"); place != r.FormValue("channel") {
				continue
			}
			if i := slices.IndexFunc(list, func(old channeltest.Shown) bool { return old.ID == r.FormValue("ts") }); i >= 0 {
				s.ID = list[i].ID
				list[i] = s
				return map[string]any{"channel": r.FormValue("channel"), "ts": s.ID, "text": s.Text}
			}
		}
		return failed("message_not_found")
	}
	if r.FormValue("unfurl_links") != "false" || r.FormValue("unfurl_media") != "false" {
		return failed("the_text_could_be_unfurled")
	}
	f.nextID++
	s.ID = Stamp(f.nextID)
	chat := chatID(r.FormValue("channel"), r.FormValue("thread_ts"))
	f.Messages[chat] = append(f.Messages[chat], s)
	return map[string]any{"channel": r.FormValue("channel"), "ts": s.ID}
}

// Stamp is the n-th id of a message.
func Stamp(n int) string { return fmt.Sprintf("17000%05d.000100", n) }

// block is a part of a message.
type block struct {
	Type     string
	Text     json.RawMessage
	URL      string
	Value    string
	ActionID string `json:"action_id"`
	Style    json.RawMessage
	Elements []block
}

// read reads the blocks of a message as Slack's clients show them.
func read(r *http.Request, s *channeltest.Shown) string {
	var blocks []block
	if json.Unmarshal([]byte(r.FormValue("blocks")), &blocks) != nil || len(blocks) == 0 || len(blocks) > 50 {
		return "invalid_blocks"
	}
	fallback := r.FormValue("text")
	if strings.ContainsAny(fallback, "<>") || strings.Contains(strings.NewReplacer("&amp;", "", "&lt;", "", "&gt;", "").Replace(fallback), "&") {
		return "the_text_could_mention_people"
	}
	if utf8.RuneCountInString(fallback) > 4000 {
		return "msg_too_long"
	}
	ids := map[string]bool{}
	for _, b := range blocks {
		switch b.Type {
		case "rich_text":
			for i, part := range b.Elements {
				if i > 0 && (part.Type == "rich_text_preformatted" || b.Elements[i-1].Type == "rich_text_preformatted") {
					s.Text += "\n"
				}
				if kind := section(part, s); kind != "" {
					return kind
				}
			}
		case "actions":
			for _, e := range b.Elements {
				var label struct{ Type, Text string }
				if json.Unmarshal(e.Text, &label) != nil || label.Type != "plain_text" || label.Text == "" || utf8.RuneCountInString(label.Text) > 75 ||
					e.Value == "" || len(e.Value) > 2000 || ids[e.ActionID] {
					return "invalid_blocks"
				}
				ids[e.ActionID] = true
				s.Buttons = append(s.Buttons, channel.Button{Label: label.Text, Data: e.Value, Risky: string(e.Style) == `"danger"`})
			}
		default:
			return "invalid_blocks"
		}
	}
	switch n := utf8.RuneCountInString(s.Text); {
	case strings.TrimSpace(s.Text) == "":
		return "no_text"
	case n > 3000+len(s.Code)*2: // line breaks around code are the client's
		return "msg_blocks_too_long"
	}
	return ""
}

func section(part block, s *channeltest.Shown) string {
	if part.Type != "rich_text_section" && part.Type != "rich_text_preformatted" || len(part.Elements) == 0 {
		return "invalid_blocks"
	}
	for _, e := range part.Elements {
		var text string
		_ = json.Unmarshal(e.Text, &text)
		if e.Type == "link" && strings.HasPrefix(e.URL, "http") {
			text = e.URL
		} else if e.Type != "text" || text == "" {
			return "invalid_blocks"
		}
		var style struct{ Bold, Code bool }
		_ = json.Unmarshal(e.Style, &style)
		if style.Code || part.Type == "rich_text_preformatted" {
			s.Code = append(s.Code, text)
		}
		if style.Bold {
			s.Bold = append(s.Bold, text)
		}
		s.Text += text
	}
	return ""
}
