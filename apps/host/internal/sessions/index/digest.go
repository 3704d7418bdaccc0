package index

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Digest is what a list shows of a session, and what a host must know of it before
// it is opened. It grows entry by entry, so that a long session costs no more than
// a short one. NewDigest gives that of a session without entries.
type Digest struct {
	Messages int    `json:"messages,omitempty"`
	Updated  int64  `json:"updated,omitempty"` // Unix milliseconds, of the last message; 0: none
	Name     string `json:"name,omitempty"`    // as it was given; "" where there is none
	Named    bool   `json:"named,omitempty"`   // a name was given once, also where it was taken off again
	Title    string `json:"title,omitempty"`   // the first sentence of the first prompt
	// Provider and ModelID name the model that answers next, as the log says.
	Provider string `json:"provider,omitempty"`
	ModelID  string `json:"modelId,omitempty"`
	// Thinking is how much the model thinks; "" where the log says nothing.
	Thinking string `json:"thinking,omitempty"`
	// Mode is how much the agent may do without asking; "" where the log says nothing.
	Mode string `json:"mode,omitempty"`
	// LastRole and LastText are of the last message that has text; the text is cut.
	LastRole string `json:"lastRole,omitempty"`
	LastText string `json:"lastText,omitempty"`
	// Cut is true where the log ends inside of a turn: a prompt or tool result without
	// an answer, or an answer whose tools have no results.
	Cut bool `json:"cut,omitempty"`
	// Queue holds the keys of the prompts that wait.
	Queue []string `json:"queue,omitempty"`

	// Usage is what the turns took, Auxiliary what was spent beside them, and Inherited both
	// of what the session took over when it was forked. Uncounted is how many of its calls
	// the provider did not tell all of.
	Usage     Usage `json:"usage,omitzero"`
	Auxiliary Usage `json:"auxiliary,omitzero"`
	Inherited Usage `json:"inherited,omitzero"`
	Uncounted int   `json:"uncounted,omitempty"`
	// Begun is when the session was made, in Unix milliseconds, and 0 from its first own
	// entry on: what is older came from the session that it was forked from.
	Begun int64 `json:"begun,omitempty"`

	Leaf string `json:"leaf,omitempty"` // the entry that the next one hangs on
	Seq  uint64 `json:"seq,omitempty"`  // of the last entry (session.Tree.Number)
}

// NewDigest is the digest of a session that has only its header.
func NewDigest(header session.Header) Digest { return Digest{Begun: Millis(header.Timestamp)} }

// DigestOf is the digest of a session with all its entries.
func DigestOf(header session.Header, entries []session.Entry) Digest {
	d := NewDigest(header)
	for _, e := range entries {
		d.Add(e)
	}
	return d
}

// Waits tells whether work waits in the session: it is to be opened at the start.
func (d *Digest) Waits() bool { return d.Cut || len(d.Queue) > 0 }

// Add takes the next entry of the log.
func (d *Digest) Add(e session.Entry) {
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
		d.Name, d.Named = strings.TrimSpace(e.Text("name")), true
	case session.TypeCustom:
		d.addCustom(e)
	case session.TypeMessage:
		d.addMessage(e)
	case session.TypeUsage:
		d.addUsage(e)
	}
}

func (d *Digest) addCustom(e session.Entry) {
	switch e.CustomType {
	case session.CustomTurn:
		d.Cut = false
	case session.CustomMode:
		var record session.ModeRecord
		if custom, ok := e.AsCustom(); ok && json.Unmarshal(custom.Data, &record) == nil {
			d.Mode = record.Mode
		}
	case session.CustomQueue:
		var queue session.Queue
		if custom, ok := e.AsCustom(); ok {
			_ = json.Unmarshal(custom.Data, &queue) // what does not decode is no queue
		}
		d.Queue = nil
		for _, prompt := range queue.Items {
			d.Queue = append(d.Queue, prompt.ClientKey)
		}
	}
}

// maxLast is how much of the last message is kept, in runes.
const maxLast = 200

func (d *Digest) addMessage(e session.Entry) {
	d.Messages++
	d.Updated = max(d.Updated, Millis(e.Timestamp))
	m, ok := e.AsMessage()
	if !ok {
		return
	}
	message := m.Message
	d.spend(&d.Usage, message.Usage)
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
		d.Title = Title(text)
	}
	if m.ClientKey != "" {
		d.Queue = slices.DeleteFunc(d.Queue, func(key string) bool { return key == m.ClientKey })
	}
}

// Title makes a title of a text: its first sentence, in one line, cut where it is long.
func Title(text string) string {
	line := oneLine(text, 4*maxTitle)
	end := strings.IndexAny(line, "。！？") // nothing needs to follow these
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

// minSentence is how long a sentence is at least, in bytes: "E.g. " is none.
const minSentence = 8

// maxTitle is the length in runes of a title made from a prompt.
const maxTitle = 60

// oneLine is text in one line of at most limit runes.
func oneLine(text string, limit int) string {
	if len(text) > 16*limit { // a pasted file is not split into words as a whole
		text = strings.ToValidUTF8(text[:16*limit], "")
	}
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	return strings.TrimSpace(string([]rune(text)[:limit-1])) + "…"
}

// Millis reads a timestamp of a header or an entry; 0 where it is none.
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
	// Revision is what the provider's list said of the session when it was read.
	Revision string

	mark string // where the next reading begins
}

// Updated is when something was last said, or else when the session was made; Unix
// milliseconds.
func (s *Session) UpdatedAt() int64 { return max(Millis(s.Header.Timestamp), s.Digest.Updated) }

// Stale tells whether the provider's list knows a newer state.
func (s *Session) Stale(info store.Info) bool {
	return s.Revision == "" || s.Revision != info.Revision || s.ProjectID != info.ProjectID
}

// follows tells whether entries continue the branch that the log ended with, so
// that its damage is as before. Anything else is looked at as a whole.
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
