package slacktest

import (
	"slices"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/channel"
)

// Message makes a message of a person.
func (f *Fake) Message(chat channel.Chat, from channel.Sender, text string) (map[string]any, string) {
	f.Lock()
	defer f.Unlock()
	f.nextID++
	place, thread, _ := strings.Cut(chat.ID, "/")
	kind := "channel"
	if chat.Direct {
		kind = "im"
	}
	text = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)
	m := map[string]any{"type": "message", "channel": place, "channel_type": kind, "user": from.ID, "text": text, "ts": Stamp(f.nextID)}
	if thread != "" {
		m["thread_ts"] = thread
	}
	f.said = append(f.said, m)
	return m, Stamp(f.nextID)
}

// Say implements channeltest.Fake.
func (f *Fake) Say(chat channel.Chat, from channel.Sender, text string) string {
	m, id := f.Message(chat, from, text)
	f.Deliver("events_api", map[string]any{"event": m})
	return id
}

// Attach implements channeltest.Fake.
func (f *Fake) Attach(chat channel.Chat, from channel.Sender, text, name string, data []byte) string {
	m, id := f.Message(chat, from, text)
	f.Lock()
	f.files["FIN"+id], f.names["FIN"+id] = data, name
	m["subtype"], m["files"] = "file_share", []any{map[string]any{"id": "FIN" + id, "name": name, "size": len(data)}}
	f.Unlock()
	f.Deliver("events_api", map[string]any{"event": m})
	return id
}

// Press implements channeltest.Fake.
func (f *Fake) Press(chat channel.Chat, from channel.Sender, messageID, data string) {
	f.Lock()
	f.nextID++
	at := Stamp(f.nextID)
	f.Unlock()
	f.Deliver("interactive", map[string]any{
		"type": "block_actions", "user": map[string]any{"id": from.ID, "name": from.Name}, "channel": map[string]any{"id": chat.ID, "name": "directmessage"},
		"message": map[string]any{"ts": messageID}, "actions": []any{map[string]any{"action_id": "b0", "value": data, "action_ts": at}},
	})
}

// Edit implements channeltest.Fake.
func (f *Fake) Edit(chat channel.Chat, messageID, text string) bool {
	f.Lock()
	i := slices.IndexFunc(f.said, func(m map[string]any) bool { return m["ts"] == messageID })
	m := map[string]any{}
	for k, v := range f.said[i] {
		m[k] = v
	}
	f.nextID++
	m["text"], m["edited"] = text, map[string]any{"ts": Stamp(f.nextID)}
	f.said[i] = m
	f.Unlock()
	f.Deliver("events_api", map[string]any{"event": map[string]any{"type": "message", "subtype": "message_changed", "channel": chat.ID, "channel_type": "im", "message": m}})
	return true
}

// Remove implements channeltest.Fake.
func (f *Fake) Remove(chat channel.Chat, messageID string) bool {
	f.Deliver("events_api", map[string]any{"event": map[string]any{"type": "message", "subtype": "message_deleted", "channel": chat.ID, "channel_type": "im", "deleted_ts": messageID}})
	return true
}

// Break implements channeltest.Fake.
func (f *Fake) Break() {
	f.Lock()
	defer f.Unlock()
	for conn := range f.sockets {
		_ = conn.CloseNow()
	}
}

// Again sends the last envelope that was acknowledged once more, as Slack does when it has not
// seen the acknowledgement.
func (f *Fake) Again() bool {
	for {
		changed := f.Changed()
		f.Lock()
		last, waiting := f.last, len(f.Waiting)
		f.Unlock()
		if waiting == 0 && last.ID != "" {
			f.Deliver(last.Type, last.Payload)
			return true
		}
		<-changed
	}
}
