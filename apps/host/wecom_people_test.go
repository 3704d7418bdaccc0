package host_test

import (
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/coder/websocket"
)

// event sends an event of a message that a person has seen. f.mu is held.
func (f *weCom) event(conn *websocket.Conn, request string, event map[string]any) {
	f.callback(conn, "aibot_event_callback", request, map[string]any{"msgtype": "event", "event": event, "create_time": time.Now().Unix()})
}

func (f *weCom) callback(conn *websocket.Conn, cmd, request string, body map[string]any) {
	f.ids++
	body["aibotid"] = "bot"
	if body["msgid"] == nil {
		body["msgid"] = fmt.Sprint("msg", f.ids)
	}
	if request == "" {
		request = fmt.Sprint("callback", f.ids)
	}
	f.write(conn, map[string]any{"cmd": cmd, "headers": map[string]string{"req_id": request}, "body": body})
}

// who are the fields of a person in a chat: "single:" and the person, or "group:" and a number.
func who(chat, user string) map[string]any {
	body := map[string]any{"from": map[string]string{"userid": user}, "chattype": "single"}
	if id, group := strings.CutPrefix(chat, "group:"); group {
		body["chattype"], body["chatid"] = "group", id
	}
	return body
}

// say delivers a message with a content, so many times.
func (f *weCom) say(chat, user string, times int, content map[string]any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.chats[chat] = true
	f.ids++
	body := who(chat, user)
	body["msgid"] = fmt.Sprint("msg", f.ids)
	maps.Copy(body, content)
	for n := range times {
		request := fmt.Sprintf("%s-%d", body["msgid"], n)
		f.heard[request] = chat
		f.callback(f.conn, "aibot_msg_callback", request, body)
	}
}

func plainText(text string) map[string]any {
	return map[string]any{"msgtype": "text", "text": map[string]string{"content": text}}
}

// press presses a button of a card.
func (f *weCom) press(user string, card weComShown, label string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ids++
	request := fmt.Sprint("press", f.ids)
	f.events[request] = true
	body := who(card.Chat, user)
	body["msgtype"] = "event"
	body["event"] = map[string]any{
		"eventtype":           "template_card_event",
		"template_card_event": map[string]any{"card_type": "button_interaction", "event_key": card.Buttons[label], "task_id": card.Task},
	}
	f.callback(f.conn, "aibot_event_callback", request, body)
}

// hears waits for a message of the bot after the first `after`, and returns it with its number.
func (f *weCom) hears(after int, chat, text string) (shown weComShown, n int) {
	f.t.Helper()
	f.until(fmt.Sprintf("%q in %s", text, chat), func() bool {
		for n = after; n < len(f.shown); n++ {
			if shown = f.shown[n]; shown.Chat == chat && strings.Contains(shown.Text, text) {
				return true
			}
		}
		return false
	})
	return shown, n
}

// card waits for a card with a button.
func (f *weCom) card(after int, chat, label string) (shown weComShown) {
	f.t.Helper()
	f.until("a card with "+label, func() bool {
		for _, shown = range f.shown[after:] {
			if shown.Chat == chat && shown.Buttons[label] != "" {
				return true
			}
		}
		return false
	})
	return shown
}
