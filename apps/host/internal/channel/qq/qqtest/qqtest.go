// Package qqtest is a fake of QQ for tests. It enforces what the platform documents.
package qqtest

import (
	"encoding/base64"
	"encoding/json"
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
	"github.com/scorel/scorel/apps/host/internal/channel/gateway/gatewaytest"
	"github.com/scorel/scorel/apps/host/internal/channel/qq"
)

// Fake is the open platform of QQ: tokens, the API with its limits, and the gateway.
type Fake struct {
	channeltest.Screen
	server *httptest.Server
	Gate   *gatewaytest.Gateway

	nextID  int
	files   map[string][]byte
	media   map[string]channeltest.Shown
	answers map[string][]int // the numbers of answers to a message
	Tokens  int
}

// Start runs a fake until the test ends.
func Start(t *testing.T) *Fake {
	f := &Fake{
		nextID: 1000, files: map[string][]byte{}, media: map[string]channeltest.Shown{}, Screen: channeltest.NewScreen(),
		answers: map[string][]int{},
	}
	f.Gate = gatewaytest.New(t, gatewaytest.Options{Token: "QQBot access", Unauthorized: 4004, Step: f.Reached})
	f.server = httptest.NewServer(f.Steps(f.serve))
	t.Cleanup(f.server.Close)
	return f
}

// URL is the address of the API, for a setting of the platform.
func (f *Fake) URL() string { return f.server.URL }

// New implements channeltest.Fake.
func (f *Fake) New(t *testing.T, token string) channel.Platform {
	p, err := qq.New(qq.Options{AppID: "1024", Secret: token, API: f.server.URL})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (f *Fake) serve(w http.ResponseWriter, r *http.Request) {
	f.Lock()
	defer f.Unlock()
	if name, is := strings.CutPrefix(r.URL.Path, "/download/"); is {
		_, _ = w.Write(f.files[name])
		return
	}
	var in map[string]any
	if r.Method == http.MethodPost && json.NewDecoder(r.Body).Decode(&in) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if r.URL.Path == "/app/getAppAccessToken" {
		answer := map[string]any{"code": 100016, "message": "invalid appid or secret"}
		if in["appId"] == "1024" && in["clientSecret"] == channeltest.Token {
			f.Tokens++
			answer = map[string]any{"access_token": "access", "expires_in": "7200"}
		}
		_ = json.NewEncoder(w).Encode(answer)
		return
	}
	if r.Header.Get("Authorization") != "QQBot access" {
		refuse(w, 401, 11244)
		return
	}
	switch parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/"); {
	case r.URL.Path == "/users/@me":
		_ = json.NewEncoder(w).Encode(map[string]any{"id": "999", "username": "scorel"})
	case r.URL.Path == "/gateway":
		_ = json.NewEncoder(w).Encode(map[string]any{"url": f.Gate.URL})
	case len(parts) == 4 && parts[0] == "v2" && parts[3] == "files":
		f.upload(w, parts, in)
	case len(parts) == 4 && parts[0] == "v2" && parts[3] == "messages":
		f.post(w, parts, in)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

func refuse(w http.ResponseWriter, status, code int) {
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"code": code, "message": "refused"})
}

func chatOf(parts []string) string {
	if parts[1] == "groups" {
		return "group/" + parts[2]
	}
	return parts[2]
}

func (f *Fake) upload(w http.ResponseWriter, parts []string, in map[string]any) {
	text, _ := in["file_data"].(string)
	data, err := base64.StdEncoding.DecodeString(text)
	kind, _ := in["file_type"].(float64)
	if err != nil || len(data) == 0 || len(text) > 10_000_000 || kind == 4 && parts[1] == "groups" || in["srv_send_msg"] != false {
		refuse(w, 400, 850012)
		return
	}
	f.nextID++
	info := "info" + strconv.Itoa(f.nextID)
	name, _ := in["file_name"].(string)
	f.media[info] = channeltest.Shown{FileName: name, File: data}
	_ = json.NewEncoder(w).Encode(map[string]any{"file_info": info, "ttl": 3600})
}

func (f *Fake) post(w http.ResponseWriter, parts []string, in map[string]any) {
	if f.Refuse > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(f.Refuse/time.Second)))
		f.Refuse = 0
		refuse(w, 429, 22009)
		return
	}
	chat := chatOf(parts)
	if f.Gone[chat] {
		refuse(w, 400, 40034004)
		return
	}
	text, _ := in["content"].(string)
	shown := channeltest.Shown{Text: strings.ReplaceAll(text, "\u200b", "")} // which nobody sees
	if in["msg_type"] == float64(7) {
		info, _ := in["media"].(map[string]any)
		shown = f.media[info["file_info"].(string)]
	}
	if shown.File == nil && strings.TrimSpace(text) == "" || utf8.RuneCountInString(text) > 2000 || strings.Contains(text, "<@") || strings.Contains(text, "<#") {
		refuse(w, 400, 50015)
		return
	}
	if answers, _ := in["msg_id"].(string); answers != "" {
		seq, _ := in["msg_seq"].(float64)
		if slices.Contains(f.answers[answers], int(seq)) {
			refuse(w, 400, 40054005)
			return
		}
		if len(f.answers[answers]) == 5 {
			refuse(w, 400, 22009)
			return
		}
		f.answers[answers] = append(f.answers[answers], int(seq))
	}
	f.nextID++
	shown.ID = "ROBOT1.0_" + strconv.Itoa(f.nextID)
	f.Messages[chat] = append(f.Messages[chat], shown)
	_ = json.NewEncoder(w).Encode(map[string]any{"id": shown.ID, "timestamp": "2026-11-23T10:00:00+08:00"})
}

func (f *Fake) say(chat channel.Chat, from channel.Sender, text string, attachments []any) string {
	f.Lock()
	f.nextID++
	id := "ROBOT1.0_" + strconv.Itoa(f.nextID) + "!!"
	f.Unlock()
	m := map[string]any{"id": id, "content": text, "timestamp": "2026-11-23T10:00:00+08:00", "attachments": attachments}
	if group, is := strings.CutPrefix(chat.ID, "group/"); is {
		m["group_openid"], m["author"], m["content"] = group, map[string]any{"member_openid": from.ID}, " "+text
		f.Gate.Send("GROUP_AT_MESSAGE_CREATE", m)
		return id
	}
	m["author"] = map[string]any{"user_openid": from.ID}
	f.Gate.Send("C2C_MESSAGE_CREATE", m)
	return id
}

// Say implements channeltest.Fake.
func (f *Fake) Say(chat channel.Chat, from channel.Sender, text string) string {
	return f.say(chat, from, text, nil)
}

// Attach implements channeltest.Fake.
func (f *Fake) Attach(chat channel.Chat, from channel.Sender, text, name string, data []byte) string {
	f.Lock()
	f.files["one"] = data
	f.Unlock()
	return f.say(chat, from, text, []any{map[string]any{"url": f.server.URL + "/download/one", "filename": name, "size": len(data), "content_type": "file"}})
}

// QQ has none of these.
func (f *Fake) Press(channel.Chat, channel.Sender, string, string) {}
func (f *Fake) Edit(channel.Chat, string, string) bool             { return false }
func (f *Fake) Remove(channel.Chat, string) bool                   { return false }

// Break implements channeltest.Fake.
func (f *Fake) Break()      { f.Gate.Break() }
func (f *Fake) Again() bool { f.Gate.Again(); return true }
