package discordtest

import (
	"strconv"

	"github.com/scorel/scorel/apps/host/internal/channel"
)

// Message makes a message of a person.
func (f *Fake) Message(chat channel.Chat, from channel.Sender, text string) (map[string]any, string) {
	f.Lock()
	defer f.Unlock()
	f.nextID++
	id := strconv.Itoa(f.nextID)
	m := map[string]any{
		"id": id, "channel_id": chat.ID, "author": person(from), "type": 0, "content": text,
		"timestamp": "2026-11-23T10:00:00.000000+00:00", "edited_timestamp": nil, "attachments": []any{}, "mentions": []any{},
	}
	if at := f.Guild[chat.ID]; at != nil {
		m["guild_id"] = at["guild_id"]
	}
	f.Said[id], f.order = m, append(f.order, id)
	return m, id
}

// Say implements channeltest.Fake.
func (f *Fake) Say(chat channel.Chat, from channel.Sender, text string) string {
	m, id := f.Message(chat, from, text)
	f.Gate.Send("MESSAGE_CREATE", m)
	return id
}

// Attach implements channeltest.Fake.
func (f *Fake) Attach(chat channel.Chat, from channel.Sender, text, name string, data []byte) string {
	m, id := f.Message(chat, from, text)
	f.Lock()
	f.files[id] = data
	m["attachments"] = []any{map[string]any{"id": "7", "filename": name, "size": len(data), "url": f.server.URL + "/files/" + id, "content_type": "application/octet-stream"}}
	f.Unlock()
	f.Gate.Send("MESSAGE_CREATE", m)
	return id
}

// Press implements channeltest.Fake.
func (f *Fake) Press(chat channel.Chat, from channel.Sender, messageID, data string) {
	f.Lock()
	f.nextID++
	id := strconv.Itoa(f.nextID)
	f.pressed[id+"/tok.en-"+id] = true
	f.Unlock()
	f.Gate.Send("INTERACTION_CREATE", map[string]any{
		"id": id, "token": "tok.en-" + id, "type": 3, "channel_id": chat.ID, "user": person(from),
		"message": map[string]any{"id": messageID, "channel_id": chat.ID}, "data": map[string]any{"component_type": 2, "custom_id": data},
	})
}

// Edit implements channeltest.Fake.
func (f *Fake) Edit(_ channel.Chat, messageID, text string) bool {
	f.Lock()
	m := copied(f.Said[messageID])
	m["content"], m["edited_timestamp"] = text, "2026-11-23T10:01:00.000000+00:00"
	f.Said[messageID] = m
	f.Unlock()
	f.Gate.Send("MESSAGE_UPDATE", m)
	return true
}

// Remove implements channeltest.Fake.
func (f *Fake) Remove(chat channel.Chat, messageID string) bool {
	f.Gate.Send("MESSAGE_DELETE", map[string]any{"id": messageID, "channel_id": chat.ID})
	return true
}

// Break implements channeltest.Fake.
func (f *Fake) Break()      { f.Gate.Break() }
func (f *Fake) Again() bool { f.Gate.Again(); return true }
