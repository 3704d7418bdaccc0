package chats

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/scorel/scorel/apps/host/internal/channel"
	"github.com/scorel/scorel/apps/host/internal/channel/platforms"
	"github.com/scorel/scorel/packages/atomicfile"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/exactjson"
)

// Bounds of channels and of the file of each.
const (
	maxChannels = 16
	maxChats    = 64
	maxSenders  = 64   // of a chat
	maxSeen     = 1000 // ids of updates that were taken
	maxInbox    = 1000
	maxOutbox   = 1000
	maxFollows  = 4  // sessions of a chat
	maxAsked    = 64 // approvals and questions of a chat
	maxPast     = 16 // approvals of a chat that wait no more
	maxNames    = 128
	maxNotes    = 128
)

// record is the file of a channel.
type record struct {
	ID       string            `json:"id"`
	Kind     string            `json:"kind"`
	Name     string            `json:"name"`
	Settings map[string]string `json:"settings,omitempty"` // those that are not secret
	// Public is set if the settings name a server and were not given on this machine: the channel
	// connects to public addresses only. Those of earlier versions connect to any.
	Public  bool   `json:"public,omitempty"`
	AddedAt int64  `json:"addedAt"`
	Key     string `json:"clientKey"`

	Cursor []byte           `json:"cursor,omitempty"`
	Seen   []string         `json:"seen,omitempty"` // oldest first
	Inbox  []channel.Update `json:"inbox,omitempty"`
	Outbox []item           `json:"outbox,omitempty"`
	Chats  []*bound         `json:"chats,omitempty"`
	Names  []named          `json:"names,omitempty"` // oldest first
	Notes  []string         `json:"notes,omitempty"` // keys of notifications that were queued, oldest first
}

// bound is a chat that is bound to a project.
type bound struct {
	ClientID  string       `json:"clientId"`
	Chat      channel.Chat `json:"chat"`
	ProjectID string       `json:"projectId"`
	Grants    []api.Grant  `json:"grants"`
	ExpiresAt int64        `json:"expiresAt,omitempty"` // Unix milliseconds
	BoundAt   int64        `json:"boundAt"`
	// By is who created the code; "" in files of earlier versions. The chat has no more access than that
	// client has, and ends with it.
	By      string   `json:"by,omitempty"`
	Senders []listed `json:"senders"`
	// Session is the one that messages go to; "" begins a new one.
	Session   string   `json:"session,omitempty"`
	Follows   []follow `json:"follows,omitempty"` // the sessions of the chat, oldest first
	Asked     []asked  `json:"asked,omitempty"`   // what waits for an answer
	Past      []past   `json:"past,omitempty"`    // approvals that wait no more, oldest first
	LastHeard string   `json:"lastHeard,omitempty"`
}

// listed is a sender that is heard.
type listed struct {
	channel.Sender
	AddedAt int64  `json:"addedAt"`
	By      string `json:"by,omitempty"` // who allowed the sender; "" for the one who wrote the code
}

// follow is how far the chat was sent what a session says.
type follow struct {
	Session string `json:"session"`
	Seq     uint64 `json:"seq"` // of the last entry that was handled
}

// asked is an approval or question that a chat was shown.
type asked struct {
	ID       string   `json:"id"`
	Session  string   `json:"session"` // in which it is answered, perhaps that of a subagent
	Root     string   `json:"root"`    // the session of the chat
	Shown    string   `json:"shown,omitempty"`
	Title    string   `json:"title"`
	Question bool     `json:"question,omitempty"`
	Server   bool     `json:"server,omitempty"` // an MCP server asks
	Choices  []string `json:"choices,omitempty"`
	Partial  bool     `json:"partial,omitempty"` // the chat was not shown all that it allows
	Name     string   `json:"name"`              // of the message with the buttons
}

// past is an approval that a chat was shown and that waits no more.
type past struct {
	ID    string `json:"id"`
	Shown string `json:"shown"`
	How   string `json:"how"` // it ended, for people
}

// item is a message that waits to be sent.
type item struct {
	Key     string            `json:"key"`
	Chat    string            `json:"chat"`
	At      int64             `json:"at"` // Unix milliseconds
	Text    []channel.Segment `json:"text,omitempty"`
	Buttons []channel.Button  `json:"buttons,omitempty"`
	Silent  bool              `json:"silent,omitempty"`
	File    *sentFile         `json:"file,omitempty"`
	// Name is that of the message, so that it can be edited; Edit edits the message of the
	// name, or sends the text if there is none.
	Name string `json:"name,omitempty"`
	Edit bool   `json:"edit,omitempty"`
	// Forget sends nothing: the message of the name is not edited any more.
	Forget bool `json:"forget,omitempty"`
	// Growing is the beginning of an answer that is being written.
	Growing bool `json:"growing,omitempty"`
}

// sentFile is a file to send: a path of a session or a project, read when it is sent.
type sentFile struct {
	ClientID string `json:"clientId"`
	Session  string `json:"session,omitempty"`
	Project  string `json:"project,omitempty"`
	Path     string `json:"path"`
	SHA256   string `json:"sha256,omitempty"` // of what the agent sent; another content is not sent
}

// named is a message that may be edited.
type named struct {
	Name string `json:"name"`
	Chat string `json:"chat"`
	ID   string `json:"id"`
}

// outside reports whether only the word of another program says who writes.
func (r *record) outside() bool {
	kind, err := platforms.Find(r.Kind)
	return err == nil && kind.Outside
}

func (b *bound) lists(senderID string) bool {
	return slices.ContainsFunc(b.Senders, func(s listed) bool { return s.ID == senderID })
}

func (b *bound) follow(session string) *follow {
	i := slices.IndexFunc(b.Follows, func(f follow) bool { return f.Session == session })
	if i < 0 {
		return nil
	}
	return &b.Follows[i]
}

// use makes a session the one that messages go to. seq is how far it is known.
func (b *bound) use(session string, seq uint64) {
	b.Session = session
	if session == "" || b.follow(session) != nil {
		return
	}
	b.Follows = append(b.Follows, follow{session, seq})
	if over := len(b.Follows) - maxFollows; over > 0 {
		for _, f := range b.Follows[:over] {
			b.Asked = slices.DeleteFunc(b.Asked, func(a asked) bool { return a.Root == f.Session })
		}
		b.Follows = b.Follows[over:]
	}
}

// over moves an approval to those that wait no more.
func (b *bound) over(a asked, how string) {
	if a.Question || a.Shown == "" {
		return
	}
	b.Past = append(b.Past, past{a.ID, a.Shown, how})
	b.Past = b.Past[max(0, len(b.Past)-maxPast):]
}

// forget removes a session that does not exist any more.
func (b *bound) forget(session string) {
	b.Follows = slices.DeleteFunc(b.Follows, func(f follow) bool { return f.Session == session })
	b.Asked = slices.DeleteFunc(b.Asked, func(a asked) bool { return a.Root == session })
	if b.Session == session {
		b.Session = ""
	}
}

func (r *record) chat(id string) *bound {
	i := slices.IndexFunc(r.Chats, func(b *bound) bool { return b.Chat.ID == id })
	if i < 0 {
		return nil
	}
	return r.Chats[i]
}

func (r *record) byClient(id string) *bound {
	i := slices.IndexFunc(r.Chats, func(b *bound) bool { return b.ClientID == id })
	if i < 0 {
		return nil
	}
	return r.Chats[i]
}

// say adds a message for a chat.
func (r *record) say(i item) {
	if len(r.Outbox) >= maxOutbox { // nobody reads a thousand messages: the oldest are the least useful
		r.Outbox = r.Outbox[1:]
	}
	if i.Key == "" {
		i.Key = newID("m")
	}
	i.At = time.Now().UnixMilli()
	r.Outbox = append(r.Outbox, i)
}

// messageOf returns the platform's id of a message, or "".
func (r *record) messageOf(name string) string {
	for _, n := range r.Names {
		if n.Name == name {
			return n.ID
		}
	}
	return ""
}

func (r *record) setName(name, chat, id string) {
	r.Names = slices.DeleteFunc(r.Names, func(n named) bool { return n.Name == name })
	if id != "" {
		r.Names = append(r.Names, named{name, chat, id})
	}
	if over := len(r.Names) - maxNames; over > 0 {
		r.Names = r.Names[over:]
	}
}

// took records the id of an update; false if it is known.
func (r *record) took(id string) bool {
	if slices.Contains(r.Seen, id) {
		return false
	}
	r.Seen = append(r.Seen, id)
	if over := len(r.Seen) - maxSeen; over > 0 {
		r.Seen = r.Seen[over:]
	}
	return true
}

// removeChat removes a chat with all that is about it.
func (r *record) removeChat(id string) {
	r.Chats = slices.DeleteFunc(r.Chats, func(b *bound) bool { return b.Chat.ID == id })
	r.Outbox = slices.DeleteFunc(r.Outbox, func(i item) bool { return i.Chat == id })
	r.Names = slices.DeleteFunc(r.Names, func(n named) bool { return n.Chat == id })
}

// store is the file of a channel, and what it says.
type store struct {
	path string
	// step, if not nil, is called after each change of the file, for tests.
	step func()

	mu      sync.Mutex
	file    *record
	stored  []byte
	removed bool
}

func loadStore(path string) (*store, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("chats: reading a channel: %w", err)
	}
	s := &store{path: path, stored: data}
	if s.file, err = decode(data); err != nil {
		return nil, fmt.Errorf("chats: %s is damaged: repair it, or move it away and add the channel again (%w)", path, err)
	}
	return s, nil
}

func decode(data []byte) (*record, error) {
	file := &record{}
	return file, exactjson.Unmarshal(data, file)
}

// newStore makes the file of a channel.
func newStore(path string, file *record) (*store, error) {
	s := &store{path: path, stored: []byte("{}")}
	return s, s.change(func(r *record) error {
		*r = *file
		return nil
	})
}

var errRemoved = errors.New("the channel was removed")

// change stores a changed file, or leaves everything as it was. edit gets a copy.
func (s *store) change(edit func(*record) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.removed {
		return errRemoved
	}
	next, err := decode(s.stored)
	if err != nil {
		return fmt.Errorf("chats: reading a channel: %w", err)
	}
	if err := edit(next); err != nil {
		return err
	}
	data, err := json.Marshal(next)
	if err != nil {
		return fmt.Errorf("chats: encoding a channel: %w", err)
	}
	if string(data) == string(s.stored) {
		return nil
	}
	if err := atomicfile.Write(s.path, data, 0o600); err != nil {
		return fmt.Errorf("chats: storing a channel: %w", err)
	}
	s.file, s.stored = next, data
	if s.step != nil {
		s.step()
	}
	return nil
}

// read returns what is stored. The caller must not change it.
func (s *store) read() *record {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.file
}

// remove deletes the file; later changes fail.
func (s *store) remove() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.removed = true
	if err := os.Remove(s.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("chats: removing a channel: %w", err)
	}
	return nil
}
