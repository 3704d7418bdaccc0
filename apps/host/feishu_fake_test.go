package host_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// feishu is a fake of Feishu's API and of the long connection that its SDK dials. It enforces the
// documented limits, and delivers an event again that was not taken.
type feishu struct {
	dialed
	server *httptest.Server

	dials   int
	refusal int // code of the long connection
	refused int // long connections
	botless bool
	ids     int
	waiting map[string][]byte // frames of events that were not answered, by event
	over    bool
	toasts  []string        // what people were shown after presses
	chats   map[string]bool // with the bot
	uuids   map[string]string
	rates   map[string][]time.Time
	uploads map[string][]byte
	files   map[string][]byte // of people
	shown   []feishuShown
}

// feishuShown is a message of the bot.
type feishuShown struct {
	ID, Chat, Text string
	Buttons        map[string]map[string]any // values by label
	File           []byte
	edits          int
}

const feishuApp, feishuSecret = "cli_0123456789abcdef", "the-secret-of-the-app"

func startFeishu(t *testing.T, chats ...string) *feishu {
	t.Helper()
	f := &feishu{
		dialed: dialed{t: t, changed: make(chan struct{})}, waiting: map[string][]byte{}, chats: map[string]bool{}, uuids: map[string]string{},
		rates: map[string][]time.Time{}, uploads: map[string][]byte{}, files: map[string][]byte{},
	}
	for _, chat := range chats {
		f.chats[chat] = true
	}
	f.report = func() any { return f.shown }
	f.server = httptest.NewServer(http.HandlerFunc(f.serve))
	t.Cleanup(func() {
		f.mu.Lock()
		f.over = true
		f.mu.Unlock()
		f.drop()
		f.server.Close()
	})
	return f
}

// env is the environment of an extension that uses the fake.
func (f *feishu) env(name string) string {
	return map[string]string{"FEISHU_APP_ID": feishuApp, "FEISHU_APP_SECRET": feishuSecret, "FEISHU_DOMAIN": f.server.URL}[name]
}

func (f *feishu) serve(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/socket" {
		f.socket(w, r)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.change()
	switch r.URL.Path {
	case "/callback/ws/endpoint", "/open-apis/auth/v3/tenant_access_token/internal":
		f.admit(w, r)
		return
	}
	if r.Header.Get("Authorization") != "Bearer t-1" {
		answer(w, 99991663, nil)
		return
	}
	path := strings.Split(strings.TrimPrefix(r.URL.Path, "/open-apis/im/v1/"), "/")
	switch {
	case r.URL.Path == "/open-apis/bot/v3/info":
		_ = json.NewEncoder(w).Encode(map[string]any{"code": 0, "bot": map[string]string{"open_id": "ou_bot", "app_name": "scorel"}})
	case path[0] == "images" || path[0] == "files":
		f.upload(w, r, path[0])
	case path[0] == "messages" && len(path) == 1 && r.Method == http.MethodPost:
		f.create(w, r)
	case path[0] == "messages" && len(path) == 2 && r.Method == http.MethodPatch:
		f.patch(w, r, path[1])
	case path[0] == "messages" && len(path) == 4 && path[2] == "resources":
		_, _ = w.Write(f.files[path[1]+"/"+path[3]+"/"+r.URL.Query().Get("type")])
	default:
		f.t.Errorf("unknown request %s %s", r.Method, r.URL.Path)
		w.WriteHeader(http.StatusNotFound)
	}
}

// answer answers as the API does. Most codes of errors have status 400.
func answer(w http.ResponseWriter, code int, data any) {
	w.Header().Set("Content-Type", "application/json")
	if code != 0 {
		w.WriteHeader(http.StatusBadRequest)
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"code": code, "msg": fmt.Sprint("code ", code), "data": data})
}

func (f *feishu) admit(w http.ResponseWriter, r *http.Request) {
	var in map[string]string
	_ = json.NewDecoder(r.Body).Decode(&in)
	if in["AppSecret"]+in["app_secret"] != feishuSecret || in["AppID"]+in["app_id"] != feishuApp {
		_ = json.NewEncoder(w).Encode(map[string]any{"code": 10014, "msg": "app secret invalid"})
		return
	}
	if r.URL.Path == "/callback/ws/endpoint" && f.refusal != 0 {
		f.refused++
		_ = json.NewEncoder(w).Encode(map[string]any{"code": f.refusal, "msg": "refused", "data": map[string]any{}})
		return
	}
	if r.URL.Path == "/callback/ws/endpoint" {
		address := "ws" + strings.TrimPrefix(f.server.URL, "http") + "/socket?device_id=1&service_id=7"
		answer(w, 0, map[string]any{"URL": address, "ClientConfig": map[string]int{"ReconnectCount": -1, "ReconnectInterval": 1, "ReconnectNonce": 0, "PingInterval": 120}})
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"code": 0, "tenant_access_token": "t-1", "expire": 7200})
}

// busy reports whether something was done five times within the last second.
func (f *feishu) busy(what string) bool {
	if recent(f.rates[what], time.Second) >= 5 {
		return true
	}
	f.rates[what] = append(f.rates[what], time.Now())
	return false
}

func (f *feishu) create(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Chat    string `json:"receive_id"`
		Type    string `json:"msg_type"`
		Content string `json:"content"`
		UUID    string `json:"uuid"`
	}
	if json.NewDecoder(r.Body).Decode(&in) != nil || r.URL.Query().Get("receive_id_type") != "chat_id" || len(in.UUID) > 50 {
		answer(w, 230001, nil)
		return
	}
	if id := f.uuids[in.UUID]; in.UUID != "" && id != "" {
		answer(w, 0, map[string]any{"message_id": id})
		return
	}
	switch {
	case f.botless:
		answer(w, 230006, nil)
		return
	case !f.chats[in.Chat]:
		answer(w, 230002, nil)
		return
	case f.busy(in.Chat):
		answer(w, 230020, nil)
		return
	}
	shown, ok := f.read(in.Type, in.Content)
	if !ok {
		f.t.Errorf("a message that Feishu does not take: %.300s", in.Content)
		answer(w, 230001, nil)
		return
	}
	f.ids++
	shown.ID, shown.Chat = fmt.Sprint("om_", f.ids), in.Chat
	f.uuids[in.UUID] = shown.ID
	f.shown = append(f.shown, shown)
	answer(w, 0, map[string]any{"message_id": shown.ID})
}

func (f *feishu) patch(w http.ResponseWriter, r *http.Request, id string) {
	var in struct {
		Content string `json:"content"`
	}
	_ = json.NewDecoder(r.Body).Decode(&in)
	if f.busy(id) {
		w.Header().Set("x-ogw-ratelimit-reset", "1")
		w.WriteHeader(http.StatusTooManyRequests)
		_ = json.NewEncoder(w).Encode(map[string]any{"code": 99991400, "msg": "request trigger frequency limit"})
		return
	}
	now, ok := f.read("interactive", in.Content)
	for n := range f.shown {
		if f.shown[n].ID == id && ok {
			now.ID, now.Chat, now.edits = id, f.shown[n].Chat, f.shown[n].edits+1
			f.shown[n] = now
			answer(w, 0, map[string]any{})
			return
		}
	}
	answer(w, 230011, nil)
}

// read checks a message and returns what people see of it.
func (f *feishu) read(kind, content string) (shown feishuShown, ok bool) {
	if kind != "interactive" {
		var key map[string]string
		_ = json.Unmarshal([]byte(content), &key)
		shown.File = f.uploads[key["image_key"]+key["file_key"]]
		return shown, shown.File != nil && (key["image_key"] != "") == (kind == "image")
	}
	var card struct {
		Schema string `json:"schema"`
		Config struct {
			Multi bool `json:"update_multi"`
		} `json:"config"`
		Body struct {
			Elements []struct {
				Tag       string `json:"tag"`
				Content   string `json:"content"`
				Text      struct{ Tag, Content string }
				Behaviors []struct {
					Type  string         `json:"type"`
					Value map[string]any `json:"value"`
				} `json:"behaviors"`
			} `json:"elements"`
		} `json:"body"`
	}
	if len(content) > 30<<10 || json.Unmarshal([]byte(content), &card) != nil || card.Schema != "2.0" || !card.Config.Multi || len(card.Body.Elements) == 0 {
		return shown, false
	}
	shown.Buttons = map[string]map[string]any{}
	for _, e := range card.Body.Elements {
		switch {
		case e.Tag == "markdown" && e.Content != "" && !strings.Contains(e.Content, "<at"):
			shown.Text += "\n" + strings.ReplaceAll(e.Content, "\u200b", "") + "\n"
		case e.Tag == "div" && e.Text.Tag == "plain_text" && e.Text.Content != "":
			shown.Text += e.Text.Content
		case e.Tag == "button" && e.Text.Content != "" && len(e.Behaviors) == 1 && e.Behaviors[0].Type == "callback":
			shown.Buttons[e.Text.Content] = e.Behaviors[0].Value
		default:
			return shown, false
		}
	}
	return shown, true
}

func (f *feishu) upload(w http.ResponseWriter, r *http.Request, kind string) {
	field, most := "file", 30<<20
	if kind == "images" {
		field, most = "image", 10<<20
	}
	_ = r.ParseMultipartForm(64 << 20)
	data := []byte(r.FormValue(field)) // the SDK names no file
	if len(data) == 0 || len(data) > most {
		answer(w, 234006, nil)
		return
	}
	f.ids++
	key := fmt.Sprint(field, "_", f.ids)
	f.uploads[key] = data
	answer(w, 0, map[string]string{field + "_key": key})
}

// socket sends the events that wait, and reads their answers.
func (f *feishu) socket(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer func() { _ = conn.CloseNow() }()
	f.mu.Lock()
	f.conn, f.dials = conn, f.dials+1
	for _, frame := range f.waiting {
		_ = conn.Write(r.Context(), websocket.MessageBinary, frame)
	}
	f.change()
	f.mu.Unlock()
	for {
		_, data, err := conn.Read(r.Context())
		if err != nil {
			return
		}
		frame, err := readFeishuFrame(data)
		if err != nil {
			f.t.Errorf("a frame cannot be read: %v", err)
			return
		}
		if frame.headers["type"] == "ping" {
			pong := feishuFrame{0, map[string]string{"type": "pong"}, []byte(`{"ReconnectCount":-1,"ReconnectInterval":1,"ReconnectNonce":0,"PingInterval":120}`)}
			_ = conn.Write(r.Context(), websocket.MessageBinary, pong.encode())
			continue
		}
		f.answered(frame)
	}
}

// answered takes the answer to an event.
func (f *feishu) answered(frame feishuFrame) {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.change()
	var in struct {
		Code int    `json:"code"`
		Data string `json:"data"`
	}
	if frame.headers["type"] != "event" || json.Unmarshal(frame.payload, &in) != nil || in.Code != 200 {
		return
	}
	delete(f.waiting, frame.headers["message_id"])
	var said struct {
		Toast struct {
			Content string `json:"content"`
		} `json:"toast"`
	}
	if data, err := base64.StdEncoding.DecodeString(in.Data); err == nil && json.Unmarshal(data, &said) == nil && said.Toast.Content != "" {
		f.toasts = append(f.toasts, said.Toast.Content)
	}
}
