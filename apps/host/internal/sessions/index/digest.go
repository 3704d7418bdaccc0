package index

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/scorel/scorel/apps/host/internal/sessions/read"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/protocol/session"
	"github.com/scorel/scorel/packages/protocol/visible"
)

// Digest is what a list shows of a session, and what a host needs to know before it opens the
// session. It is updated entry by entry, at a cost that does not depend on the length of the
// session. NewDigest returns that of a session without entries.
type Digest struct {
	Messages int    `json:"messages,omitempty"`
	Updated  int64  `json:"updated,omitempty"` // Unix milliseconds, of the last message; 0: none
	Name     string `json:"name,omitempty"`    // as given; "" if there is none
	Named    bool   `json:"named,omitempty"`   // a name was given once, even if it was removed later
	Title    string `json:"title,omitempty"`   // the first sentence of the first prompt
	// Provider and ModelID name the model that answers next, according to the log.
	Provider string `json:"provider,omitempty"`
	ModelID  string `json:"modelId,omitempty"`
	// Thinking is the thinking level; "" if the log sets none.
	Thinking string `json:"thinking,omitempty"`
	// Mode is what the agent may do without asking; "" if the log sets none.
	Mode string `json:"mode,omitempty"`
	// Backend is the program that works on the next turns; "" for scorel's own agent.
	Backend string `json:"backend,omitempty"`
	// Archived, Pinned and Meta are what people set on the session itself.
	Archived bool              `json:"archived,omitempty"`
	Pinned   bool              `json:"pinned,omitempty"`
	Meta     map[string]string `json:"meta,omitempty"`
	// LastRole and LastText belong to the last message with text; the text is truncated.
	LastRole string `json:"lastRole,omitempty"`
	LastText string `json:"lastText,omitempty"`
	// Cut is true if the log ends inside a turn: a prompt or tool result without an answer, or
	// an answer whose tool calls have no results.
	Cut bool `json:"cut,omitempty"`
	// Queue holds the keys of the queued prompts.
	Queue []string `json:"queue,omitempty"`
	// Owed is the turn that a note started and that has no other entry yet.
	Owed string `json:"owed,omitempty"`
	// Jobs are background jobs that are running or were lost with their host, and whose end
	// starts a turn.
	Jobs []Job `json:"jobs,omitempty"`

	// Usage is what the turns used, Auxiliary what other calls used, and Inherited both for the
	// part copied by a fork. Uncounted is the number of calls whose usage the provider reported
	// only in part.
	Usage     Usage `json:"usage,omitzero"`
	Auxiliary Usage `json:"auxiliary,omitzero"`
	Inherited Usage `json:"inherited,omitzero"`
	Uncounted int   `json:"uncounted,omitempty"`
	// Begun is when the session was created, in Unix milliseconds; 0 once the session has an
	// entry of its own. Entries before that come from the session that it was forked from.
	Begun int64 `json:"begun,omitempty"`

	Leaf string `json:"leaf,omitempty"` // the parent of the next entry
	Seq  uint64 `json:"seq,omitempty"`  // of the last entry (session.Tree.Number)
}

// NewDigest returns the digest of a session that has only its header.
func NewDigest(header session.Header) Digest { return Digest{Begun: Millis(header.Timestamp)} }

// DigestOf returns the digest of a session with all its entries.
func DigestOf(header session.Header, entries []session.Entry) Digest {
	d := NewDigest(header)
	for _, e := range entries {
		d.Add(e)
	}
	return d
}

// Add adds the next entry of the log.
func (d *Digest) Add(e session.Entry) { d.add(e, session.Entry.AsMessage) }

// AddMessage is Add for a message entry that was made from m, which saves decoding its line.
// The line is decoded after all if it may hold other text than m: invalid UTF-8 is replaced
// when a line is written. Such a line always decodes, because the JSON that a tool adds is
// checked for syntax and depth before it is stored.
func (d *Digest) AddMessage(e session.Entry, m session.MessageEntry) {
	if !sameWhenRead(m) {
		d.Add(e)
		return
	}
	d.add(e, func(session.Entry) (session.MessageEntry, bool) { return m, true })
}

// sameWhenRead reports whether what a digest reads of m is the same in the line made from it.
func sameWhenRead(m session.MessageEntry) bool {
	for _, block := range m.Message.Content {
		if block.Type == session.BlockText && !utf8.ValidString(block.Text) {
			return false
		}
	}
	return utf8.Valid(m.Message.Details) && utf8.ValidString(m.Message.ToolName) && utf8.ValidString(m.ClientKey) && utf8.ValidString(m.TurnID)
}

// add adds an entry; decode decodes one of a message.
func (d *Digest) add(e session.Entry, decode func(session.Entry) (session.MessageEntry, bool)) {
	d.Seq = max(d.Seq+1, e.Seq)
	d.Leaf = e.ID
	if d.Begun > 0 {
		if at := Millis(e.Timestamp); at == 0 || at >= d.Begun {
			d.Begun = 0
		}
	}
	switch e.Type {
	case session.TypeModelChange:
		d.Provider, d.ModelID = e.Text("provider"), e.Text("modelId")
	case session.TypeThinkingLevelChange:
		d.Thinking = e.Text("thinkingLevel")
	case session.TypeSessionInfo:
		d.Name, d.Named = Plain(strings.TrimSpace(e.Text("name"))), true
	case session.TypeCustom:
		d.addCustom(e)
	case session.TypeMessage:
		m, ok := decode(e)
		d.addMessage(e, m, ok)
	case session.TypeCustomMessage:
		d.addNote(e)
	case session.TypeUsage:
		d.addUsage(e)
	}
}

func (d *Digest) addCustom(e session.Entry) {
	switch e.CustomType {
	case session.CustomTurn:
		d.addEnd(e)
	case session.CustomMode:
		var record session.ModeRecord
		if custom, ok := e.AsCustom(); ok && json.Unmarshal(custom.Data, &record) == nil {
			d.Mode = record.Mode
		}
	case session.CustomBackend:
		var record session.BackendRecord
		if custom, ok := e.AsCustom(); ok && json.Unmarshal(custom.Data, &record) == nil && record.Kind == session.BackendChosen {
			d.Backend = record.Backend
		}
	case session.CustomMeta:
		var record session.MetaRecord
		if custom, ok := e.AsCustom(); ok && d.Begun == 0 && json.Unmarshal(custom.Data, &record) == nil {
			d.Archived, d.Pinned, d.Meta = record.Archived, record.Pinned, record.Meta
		}
	case session.CustomQueue:
		var queue session.Queue
		if custom, ok := e.AsCustom(); ok {
			_ = json.Unmarshal(custom.Data, &queue) // a queue that does not decode counts as empty
		}
		d.Queue = nil
		for _, prompt := range queue.Items {
			d.Queue = append(d.Queue, prompt.ClientKey)
		}
	}
}

// maxLast bounds the stored text of the last message, in runes.
const maxLast = 200

// addMessage adds a message. One that does not decode, as another program may have written,
// is only counted.
func (d *Digest) addMessage(e session.Entry, m session.MessageEntry, decoded bool) {
	d.Messages++
	d.Updated = max(d.Updated, Millis(e.Timestamp))
	if !decoded {
		return
	}
	message := m.Message
	d.spend(&d.Usage, message.Usage)
	d.Owed = ""
	if message.Role == session.RoleToolResult {
		d.addJob(read.NewsOfResult(message), m.TurnID)
	}
	d.Cut = m.TurnID != "" && (message.Role != session.RoleAssistant || message.StopReason == session.StopToolUse)
	if message.Role != session.RoleUser && message.Role != session.RoleAssistant {
		return
	}
	text := message.Content.Plain()
	if last := oneLine(text, maxLast); last != "" {
		d.LastRole, d.LastText = string(message.Role), last
	}
	if message.Role != session.RoleUser {
		return
	}
	if d.Title == "" {
		if d.Title = Plain(Title(beforeFiles(text))); d.Title == "" && message.Content.HasImage() {
			d.Title = "Image"
		}
	}
	if m.ClientKey != "" {
		d.Queue = slices.DeleteFunc(d.Queue, func(key string) bool { return key == m.ClientKey })
	}
}

// Title derives a title from a text: its first sentence in one line, truncated if it is long.
func Title(text string) string {
	line := oneLine(text, 4*maxTitle)
	end := strings.IndexAny(line, "。！？") // these need no following space
	for i, r := range line {
		if strings.ContainsRune(".!?", r) && strings.HasPrefix(line[i+1:], " ") && (end < 0 || i < end) && i >= minSentence {
			end = i
			break
		}
	}
	if end >= 0 {
		_, size := utf8.DecodeRuneInString(line[end:])
		line = strings.TrimSuffix(line[:end+size], ".")
	}
	return oneLine(line, maxTitle)
}

// fileHead begins each file that clients put behind the text of a prompt (decisions 0027 and
// 0032).
const fileHead = "Attached file: "

// beforeFiles returns the text of a prompt without its attached files, or the name of the first
// one if there is no other text.
func beforeFiles(text string) string {
	for rest, at := text, 0; ; {
		i := strings.Index(rest, fileHead)
		if i < 0 {
			return text
		}
		at += i
		name, content, _ := strings.Cut(text[at+len(fileHead):], "\n")
		if strings.HasPrefix(content, "```") || strings.HasPrefix(content, "Path: ") {
			switch {
			case at == 0:
				return name
			case strings.HasSuffix(text[:at], "\n\n"):
				return text[:at]
			}
		}
		at += len(fileHead)
		rest = text[at:]
	}
}

// minSentence is the minimum length of a sentence, in bytes: "E.g. " is not a sentence.
const minSentence = 8

// maxTitle bounds a title made from a prompt, in runes.
const maxTitle = 60

// oneLine returns text in one line of at most limit runes.
func oneLine(text string, limit int) string {
	text = visible.Head(text, 16*limit) // do not split a whole pasted file into words
	return visible.Shorten(strings.Join(strings.Fields(text), " "), limit)
}

// Millis parses the timestamp of a header or an entry; 0 if it is invalid.
func Millis(timestamp string) int64 {
	t, err := time.Parse(time.RFC3339Nano, timestamp)
	if err != nil {
		return 0
	}
	return t.UnixMilli()
}

// Session is a row of the list.
type Session struct {
	Header    session.Header
	ProjectID string
	Digest
	// Damage is why the session cannot be written to, or "".
	Damage string
	// Revision is the session's revision in the provider's list when it was read.
	Revision string

	mark string // where the next read starts
}

// Waits reports whether work waits in the session, so that it is opened at startup. In a
// subagent's session a lost job starts no turn.
func (s *Session) Waits() bool {
	return s.Cut || s.Owed != "" || len(s.Queue) > 0 || len(s.Jobs) > 0 && s.Header.ChildOf == ""
}

// UpdatedAt is the time of the last message, or of the session's creation; Unix milliseconds.
func (s *Session) UpdatedAt() int64 { return max(Millis(s.Header.Timestamp), s.Digest.Updated) }

// Stale reports whether the provider's list has a newer state.
func (s *Session) Stale(info store.Info) bool {
	return s.Revision == "" || s.Revision != info.Revision || s.ProjectID != info.ProjectID
}

// follows reports whether entries continue the branch at the end of the log, so that the damage
// stays the same. Otherwise the whole session is read again.
func (s *Session) follows(entries []session.Entry) bool {
	leaf := s.Leaf
	for _, e := range entries {
		if e.ParentID != leaf {
			return false
		}
		leaf = e.ID
	}
	return true
}

// Plain removes what a name must not contain: control characters, including C1, and characters
// that change the direction of text. Names are shown next to what people decide on.
func Plain(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, name)
}
