package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
)

// weCom is a fake of the WebSocket of WeCom's smart bots. It enforces what its documentation says:
// https://developer.work.weixin.qq.com/document/path/101463.
type weCom struct {
	dialed
	server *httptest.Server

	bots     int // subscriptions
	beats    int
	ended    int  // connections
	mute     bool // requests get no answer
	refusal  int  // errcode of subscriptions
	refused  int  // subscriptions
	tasks    map[string]bool
	chats    map[string]bool // in which somebody has written
	sent     map[string][]time.Time
	events   map[string]bool // presses that were not answered, by req_id
	files    map[string][]byte
	uploads  map[string]*weComUpload
	shown    []weComShown
	ids      int
	requests map[string]bool
	heard    map[string]string // chats of messages of people, by req_id
	expired  bool              // answers to messages cannot grow any more
}

// weComShown is a message of the bot.
type weComShown struct {
	Chat, Kind, Text, Task string
	Buttons                map[string]string // data by label
	File                   []byte
	Answers                []string // titles of the card after presses
	Stream                 string   // id of a text that grows
	Finished               bool     // it does not grow any more
}

// weComFrame is a frame in either direction.
type weComFrame struct {
	Cmd     string `json:"cmd,omitempty"`
	Headers struct {
		ReqID string `json:"req_id"`
	} `json:"headers"`
	Body    json.RawMessage `json:"body,omitempty"`
	ErrCode *int            `json:"errcode,omitempty"`
	ErrMsg  string          `json:"errmsg,omitempty"`
}

const weComSecret = "the-secret-of-the-bot"

func startWeCom(t *testing.T) *weCom {
	t.Helper()
	f := &weCom{
		dialed: dialed{t: t, changed: make(chan struct{})}, tasks: map[string]bool{}, chats: map[string]bool{}, sent: map[string][]time.Time{},
		events: map[string]bool{}, files: map[string][]byte{}, uploads: map[string]*weComUpload{}, requests: map[string]bool{}, heard: map[string]string{},
	}
	f.report = func() any { return f.shown }
	f.server = httptest.NewServer(http.HandlerFunc(f.serve))
	t.Cleanup(func() { f.drop(); f.server.Close() })
	return f
}

// env is the environment of an extension that uses the fake, which takes an answer to a press at any
// time: the five seconds of WeCom would be too few on a busy machine.
func (f *weCom) env(name string) string {
	return map[string]string{
		"WECOM_BOT_ID": "bot", "WECOM_BOT_SECRET": weComSecret, "WECOM_URL": "ws" + strings.TrimPrefix(f.server.URL, "http"), "WECOM_ANSWER_TIME": "3600",
	}[name]
}

func (f *weCom) serve(w http.ResponseWriter, r *http.Request) {
	if name, is := strings.CutPrefix(r.URL.Path, "/file/"); is {
		f.mu.Lock()
		defer f.mu.Unlock()
		if data, ok := f.files[name]; ok {
			_, _ = w.Write(data)
			return
		}
		w.WriteHeader(http.StatusForbidden) // the address has expired
		return
	}
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer func() {
		_ = conn.CloseNow()
		f.mu.Lock()
		defer f.mu.Unlock()
		f.ended++
		f.change()
	}()
	conn.SetReadLimit(2 << 20)
	subscribed := false
	for {
		var in weComFrame
		if wsjson.Read(r.Context(), conn, &in) != nil {
			return
		}
		f.handle(conn, in, &subscribed)
	}
}

func (f *weCom) handle(conn *websocket.Conn, in weComFrame, subscribed *bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.change()
	code, body := 0, map[string]any(nil)
	switch id := in.Headers.ReqID; {
	case id == "" || f.requests[id]:
		f.t.Errorf("the req_id %q of %s is empty or was used", id, in.Cmd)
	case in.Cmd != "aibot_respond_update_msg" && in.Cmd != "aibot_respond_msg":
		f.requests[id] = true
	}
	switch {
	case in.Cmd == "aibot_subscribe":
		if *subscribed {
			f.t.Error("a connection subscribed twice, which WeCom limits")
		}
		if code = f.subscribe(conn, in.Body); code == 0 {
			*subscribed = true
		}
	case !*subscribed:
		f.t.Errorf("%s before the subscription", in.Cmd)
		code = 846609
	case in.Cmd == "ping":
		f.beats++
	case conn != f.conn:
		code = 846608
	default:
		code, body = f.command(in)
	}
	if !f.mute {
		f.write(conn, map[string]any{"headers": in.Headers, "errcode": code, "errmsg": fmt.Sprint("code ", code), "body": body})
	}
}

func (f *weCom) write(conn *websocket.Conn, frame any) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	_ = wsjson.Write(ctx, conn, frame) // a lost connection is seen by its reader
}

// subscribe has the newest connection take the place of the one before it.
func (f *weCom) subscribe(conn *websocket.Conn, body json.RawMessage) int {
	var in struct {
		Bot    string `json:"bot_id"`
		Secret string `json:"secret"`
	}
	if json.Unmarshal(body, &in) != nil || in.Bot != "bot" || in.Secret != weComSecret {
		return 853000
	}
	if f.refusal != 0 {
		f.refused++
		return f.refusal
	}
	if old := f.conn; old != nil {
		f.event(old, "", map[string]any{"eventtype": "disconnected_event"})
		go func() { _ = old.Close(websocket.StatusNormalClosure, "") }()
	}
	f.conn, f.bots = conn, f.bots+1
	return 0
}

func (f *weCom) command(in weComFrame) (code int, body map[string]any) {
	switch in.Cmd {
	case "aibot_send_msg":
		return f.message(in.Body), nil
	case "aibot_respond_msg":
		return f.respond(in), nil
	case "aibot_respond_update_msg":
		return f.update(in), nil
	case "aibot_upload_media_init", "aibot_upload_media_chunk", "aibot_upload_media_finish":
		return f.upload(in)
	}
	f.t.Errorf("unknown command %s", in.Cmd)
	return 40001, nil
}

type weComCard struct {
	Type  string `json:"card_type"`
	Title struct {
		Title string `json:"title"`
	} `json:"main_title"`
	Buttons []struct {
		Text string `json:"text"`
		Key  string `json:"key"`
	} `json:"button_list"`
	Task string `json:"task_id"`
}

// valid reports whether a card keeps the documented limits, of which some are recommendations.
func (c weComCard) valid() bool {
	keys := map[string]bool{}
	for _, b := range c.Buttons {
		if b.Text == "" || utf8.RuneCountInString(b.Text) > 10 || b.Key == "" || len(b.Key) > 1024 || keys[b.Key] {
			return false
		}
		keys[b.Key] = true
	}
	return c.Type == "button_interaction" && c.Title.Title != "" && utf8.RuneCountInString(c.Title.Title) <= 26 && len(c.Buttons) >= 1 && len(c.Buttons) <= 6
}

var weComTask = regexp.MustCompile(`^[0-9A-Za-z_@-]{1,128}$`)

func (f *weCom) message(body json.RawMessage) int {
	var in struct {
		Chat     string `json:"chatid"`
		ChatType int    `json:"chat_type"`
		Type     string `json:"msgtype"`
		Markdown struct {
			Content string `json:"content"`
		} `json:"markdown"`
		Card  weComCard  `json:"template_card"`
		File  weComMedia `json:"file"`
		Image weComMedia `json:"image"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		f.t.Errorf("a message cannot be read: %v", err)
		return 40001
	}
	chat := map[int]string{1: "single:", 2: "group:"}[in.ChatType] + in.Chat
	if !f.chats[chat] {
		return 40130 // nobody has written there
	}
	if recent(f.sent[chat], time.Minute) >= 30 || recent(f.sent[chat], time.Hour) >= 1000 {
		return 45009
	}
	shown := weComShown{Chat: chat, Kind: in.Type}
	switch media := in.File.ID + in.Image.ID; in.Type {
	case "markdown":
		shown.Text = in.Markdown.Content
		if shown.Text == "" || len(shown.Text) > 20480 || !utf8.ValidString(shown.Text) {
			return 40058
		}
	case "template_card":
		if !in.Card.valid() || !weComTask.MatchString(in.Card.Task) || f.tasks[in.Card.Task] {
			f.t.Errorf("a card that WeCom does not take: %s", body)
			return 42014
		}
		f.tasks[in.Card.Task] = true
		shown.Text, shown.Task, shown.Buttons = in.Card.Title.Title, in.Card.Task, map[string]string{}
		for _, b := range in.Card.Buttons {
			shown.Buttons[b.Text] = b.Key
		}
	case "file", "image":
		if f.files[media] == nil {
			return 40007
		}
		shown.File = f.files[media]
	default:
		return 40008
	}
	f.sent[chat] = append(f.sent[chat], time.Now())
	f.shown = append(f.shown, shown)
	return 0
}

// respond shows a text that grows, as an answer to a message of a person.
func (f *weCom) respond(in weComFrame) int {
	var body struct {
		Type   string `json:"msgtype"`
		Stream struct {
			ID      string `json:"id"`
			Content string `json:"content"`
			Finish  bool   `json:"finish"`
		} `json:"stream"`
	}
	chat := f.heard[in.Headers.ReqID]
	switch s := &body.Stream; {
	case json.Unmarshal(in.Body, &body) != nil || body.Type != "stream" || s.ID == "" || s.Content == "" || len(s.Content) > 20480:
		f.t.Errorf("an answer that WeCom does not take: %s", in.Body)
		return 40058
	case chat == "" || f.expired:
		return 846608
	case recent(f.sent[chat], time.Minute) >= 30:
		return 45009
	}
	f.sent[chat] = append(f.sent[chat], time.Now())
	for n := range f.shown {
		if shown := &f.shown[n]; shown.Stream == body.Stream.ID {
			if shown.Finished {
				f.t.Errorf("the answer %q grows after its end", shown.Text)
			}
			shown.Text, shown.Finished = body.Stream.Content, body.Stream.Finish
			return 0
		}
	}
	f.shown = append(f.shown, weComShown{Chat: chat, Kind: "stream", Text: body.Stream.Content, Stream: body.Stream.ID, Finished: body.Stream.Finish})
	return 0
}

func recent(times []time.Time, span time.Duration) (n int) {
	for _, at := range times {
		if time.Since(at) < span {
			n++
		}
	}
	return n
}

// update replaces a card after a press, once.
func (f *weCom) update(in weComFrame) int {
	var body struct {
		Type  string    `json:"response_type"`
		Users []string  `json:"userids"`
		Card  weComCard `json:"template_card"`
	}
	pressed := f.events[in.Headers.ReqID]
	delete(f.events, in.Headers.ReqID)
	if err := json.Unmarshal(in.Body, &body); err != nil || body.Type != "update_template_card" || !body.Card.valid() || !pressed {
		f.t.Errorf("an update that WeCom does not take: %s", in.Body)
		return 42014
	}
	for n := range f.shown {
		if f.shown[n].Task == body.Card.Task {
			f.shown[n].Answers = append(f.shown[n].Answers, strings.Join(body.Users, ",")+": "+body.Card.Title.Title)
		}
	}
	return 0
}
