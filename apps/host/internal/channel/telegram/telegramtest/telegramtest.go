// Package telegramtest is a fake of Telegram for tests. It enforces what the platform documents.
package telegramtest

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
	"unicode/utf16"

	"github.com/scorel/scorel/apps/host/internal/channel"
	"github.com/scorel/scorel/apps/host/internal/channel/channeltest"
	"github.com/scorel/scorel/apps/host/internal/channel/telegram"
)

const botID = 999

// Fake is the Bot API. It keeps updates until an offset confirms them, and enforces what the
// documentation says about texts, entities, buttons, files and rates.
type Fake struct {
	channeltest.Screen
	server *httptest.Server

	updates []map[string]any // those that are not confirmed
	next    int
	nextID  int
	said    map[string]map[string]any
	files   map[string][]byte
	fresh   chan struct{}
	broken  chan struct{}
	queries map[string]bool
}

// Start runs a fake until the test ends.
func Start(t *testing.T) *Fake {
	f := &Fake{
		next: 1000, said: map[string]map[string]any{}, files: map[string][]byte{}, Screen: channeltest.NewScreen(),
		fresh: make(chan struct{}), broken: make(chan struct{}), queries: map[string]bool{},
	}
	f.server = httptest.NewServer(f.Steps(f.serve))
	t.Cleanup(f.server.Close)
	return f
}

// URL is the address of the API, for a setting of the platform.
func (f *Fake) URL() string { return f.server.URL }

// New implements channeltest.Fake.
func (f *Fake) New(t *testing.T, token string) channel.Platform {
	p, err := telegram.New(telegram.Options{Token: token, API: f.server.URL})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// failure is an answer of the Bot API to a request that failed.
type failure struct {
	code  int
	text  string
	after int
}

func (f *Fake) serve(w http.ResponseWriter, r *http.Request) {
	path, ok := strings.CutPrefix(r.URL.Path, "/bot"+channeltest.Token+"/")
	if file, is := strings.CutPrefix(r.URL.Path, "/file/bot"+channeltest.Token+"/"); is {
		f.Lock()
		data := f.files[file]
		f.Unlock()
		_, _ = w.Write(data)
		return
	}
	var result any
	failed := &failure{401, "Unauthorized", 0}
	if ok {
		result, failed = f.call(r, path)
	}
	w.Header().Set("Content-Type", "application/json")
	if failed == nil {
		_ = json.NewEncoder(w).Encode(map[string]any{"ok": true, "result": result})
		return
	}
	w.WriteHeader(failed.code)
	answer := map[string]any{"ok": false, "error_code": failed.code, "description": failed.text}
	if failed.after > 0 {
		answer["parameters"] = map[string]any{"retry_after": failed.after}
	}
	_ = json.NewEncoder(w).Encode(answer)
}

func (f *Fake) call(r *http.Request, method string) (any, *failure) {
	if method == "getUpdates" {
		return f.getUpdates(r)
	}
	if err := r.ParseMultipartForm(64 << 20); err != nil && method != "getMe" {
		return nil, &failure{400, "Bad Request: " + err.Error(), 0}
	}
	f.Lock()
	defer f.Unlock()
	switch method {
	case "getMe":
		return map[string]any{"id": botID, "is_bot": true, "first_name": "Bot", "username": "scorel_bot"}, nil
	case "sendMessage", "sendDocument", "editMessageText":
		return f.post(r, method)
	case "getFile":
		id := r.FormValue("file_id")
		if len(f.files[id]) > 20<<20 {
			return nil, &failure{400, "Bad Request: file is too big", 0}
		}
		return map[string]any{"file_id": id, "file_path": id}, nil
	case "answerCallbackQuery":
		id := r.FormValue("callback_query_id")
		if !f.queries[id] || len([]rune(r.FormValue("text"))) > 200 {
			return nil, &failure{400, "Bad Request: query is too old and response timeout expired or query ID is invalid", 0}
		}
		delete(f.queries, id)
		return true, nil
	}
	return nil, &failure{404, "Not Found", 0}
}

func (f *Fake) getUpdates(r *http.Request) (any, *failure) {
	var request struct {
		Offset  int `json:"offset"`
		Timeout int `json:"timeout"`
	}
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		return nil, &failure{400, "Bad Request: " + err.Error(), 0}
	}
	for {
		f.Lock()
		before := len(f.updates)
		f.updates = slices.DeleteFunc(f.updates, func(u map[string]any) bool { return u["update_id"].(int) < request.Offset })
		found, fresh, broken := slices.Clone(f.updates), f.fresh, f.broken
		f.Unlock()
		if len(found) < before {
			f.Reached("acknowledged")
		}
		if len(found) > 0 {
			return found[:min(len(found), 100)], nil
		}
		select {
		case <-fresh:
		case <-broken:
			panic(http.ErrAbortHandler)
		case <-r.Context().Done():
			panic(http.ErrAbortHandler)
		}
	}
}

func (f *Fake) post(r *http.Request, method string) (any, *failure) {
	chat := r.FormValue("chat_id")
	if thread := r.FormValue("message_thread_id"); thread != "" {
		chat += "/" + thread
	}
	if f.Refuse > 0 {
		after := int(f.Refuse / time.Second)
		f.Refuse = 0
		return nil, &failure{429, "Too Many Requests: retry after " + strconv.Itoa(after), after}
	}
	if f.Gone[chat] {
		return nil, &failure{403, "Forbidden: bot was blocked by the user", 0}
	}
	shown, failed := render(r, method)
	if failed != nil {
		return nil, failed
	}
	if method == "editMessageText" {
		i := slices.IndexFunc(f.Messages[chat], func(s channeltest.Shown) bool { return s.ID == r.FormValue("message_id") })
		if i < 0 {
			return nil, &failure{400, "Bad Request: message to edit not found", 0}
		}
		shown.ID = f.Messages[chat][i].ID
		if fmt.Sprint(shown) == fmt.Sprint(f.Messages[chat][i]) {
			return nil, &failure{400, "Bad Request: message is not modified: specified new message content and reply markup are exactly the same", 0}
		}
		f.Messages[chat][i] = shown
	} else {
		f.nextID++
		shown.ID = strconv.Itoa(f.nextID)
		f.Messages[chat] = append(f.Messages[chat], shown)
	}
	id, _ := strconv.Atoi(shown.ID)
	return map[string]any{"message_id": id, "date": 1, "chat": map[string]any{"id": 4711, "type": "private"}, "text": shown.Text}, nil
}

func render(r *http.Request, method string) (s channeltest.Shown, _ *failure) {
	if method == "sendDocument" {
		file, header, err := r.FormFile("document")
		if err != nil {
			return s, &failure{400, "Bad Request: there is no document in the request", 0}
		}
		s.FileName = header.Filename
		s.File, _ = io.ReadAll(file)
		if len(s.File) > 50<<20 {
			return s, &failure{413, "Request Entity Too Large", 0}
		}
		return s, nil
	}
	s.Text = r.FormValue("text")
	text := utf16.Encode([]rune(s.Text))
	switch {
	case r.FormValue("parse_mode") != "":
		return s, &failure{400, "Bad Request: can't parse entities", 0}
	case strings.TrimSpace(s.Text) == "":
		return s, &failure{400, "Bad Request: message text is empty", 0}
	case len(text) > 4096:
		return s, &failure{400, "Bad Request: message is too long", 0}
	}
	var entities []struct {
		Type   string
		Offset int
		Length int
	}
	if list := r.FormValue("entities"); list != "" && json.Unmarshal([]byte(list), &entities) != nil {
		return s, &failure{400, "Bad Request: can't parse entities", 0}
	}
	for _, e := range entities {
		if e.Offset < 0 || e.Length <= 0 || e.Offset+e.Length > len(text) {
			return s, &failure{400, "Bad Request: ENTITY_BOUNDS_INVALID", 0}
		}
		part := string(utf16.Decode(text[e.Offset : e.Offset+e.Length]))
		switch e.Type {
		case "bold":
			s.Bold = append(s.Bold, part)
		case "code", "pre":
			s.Code = append(s.Code, part)
		}
	}
	return s, buttons(r, &s)
}

func buttons(r *http.Request, s *channeltest.Shown) *failure {
	var markup struct {
		Rows [][]struct {
			Text string
			Data string `json:"callback_data"`
		} `json:"inline_keyboard"`
	}
	if text := r.FormValue("reply_markup"); text != "" && json.Unmarshal([]byte(text), &markup) != nil {
		return &failure{400, "Bad Request: can't parse reply keyboard markup", 0}
	}
	for _, row := range markup.Rows {
		for _, b := range row {
			if b.Text == "" || b.Data == "" || len(b.Data) > 64 {
				return &failure{400, "Bad Request: BUTTON_DATA_INVALID", 0}
			}
			s.Buttons = append(s.Buttons, channel.Button{Label: b.Text, Data: b.Data})
		}
	}
	return nil
}

// Acknowledged reports whether all updates were confirmed.
func (f *Fake) Acknowledged() bool {
	f.Lock()
	defer f.Unlock()
	return len(f.updates) == 0
}

// Add sends an update, until an offset confirms it.
func (f *Fake) Add(kind string, content map[string]any) {
	f.Lock()
	defer f.Unlock()
	f.updates = append(f.updates, map[string]any{"update_id": f.next, kind: content})
	f.next++
	close(f.fresh)
	f.fresh = make(chan struct{})
}

func user(from channel.Sender) map[string]any {
	id, _ := strconv.Atoi(from.ID)
	return map[string]any{"id": id, "is_bot": from.Bot, "first_name": from.Name}
}

// Message makes a message of a person.
func (f *Fake) Message(chat channel.Chat, from channel.Sender) (map[string]any, string) {
	f.Lock()
	defer f.Unlock()
	f.nextID++
	conversation, thread, topic := strings.Cut(chat.ID, "/")
	id, _ := strconv.Atoi(conversation)
	kind := "supergroup"
	if chat.Direct {
		kind = "private"
	}
	m := map[string]any{"message_id": f.nextID, "date": 1700000000, "from": user(from), "chat": map[string]any{"id": id, "type": kind, "title": chat.Title}}
	if topic {
		n, _ := strconv.Atoi(thread)
		m["is_topic_message"], m["message_thread_id"] = true, n
	}
	f.said[strconv.Itoa(f.nextID)] = m
	return m, strconv.Itoa(f.nextID)
}

// Say implements channeltest.Fake.
func (f *Fake) Say(chat channel.Chat, from channel.Sender, text string) string {
	m, id := f.Message(chat, from)
	m["text"] = text
	f.Add("message", m)
	return id
}

// Attach implements channeltest.Fake.
func (f *Fake) Attach(chat channel.Chat, from channel.Sender, text, name string, data []byte) string {
	m, id := f.Message(chat, from)
	f.Lock()
	f.files["file"+id] = data
	f.Unlock()
	m["caption"], m["document"] = text, map[string]any{"file_id": "file" + id, "file_name": name, "file_size": len(data)}
	f.Add("message", m)
	return id
}

// Press implements channeltest.Fake.
func (f *Fake) Press(chat channel.Chat, from channel.Sender, messageID, data string) {
	m, id := f.Message(chat, channel.Sender{ID: strconv.Itoa(botID), Bot: true})
	m["message_id"], _ = strconv.Atoi(messageID)
	f.Lock()
	f.queries["q"+id] = true
	f.Unlock()
	f.Add("callback_query", map[string]any{"id": "q" + id, "from": user(from), "message": m, "data": data})
}

// Edit implements channeltest.Fake.
func (f *Fake) Edit(_ channel.Chat, messageID, text string) bool {
	f.Lock()
	m := f.said[messageID]
	f.Unlock()
	m["text"] = text
	f.Add("edited_message", m)
	return true
}

// Remove reports that bots are not told of deletions.
func (f *Fake) Remove(channel.Chat, string) bool { return false }

// Break implements channeltest.Fake.
func (f *Fake) Break() {
	f.Lock()
	defer f.Unlock()
	close(f.broken)
	f.broken = make(chan struct{})
}

// Again reports that an update that was confirmed is never sent again.
func (f *Fake) Again() bool { return false }
