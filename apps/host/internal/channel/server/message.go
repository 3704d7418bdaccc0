package server

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/channel"
)

// oneChat is the id of the chat, and of the sender, of a server that names none.
const oneChat = "default"

var metaName = regexp.MustCompile(`^[A-Za-z0-9_]{1,64}$`)

// readMessage reads the parameters of notifications/claude/channel.
func readMessage(params json.RawMessage) (u channel.Update, ok bool) {
	var n struct {
		Content string                     `json:"content"`
		Meta    map[string]json.RawMessage `json:"meta"`
	}
	if json.Unmarshal(params, &n) != nil {
		return u, false
	}
	meta := map[string]string{}
	for name, raw := range n.Meta {
		var value string
		if metaName.MatchString(name) && json.Unmarshal(raw, &value) == nil {
			meta[name] = value
		}
	}
	first := func(names ...string) string {
		for _, name := range names {
			if value := meta[name]; value != "" && len(value) <= channel.MaxID-16 {
				return value
			}
		}
		return ""
	}
	m := channel.Message{
		Chat: channel.Chat{ID: orOne(first("chat_id")), Title: first("chat_title", "chat"), Direct: true},
		From: channel.Sender{ID: orOne(first("user_id", "sender_id", "user", "sender")), Name: first("user", "sender", "user_name")},
		Text: n.Content, Addressed: true, Meta: shownMeta(meta), Outside: true,
	}
	// Some servers count messages from one again when they start, so that the id alone does not
	// say which message it is.
	given := first("message_id")
	m.ID = given + "#" + digest(m.Chat.ID, given, meta["ts"], n.Content)
	if given == "" {
		m.ID = "#" + strings.ToLower(rand.Text()[:16])
	}
	return channel.Update{ID: "m:" + digest(m.Chat.ID, m.ID), Message: &m}, true
}

func orOne(id string) string {
	if id == "" {
		return oneChat
	}
	return id
}

// digest returns 16 hex digits of what identifies something.
func digest(parts ...string) string {
	raw, _ := json.Marshal(parts) // strings can always be encoded
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:8])
}

// shownMeta returns the attributes that the model is shown, sorted by name.
func shownMeta(meta map[string]string) (list []channel.Attribute) {
	for name, value := range meta {
		list = append(list, channel.Attribute{Name: name, Value: value})
	}
	slices.SortFunc(list, func(a, b channel.Attribute) int { return strings.Compare(a.Name, b.Name) })
	return list[:min(len(list), channel.MaxMeta)]
}

// givenID returns the id that the server gave a message.
func givenID(id string) string {
	given, _, _ := strings.Cut(id, "#")
	return given
}

// pending is an approval that the server was asked about.
type pending struct {
	ID    string `json:"i"` // the five letters
	Chat  string `json:"c"`
	Sent  string `json:"m"` // id of the message
	Allow string `json:"a,omitempty"`
	Deny  string `json:"d,omitempty"`
}

// restore reads the approvals of a cursor, unless there are newer ones.
func (p *Platform) restore(cursor []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pending != nil {
		return
	}
	p.pending = []pending{}
	if json.Unmarshal(cursor, &p.pending) != nil || len(p.pending) > maxPending {
		p.pending = []pending{}
	}
}

// cursor is what has to be known after a restart: as many of the newest approvals as fit.
func (p *Platform) cursor() []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		raw, err := json.Marshal(p.pending)
		if err != nil { // cannot fail: strings can always be encoded
			return nil
		}
		if len(raw) <= channel.MaxCursor {
			return raw
		}
		p.pending = p.pending[1:]
	}
}

// letters are those of a request: none that looks like a digit.
const letters = "abcdefghijkmnopqrstuvwxyz"

// newLetters returns five letters that no other request has. p.mu is held.
func (p *Platform) newLetters() string {
	for {
		var b [5]byte
		_, _ = rand.Read(b[:]) // never fails
		for i := range b {
			b[i] = letters[int(b[i])%len(letters)]
		}
		id := string(b[:])
		if !slices.ContainsFunc(p.pending, func(one pending) bool { return one.ID == id }) {
			return id
		}
	}
}

// answered reads the answer to a request. It counts once, and only for what was asked.
func (p *Platform) answered(params json.RawMessage) (u channel.Update, ok bool) {
	var n struct {
		ID       string `json:"request_id"`
		Behavior string `json:"behavior"`
	}
	if json.Unmarshal(params, &n) != nil {
		return u, false
	}
	p.mu.Lock()
	i := slices.IndexFunc(p.pending, func(one pending) bool { return one.ID == n.ID })
	if i < 0 {
		p.mu.Unlock()
		return u, false
	}
	one := p.pending[i]
	data := map[string]string{"allow": one.Allow, "deny": one.Deny}[n.Behavior]
	if data == "" {
		p.mu.Unlock()
		return u, false
	}
	p.pending = slices.Delete(slices.Clone(p.pending), i, i+1)
	p.mu.Unlock()
	press := channel.Press{Chat: channel.Chat{ID: one.Chat, Direct: true}, From: channel.Sender{ID: oneChat}, Anyone: true, MessageID: one.Sent, Data: data}
	return channel.Update{ID: "p:" + one.ID + digest(data), Cursor: p.cursor(), Press: &press}, true
}

// request is a request for permission as Claude Code sends it.
type request struct {
	ID          string `json:"request_id"`
	Tool        string `json:"tool_name"`
	Description string `json:"description"`
	Input       string `json:"input_preview"`
}

// maxPreview is the length of a preview, in bytes, as Claude Code cuts it. The message before it
// showed all.
const maxPreview = 200

// asking makes a request of a message with the buttons of an approval; false for other buttons.
func (p *Platform) asking(chat, sent string, m channel.Outgoing) (request, bool) {
	one := pending{Chat: chat, Sent: sent}
	for _, b := range m.Buttons {
		switch {
		case strings.HasPrefix(b.Data, "a:"):
			one.Allow = b.Data
		case strings.HasPrefix(b.Data, "d:"):
			one.Deny = b.Data
		}
	}
	if one.Deny == "" {
		return request{}, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	one.ID = p.newLetters()
	p.pending = append(slices.Clone(p.pending), one)
	p.pending = p.pending[max(0, len(p.pending)-maxPending):]
	select {
	case p.changed <- struct{}{}:
	default: // already known
	}
	plain := channel.String(m.Text)
	title, rest, _ := strings.Cut(plain, "\n")
	return request{one.ID, "scorel", channel.Cut(title, maxPreview), channel.Cut(rest, maxPreview)}, true
}
