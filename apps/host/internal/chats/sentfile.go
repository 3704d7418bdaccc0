package chats

import (
	"encoding/json"

	"github.com/scorel/scorel/packages/protocol/session"
)

// fileOf returns the file that the agent sent with an entry, or nil.
func fileOf(e session.Entry) *session.SentFile {
	if e.Role() != session.RoleToolResult {
		return nil
	}
	m, ok := e.AsMessage()
	if !ok || m.Message.ToolName != session.ToolSendFile || m.Message.IsError != nil && *m.Message.IsError {
		return nil
	}
	var file session.SentFile
	if json.Unmarshal(m.Message.Details, &file) != nil || file.Path == "" || file.SHA256 == "" {
		return nil
	}
	return &file
}

// sendFile sends a file of a session to the chat. Like what the agent says, it is stored together
// with the position in the log, so that it is sent once.
func (t *talk) sendFile(sessionID string, l *live, e session.Entry, file session.SentFile) error {
	err := t.change(func(f *record, b *bound) {
		if follow := b.follow(sessionID); follow != nil {
			follow.Seq = e.Seq
		}
		f.say(item{
			Chat: b.Chat.ID, Key: key("file", t.clientID, sessionID, e.ID),
			File: &sentFile{ClientID: t.clientID, Session: sessionID, Path: file.Path, SHA256: file.SHA256},
		})
	})
	if err == nil {
		l.seq = max(l.seq, e.Seq)
	}
	return err
}
