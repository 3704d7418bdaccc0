package channeltest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/channel"
)

// Memory is a platform in memory, and its own fake. It keeps the contract, so that what works
// on it works on any platform.
type Memory struct {
	Screen
	limits channel.Limits

	log     []channel.Update
	texts   map[string]channel.Message
	bodies  map[string][]byte
	ids     map[string]string // of messages, by key
	growing map[string]bool   // ids of messages
	answers []string
	next    int
	broken  chan struct{} // closed when the connections end
	fresh   chan struct{} // closed when the log grows or something is shown
}

// NewMemory returns a platform without chats, with messages of at most 200 units.
func NewMemory() *Memory {
	return &Memory{
		limits: channel.Limits{Text: 200, Units: units, Edits: true, Buttons: true, Idempotent: true, File: channel.MaxFile},
		texts:  map[string]channel.Message{}, bodies: map[string][]byte{}, Screen: NewScreen(), ids: map[string]string{}, growing: map[string]bool{},
		broken: make(chan struct{}), fresh: make(chan struct{}),
	}
}

// SetLimits replaces the limits. Units may be nil.
func (m *Memory) SetLimits(limits channel.Limits) {
	if limits.Units == nil {
		limits.Units = units
	}
	m.limits = limits
}

func units(s channel.Segment) int {
	n := len(s.Text)
	if s.Kind == channel.Block {
		n += 8 + len(s.Lang)
	}
	return n
}

func (m *Memory) changed() {
	close(m.fresh)
	m.fresh = make(chan struct{})
}

// Changed returns a channel that is closed when something is shown or said.
func (m *Memory) Changed() <-chan struct{} {
	m.Lock()
	defer m.Unlock()
	return m.fresh
}

// Limits implements channel.Platform.
func (m *Memory) Limits() channel.Limits { return m.limits }

// Check implements channel.Platform.
func (m *Memory) Check(context.Context) (channel.Identity, error) {
	return channel.Identity{ID: "1", Name: "@memory_bot"}, nil
}

// Run implements channel.Platform. The cursor is the number of updates that were taken.
func (m *Memory) Run(ctx context.Context, cursor []byte, in channel.Inbound) error {
	at, _ := strconv.Atoi(string(cursor))
	in.Connected()
	for {
		m.Lock()
		fresh, broken := m.fresh, m.broken
		var u channel.Update
		if at < len(m.log) {
			u = parsed(m.log[at])
		}
		m.Unlock()
		if u.ID == "" {
			select {
			case <-fresh:
				continue
			case <-broken:
				return fmt.Errorf("memory: the connection broke")
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		at++
		u.Cursor = []byte(strconv.Itoa(at))
		if err := in.Take(ctx, u); err != nil {
			return err
		}
	}
}

// parsed returns an update as a platform reads it each time: it shares no message with another.
func parsed(u channel.Update) channel.Update {
	for _, m := range []**channel.Message{&u.Message, &u.Edited} {
		if *m != nil {
			own := **m
			own.Files, own.Meta = slices.Clone(own.Files), slices.Clone(own.Meta)
			*m = &own
		}
	}
	return u
}

// Send implements channel.Platform.
func (m *Memory) Send(ctx context.Context, chatID string, out channel.Outgoing) (string, error) {
	s, err := m.render(out)
	if err != nil {
		return "", err
	}
	m.Lock()
	defer m.Unlock()
	if err := m.refuse(ctx, chatID); err != nil {
		return "", err
	}
	if id := m.ids[out.Key]; id != "" && m.limits.Idempotent {
		return id, nil
	}
	m.next++
	s.ID = "m" + strconv.Itoa(m.next)
	m.ids[out.Key], m.growing[s.ID] = s.ID, out.Growing
	m.Messages[chatID] = append(m.Messages[chatID], s)
	m.changed()
	return s.ID, nil
}

func (m *Memory) refuse(ctx context.Context, chatID string) error {
	if after := m.Refuse; after != 0 {
		m.Refuse = 0
		return &channel.RateLimited{After: after}
	}
	if m.Gone[chatID] {
		return channel.ErrChatGone
	}
	return ctx.Err()
}

func (m *Memory) render(out channel.Outgoing) (s Shown, err error) {
	n := 0
	for _, segment := range out.Text {
		n += m.limits.Units(segment)
		switch segment.Kind {
		case channel.Bold:
			s.Bold = append(s.Bold, segment.Text)
		case channel.Code, channel.Block:
			s.Code = append(s.Code, segment.Text)
		}
	}
	s.Text, s.Buttons = channel.String(out.Text), slices.Clone(out.Buttons)
	if n > m.limits.Text || n == 0 && out.File == nil || len(out.Buttons) > channel.MaxButtons {
		return s, fmt.Errorf("%d units, %d buttons: %w", n, len(out.Buttons), channel.ErrRejected)
	}
	for _, b := range out.Buttons {
		if len(b.Data) > channel.MaxData || b.Data == "" || b.Label == "" {
			return s, fmt.Errorf("a button %+v: %w", b, channel.ErrRejected)
		}
	}
	if out.File == nil {
		return s, nil
	}
	r, err := out.File.Open()
	if err != nil {
		return s, err
	}
	defer func() { _ = r.Close() }()
	s.FileName = out.File.Name
	s.File, err = io.ReadAll(r)
	return s, err
}

// Edit implements channel.Platform.
func (m *Memory) Edit(ctx context.Context, chatID, messageID string, out channel.Outgoing) error {
	s, err := m.render(out)
	if err != nil {
		return err
	}
	m.Lock()
	defer m.Unlock()
	if err := m.refuse(ctx, chatID); err != nil {
		return err
	}
	i := slices.IndexFunc(m.Messages[chatID], func(s Shown) bool { return s.ID == messageID })
	if i < 0 || !m.limits.Edits && !m.growing[messageID] {
		return channel.ErrMessageGone
	}
	m.growing[messageID] = out.Growing
	s.ID = messageID
	m.Messages[chatID][i] = s
	m.changed()
	return nil
}

// Fetch implements channel.Platform.
func (m *Memory) Fetch(_ context.Context, f channel.File) (io.ReadCloser, error) {
	m.Lock()
	defer m.Unlock()
	body, ok := m.bodies[f.Ref]
	if !ok {
		return nil, channel.ErrRejected
	}
	return io.NopCloser(bytes.NewReader(body)), nil
}

// Answer implements channel.Platform.
func (m *Memory) Answer(_ context.Context, _ channel.Press, notice string) error {
	m.Lock()
	defer m.Unlock()
	m.answers = append(m.answers, notice)
	m.changed()
	return nil
}

// Answers returns the notices that presses were answered with.
func (m *Memory) Answers() []string {
	m.Lock()
	defer m.Unlock()
	return slices.Clone(m.answers)
}

// Deliver adds an update as it is, with an id if it has none.
func (m *Memory) Deliver(u channel.Update) {
	m.Lock()
	defer m.Unlock()
	m.next++
	if u.ID == "" {
		u.ID = "u" + strconv.Itoa(m.next)
	}
	m.log = append(m.log, u)
	m.changed()
}

func (m *Memory) message(chat channel.Chat, from channel.Sender, text string) channel.Message {
	m.Lock()
	defer m.Unlock()
	m.next++
	message := channel.Message{Chat: chat, From: from, ID: strconv.Itoa(m.next), Text: text, Addressed: true}
	m.texts[message.ID] = message
	return message
}

// New implements Fake. The platform of a wrong token fails.
func (m *Memory) New(_ *testing.T, token string) channel.Platform {
	if token != Token {
		return refusing{m}
	}
	return m
}

// Say implements Fake.
func (m *Memory) Say(chat channel.Chat, from channel.Sender, text string) string {
	message := m.message(chat, from, text)
	m.Deliver(channel.Update{Message: &message})
	return message.ID
}

// Attach implements Fake.
func (m *Memory) Attach(chat channel.Chat, from channel.Sender, text, name string, data []byte) string {
	message := m.message(chat, from, text)
	message.Files = []channel.File{{Ref: "f" + message.ID, Name: name, Size: int64(len(data))}}
	m.Lock()
	m.bodies["f"+message.ID] = data
	m.Unlock()
	m.Deliver(channel.Update{Message: &message})
	return message.ID
}

// Press implements Fake.
func (m *Memory) Press(chat channel.Chat, from channel.Sender, messageID, data string) {
	m.Deliver(channel.Update{Press: &channel.Press{Chat: chat, From: from, MessageID: messageID, Data: data}})
}

// Edit of a person's message implements Fake.
func (m *fake) Edit(chat channel.Chat, messageID, text string) bool {
	m.Lock()
	message := m.texts[messageID]
	m.Unlock()
	message.Text = text
	m.Deliver(channel.Update{Edited: &message})
	return true
}

// fake is a Memory as a Fake: both have a method Edit.
type fake struct{ *Memory }

// Fake returns the platform as its own fake.
func (m *Memory) Fake() Fake { return &fake{m} }

// Remove implements Fake.
func (m *Memory) Remove(chat channel.Chat, messageID string) bool {
	m.Deliver(channel.Update{Deleted: &channel.Deleted{Chat: chat, ID: messageID}})
	return true
}

// Break implements Fake.
func (m *Memory) Break() {
	m.Lock()
	defer m.Unlock()
	close(m.broken)
	m.broken = make(chan struct{})
}

// Again implements Fake.
func (m *Memory) Again() bool {
	m.Lock()
	last := m.log[len(m.log)-1]
	m.Unlock()
	m.Deliver(last)
	return true
}

// refusing is a platform whose token does not work.
type refusing struct{ *Memory }

func (refusing) Check(context.Context) (channel.Identity, error) {
	return channel.Identity{}, channel.ErrUnauthorized
}
func (refusing) Run(context.Context, []byte, channel.Inbound) error { return channel.ErrUnauthorized }
func (refusing) Send(context.Context, string, channel.Outgoing) (string, error) {
	return "", channel.ErrUnauthorized
}
