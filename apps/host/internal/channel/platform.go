package channel

import (
	"context"
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Bounds of what a platform passes on, whatever the platform itself allows.
const (
	MaxID      = 256      // bytes of an id of an update, chat, sender or message
	MaxName    = 64       // bytes of a name or title, after Clean
	MaxText    = 64 << 10 // bytes of a message's text; the rest is cut off
	MaxFiles   = 10       // files of a message
	MaxFile    = 20 << 20 // bytes of a file, in both directions
	MaxRef     = 2048     // bytes of what identifies a file or a press
	MaxCursor  = 4096     // bytes of a cursor
	MaxButtons = 8        // buttons of a message
	MaxData    = 64       // bytes of a button's data, all of them ASCII
	MaxMeta    = 16       // attributes of a message
	MaxProblem = 300      // bytes of what a server says about a failure
)

// Platform is a connection to a chat platform with the account of one bot. The package
// comment says what its methods have to do.
type Platform interface {
	Limits() Limits
	Check(ctx context.Context) (Identity, error)
	Run(ctx context.Context, cursor []byte, in Inbound) error
	// Send sends one message and returns its id in the chat.
	Send(ctx context.Context, chatID string, m Outgoing) (messageID string, err error)
	// Edit replaces the text and the buttons of a message that Send returned. That the
	// message has them already is not an error. It is called only if Limits.Edits, or if
	// Limits.Grows and the message was Growing until then.
	Edit(ctx context.Context, chatID, messageID string, m Outgoing) error
	// Fetch opens a file of a message. The caller closes it and reads no more than MaxFile.
	Fetch(ctx context.Context, f File) (io.ReadCloser, error)
	// Answer confirms a press and shows a notice to the person who pressed, where the
	// platform can do that; the notice may be "".
	Answer(ctx context.Context, p Press, notice string) error
}

// Inbound receives what happens on a platform.
type Inbound interface {
	// Connected reports that messages arrive from now on.
	Connected()
	// Take stores an update. After an error the update is not stored: Run returns the error
	// without acknowledging it.
	Take(ctx context.Context, u Update) error
}

// Limits are what a platform allows. They are constant.
type Limits struct {
	Text int // units of a message
	// Units returns how much of Text a segment takes when it is rendered, with its markup.
	Units func(Segment) int
	// Every is the least time between two messages to a chat, and EditEvery between two
	// edits of a message.
	Every, EditEvery time.Duration
	File             int64 // bytes of a file that can be sent; 0 for a platform without files
	Edits            bool  // messages can be edited
	Grows            bool  // a message can be edited while it is Growing, also without Edits
	Buttons          bool  // messages can have buttons
	Idempotent       bool  // Send with a key that was used before does not send again
}

// Identity is the account of a bot.
type Identity struct {
	ID   string `json:"id"`
	Name string `json:"name"` // as people address it, such as "@my_bot"
	// Link opens a chat with the bot, if the platform has such links.
	Link string `json:"link,omitempty"`
}

// Update is one thing that happened: at most one of the pointers is not nil.
type Update struct {
	ID     string `json:"id"`
	Cursor []byte `json:"cursor,omitempty"`

	Message *Message `json:"message,omitempty"`
	Edited  *Message `json:"edited,omitempty"` // the whole message as it is now
	Deleted *Deleted `json:"deleted,omitempty"`
	Press   *Press   `json:"press,omitempty"`
}

// Chat is a conversation or thread.
type Chat struct {
	ID     string `json:"id"`
	Title  string `json:"title,omitempty"`
	Direct bool   `json:"direct,omitempty"` // only the bot and one person are in it
}

// Sender is who wrote or pressed.
type Sender struct {
	ID   string `json:"id"` // that the platform guarantees, never a name that people choose
	Name string `json:"name,omitempty"`
	Bot  bool   `json:"bot,omitempty"` // bots are never heard
}

// Message is a message of a chat.
type Message struct {
	Chat      Chat   `json:"chat"`
	From      Sender `json:"from"`
	ID        string `json:"id"` // in the chat
	Text      string `json:"text,omitempty"`
	Files     []File `json:"files,omitempty"`
	Addressed bool   `json:"addressed,omitempty"`
	At        int64  `json:"at,omitempty"` // Unix milliseconds
	// Meta is what a channel server says about the message. A message with Outside came through
	// a server whose word is all that is known about who wrote it.
	Meta    []Attribute `json:"meta,omitempty"`
	Outside bool        `json:"outside,omitempty"`
}

// Attribute is something that a channel server says about a message.
type Attribute struct {
	Name  string `json:"name"` // letters, digits and "_"
	Value string `json:"value"`
}

// File is a file of a message, which Fetch reads.
type File struct {
	Ref  string `json:"ref"` // for the platform; it may be a secret URL
	Name string `json:"name,omitempty"`
	MIME string `json:"mime,omitempty"`
	Size int64  `json:"size,omitempty"` // 0 if the platform does not say
}

// Deleted is a message that was deleted.
type Deleted struct {
	Chat Chat   `json:"chat"`
	ID   string `json:"id"`
}

// Press is a press of a button.
type Press struct {
	Chat      Chat   `json:"chat"`
	From      Sender `json:"from"`
	MessageID string `json:"messageId"`
	Data      string `json:"data"`
	Ref       string `json:"ref,omitempty"` // for Answer
	// Anyone means that the platform does not say who of those that it hears has pressed.
	Anyone bool `json:"anyone,omitempty"`
}

// Outgoing is a message to a chat: a text with or without buttons, or a file.
type Outgoing struct {
	Key     string // the same for every attempt; letters, digits, "-" and "_", at most 64
	Text    []Segment
	Buttons []Button
	File    *Upload
	// ReplyTo is the last message of the chat that was heard, for platforms on which bots
	// only answer; it may be "".
	ReplyTo string
	Silent  bool // without a sound, where the platform can do that
	// Growing means that this is the beginning of a text that is still written: Edit follows, at
	// last without Growing.
	Growing bool
}

// Button is a button under a message.
type Button struct {
	Label string
	Data  string // at most MaxData
	Risky bool   // shown as dangerous, where the platform can do that
}

// Upload is a file to send.
type Upload struct {
	Name string
	MIME string // of an image, "image/..."
	Size int64
	Open func() (io.ReadCloser, error)
}

// Clean limits what strangers chose: names and titles become one line of at most MaxName
// bytes without control, formatting or other invisible characters, and the text and the number of files are
// cut to their bounds.
func (m *Message) Clean() {
	m.Chat.Title, m.From.Name = CleanName(m.Chat.Title), CleanName(m.From.Name)
	m.Text = Cut(strings.ToValidUTF8(m.Text, "\uFFFD"), MaxText)
	if len(m.Files) > MaxFiles {
		m.Files = m.Files[:MaxFiles]
	}
	for i := range m.Files {
		m.Files[i].Name = CleanName(m.Files[i].Name)
	}
	m.Meta = m.Meta[:min(len(m.Meta), MaxMeta)]
	for i := range m.Meta {
		m.Meta[i] = Attribute{CleanName(m.Meta[i].Name), cleanLine(m.Meta[i].Value, MaxID)}
	}
}

// CleanName makes a name that a stranger chose fit to be shown and logged.
func CleanName(name string) string { return cleanLine(name, MaxName) }

// CleanProblem makes what a server says about a failure fit to be shown and logged.
func CleanProblem(text string) string { return cleanLine(text, MaxProblem) }

func cleanLine(name string, limit int) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case r == utf8.RuneError || !unicode.IsGraphic(r):
			return -1
		}
		return r
	}, name)
	return strings.TrimSpace(Cut(strings.Join(strings.Fields(name), " "), limit))
}

// Cut returns the beginning of a text with at most limit bytes. It ends at a whole rune.
func Cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}

// Valid reports whether an update keeps the bounds of this package. One that does not is
// dropped.
func (u Update) Valid() bool {
	ids := []string{u.ID}
	for _, m := range []*Message{u.Message, u.Edited} {
		if m == nil {
			continue
		}
		ids = append(ids, m.Chat.ID, m.From.ID, m.ID)
		for _, f := range m.Files {
			if len(f.Ref) > MaxRef || len(f.MIME) > MaxID {
				return false
			}
		}
	}
	if u.Deleted != nil {
		ids = append(ids, u.Deleted.Chat.ID, u.Deleted.ID)
	}
	if p := u.Press; p != nil {
		ids = append(ids, p.Chat.ID, p.From.ID, p.MessageID)
		if len(p.Data) > MaxData || len(p.Ref) > MaxRef {
			return false
		}
	}
	if len(u.Cursor) > MaxCursor {
		return false
	}
	for _, id := range ids {
		if id == "" || len(id) > MaxID || !utf8.ValidString(id) {
			return false
		}
	}
	return true
}
