package host_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/coder/websocket"
)

// feishuFrame is a frame of the long connection: the message pbbp2.Frame of the SDK.
type feishuFrame struct {
	method  uint64
	headers map[string]string
	payload []byte
}

// The fields of a frame.
const (
	fieldMethod, fieldHeader, fieldPayload = 4, 5, 8
	wireVarint, wireBytes                  = 0, 2
)

func (m feishuFrame) encode() (out []byte) {
	for field := uint64(1); field <= fieldMethod; field++ { // SeqID, LogID, service, method: all are required
		out = append(out, byte(field<<3|wireVarint))
		out = binary.AppendUvarint(out, map[uint64]uint64{fieldMethod: m.method}[field])
	}
	for key, value := range m.headers {
		var header []byte
		header = appendBytes(header, 1, key)
		header = appendBytes(header, 2, value)
		out = appendBytes(out, fieldHeader, string(header))
	}
	return appendBytes(out, fieldPayload, string(m.payload))
}

func appendBytes(out []byte, field byte, data string) []byte {
	out = append(out, field<<3|wireBytes)
	out = binary.AppendUvarint(out, uint64(len(data)))
	return append(out, data...)
}

// fields calls a function with each field of a message.
func fields(data []byte, take func(field, number uint64, data []byte)) error {
	for len(data) > 0 {
		key, n := binary.Uvarint(data)
		if n <= 0 {
			return errors.New("no field")
		}
		data = data[n:]
		value, n := binary.Uvarint(data)
		if n <= 0 {
			return errors.New("no value")
		}
		data = data[n:]
		if key&7 == wireVarint {
			take(key>>3, value, nil)
			continue
		}
		if key&7 != wireBytes || value > uint64(len(data)) {
			return fmt.Errorf("a field of the kind %d", key&7)
		}
		take(key>>3, 0, data[:value])
		data = data[value:]
	}
	return nil
}

func readFeishuFrame(data []byte) (feishuFrame, error) {
	m := feishuFrame{headers: map[string]string{}}
	var inner error
	err := fields(data, func(field, number uint64, data []byte) {
		switch field {
		case fieldMethod:
			m.method = number
		case fieldPayload:
			m.payload = data
		case fieldHeader:
			var pair [3]string
			inner = errors.Join(inner, fields(data, func(field, _ uint64, data []byte) { pair[min(field, 2)] = string(data) }))
			m.headers[pair[1]] = pair[2]
		}
	})
	return m, errors.Join(err, inner)
}

// deliver sends an event, until it is answered.
func (f *feishu) deliver(kind string, event map[string]any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ids++
	id := fmt.Sprint("event", f.ids)
	payload, err := json.Marshal(map[string]any{"schema": "2.0", "header": map[string]string{"event_id": id, "event_type": kind}, "event": event})
	if err != nil {
		f.t.Fatal(err)
	}
	frame := feishuFrame{1, map[string]string{"type": "event", "message_id": id, "sum": "1", "seq": "0", "trace_id": "t"}, payload}.encode()
	f.waiting[id] = frame
	f.push(id)
}

// push sends an event, and again after the three seconds in which it has to be answered. f.mu is held.
func (f *feishu) push(id string) {
	frame := f.waiting[id]
	if frame == nil || f.over {
		return
	}
	if f.conn != nil {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		_ = f.conn.Write(ctx, websocket.MessageBinary, frame) // what is lost is sent again
	}
	time.AfterFunc(3*time.Second, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.push(id)
	})
}

// say delivers a message with a content, so many times. In a group it is for the bot.
func (f *feishu) say(chat, user, kind string, times int, content map[string]string) (id string) {
	f.mu.Lock()
	f.ids++
	id = fmt.Sprint("om_in", f.ids)
	f.mu.Unlock()
	message := map[string]any{"message_id": id, "chat_id": chat, "chat_type": "p2p", "message_type": kind, "create_time": "1764230400000"}
	if strings.HasPrefix(chat, "oc_group") {
		message["chat_type"] = "group"
		message["mentions"] = []any{
			map[string]any{"key": "@_user_1", "name": "scorel", "id": map[string]string{"open_id": "ou_bot"}},
			map[string]any{"key": "@_user_10", "name": "Bob $$", "id": map[string]string{"open_id": "ou_bob"}},
		}
	}
	text, err := json.Marshal(content)
	if err != nil {
		f.t.Fatal(err)
	}
	message["content"] = string(text)
	for range times {
		f.deliver("im.message.receive_v1", map[string]any{"message": message, "sender": map[string]any{"sender_type": "user", "sender_id": map[string]string{"open_id": user}}})
	}
	return id
}

func feishuText(text string) map[string]string { return map[string]string{"text": text} }

// waits counts the events with a message that were not answered. f.mu is held.
func (f *feishu) waits(message string) (n int) {
	for _, frame := range f.waiting {
		if bytes.Contains(frame, []byte(`"`+message+`"`)) {
			n++
		}
	}
	return n
}

// attach delivers an image.
func (f *feishu) attach(chat, user string, data []byte) {
	f.mu.Lock()
	f.ids++
	key := fmt.Sprint("img_", f.ids)
	f.files[fmt.Sprint("om_in", f.ids+1, "/", key, "/image")] = data // of the next message
	f.mu.Unlock()
	f.say(chat, user, "image", 1, map[string]string{"image_key": key})
}

func (f *feishu) press(user string, m feishuShown, label string) {
	f.deliver("card.action.trigger", map[string]any{
		"operator": map[string]string{"open_id": user}, "action": map[string]any{"tag": "button", "value": m.Buttons[label]},
		"context": map[string]string{"open_message_id": m.ID, "open_chat_id": m.Chat}, "token": "c-1",
	})
}

// shows waits until a chat shows a text, with a button unless it is "".
func (f *feishu) shows(chat, text, button string) (found feishuShown) {
	f.t.Helper()
	f.until(fmt.Sprintf("%q with %q in %s", text, button, chat), func() bool {
		for _, found = range f.shown {
			if found.Chat == chat && strings.Contains(found.Text, text) && (button == "" || found.Buttons[button] != nil) {
				return true
			}
		}
		return false
	})
	return found
}
