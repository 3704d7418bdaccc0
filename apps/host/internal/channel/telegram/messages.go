package telegram

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/go-telegram/bot/models"

	"github.com/scorel/scorel/apps/host/internal/channel"
)

// units counts UTF-16 code units, as Telegram does after it has read the entities. A block
// stands on lines of its own.
func units(s channel.Segment) int {
	n := utf16Len(s.Text)
	if s.Kind == channel.Block {
		n += 2
	}
	return n
}

func utf16Len(text string) (n int) {
	for _, r := range text {
		n += max(1, utf16.RuneLen(r))
	}
	return n
}

// render returns a text with the entities that say how its parts look.
func render(rich []channel.Segment) (string, []models.MessageEntity) {
	var b strings.Builder
	var entities []models.MessageEntity
	at := 0
	write := func(text string) {
		b.WriteString(text)
		at += utf16Len(text)
	}
	for i, s := range rich {
		if s.Kind == channel.Block && i > 0 {
			write("\n")
		}
		entity := models.MessageEntity{Offset: at, Length: utf16Len(s.Text)}
		switch s.Kind {
		case channel.Bold:
			entity.Type = models.MessageEntityTypeBold
		case channel.Code:
			entity.Type = models.MessageEntityTypeCode
		case channel.Block:
			entity.Type, entity.Language = models.MessageEntityTypePre, s.Lang
		}
		if entity.Type != "" && entity.Length > 0 {
			entities = append(entities, entity)
		}
		write(strings.ToValidUTF8(s.Text, "\uFFFD"))
		if s.Kind == channel.Block && i < len(rich)-1 {
			write("\n")
		}
	}
	return b.String(), entities
}

// chatID is the id of a chat, or of a topic in one.
func chatID(m *models.Message) string {
	id := strconv.FormatInt(m.Chat.ID, 10)
	if m.IsTopicMessage {
		id += "/" + strconv.Itoa(m.MessageThreadID)
	}
	return id
}

func splitChat(id string) (chat int64, thread int, err error) {
	first, second, topic := strings.Cut(id, "/")
	if chat, err = strconv.ParseInt(first, 10, 64); err == nil && topic {
		thread, err = strconv.Atoi(second)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("telegram: the chat %q: %w", id, channel.ErrChatGone)
	}
	return chat, thread, nil
}

// reader turns updates of the Bot API into those of channels.
type reader struct{ me channel.Identity }

func (r reader) update(u *models.Update) channel.Update {
	out := channel.Update{ID: strconv.FormatInt(u.ID, 10)}
	switch {
	case u.Message != nil:
		out.Message = r.message(u.Message)
	case u.EditedMessage != nil:
		out.Edited = r.message(u.EditedMessage)
	case u.CallbackQuery != nil:
		out.Press = press(u.CallbackQuery)
	}
	if out.Message == nil && out.Edited == nil && out.Press == nil {
		out.ID = "" // only the offset moves
	}
	return out
}

func chatOf(m *models.Message) channel.Chat {
	title := m.Chat.Title
	if title == "" {
		title = strings.TrimSpace(m.Chat.FirstName + " " + m.Chat.LastName)
	}
	return channel.Chat{ID: chatID(m), Title: title, Direct: m.Chat.Type == models.ChatTypePrivate}
}

func sender(u *models.User) channel.Sender {
	return channel.Sender{ID: strconv.FormatInt(u.ID, 10), Name: strings.TrimSpace(u.FirstName + " " + u.LastName), Bot: u.IsBot}
}

// message returns nil for what people do not write, such as that someone joined.
func (r reader) message(m *models.Message) *channel.Message {
	files := filesOf(m)
	text := m.Text
	entities := m.Entities
	if text == "" {
		text, entities = m.Caption, m.CaptionEntities
	}
	if m.From == nil || text == "" && len(files) == 0 {
		return nil
	}
	out := &channel.Message{Chat: chatOf(m), From: sender(m.From), ID: strconv.Itoa(m.ID), Files: files, At: time.Unix(int64(m.Date), 0).UnixMilli()}
	text, mentioned := r.unmention(text, entities)
	replied := m.ReplyToMessage != nil && m.ReplyToMessage.From != nil && strconv.FormatInt(m.ReplyToMessage.From.ID, 10) == r.me.ID
	out.Text, out.Addressed = text, out.Chat.Direct || mentioned || replied
	return out
}

// unmention removes the bot's name from the beginning of a text and from a command, and
// reports whether the text is for the bot.
func (r reader) unmention(text string, entities []models.MessageEntity) (string, bool) {
	addressed := false
	for _, e := range entities {
		start, end := byteAt(text, e.Offset), byteAt(text, e.Offset+e.Length)
		part := text[start:end]
		switch {
		case e.Type == models.MessageEntityTypeMention && strings.EqualFold(part, r.me.Name):
			addressed = true
			if start == 0 {
				return strings.TrimSpace(text[end:]), true
			}
		case e.Type == models.MessageEntityTypeBotCommand && start == 0:
			command, name, named := strings.Cut(part, "@")
			if !named {
				return text, true
			}
			if strings.EqualFold("@"+name, r.me.Name) {
				return command + text[end:], true
			}
			return text, false // for another bot
		}
	}
	return text, addressed
}

// byteAt is the place of a UTF-16 offset in a text.
func byteAt(text string, offset int) int {
	n := 0
	for i, r := range text {
		if n >= offset {
			return i
		}
		n += max(1, utf16.RuneLen(r))
	}
	return len(text)
}

func filesOf(m *models.Message) []channel.File {
	file := func(id, name, mime string, size int64) []channel.File {
		return []channel.File{{Ref: id, Name: name, MIME: mime, Size: size}}
	}
	switch {
	case len(m.Photo) > 0:
		best := m.Photo[len(m.Photo)-1]
		return file(best.FileID, "photo.jpg", "image/jpeg", int64(best.FileSize))
	case m.Document != nil:
		return file(m.Document.FileID, m.Document.FileName, m.Document.MimeType, m.Document.FileSize)
	case m.Audio != nil:
		return file(m.Audio.FileID, m.Audio.FileName, m.Audio.MimeType, m.Audio.FileSize)
	case m.Video != nil:
		return file(m.Video.FileID, m.Video.FileName, m.Video.MimeType, m.Video.FileSize)
	case m.Voice != nil:
		return file(m.Voice.FileID, "voice.ogg", m.Voice.MimeType, m.Voice.FileSize)
	}
	return nil
}

func press(q *models.CallbackQuery) *channel.Press {
	m := q.Message.Message
	if m == nil { // too old for Telegram to say what it was
		return nil
	}
	return &channel.Press{Chat: chatOf(m), From: sender(&q.From), MessageID: strconv.Itoa(m.ID), Data: q.Data, Ref: q.ID}
}
