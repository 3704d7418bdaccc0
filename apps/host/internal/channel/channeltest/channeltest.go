// Package channeltest is the contract suite of platforms, and a platform in memory for the
// tests of what is above them.
//
// A platform's test gives Run a Fake: a server on 127.0.0.1 that behaves like the platform's
// API and enforces what the platform documents: the length of texts in the platform's unit,
// well-formed markup, the size of files and of a button's data, rate limits with the time to
// wait, and how updates are acknowledged and delivered again.
package channeltest

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host/internal/channel"
)

// Token is the token that a Fake accepts. Its characters are ones that URLs and logs keep.
const Token = "123456:SECRET-token-of-the-test"

// Fake is what the suite does to a fake of a platform.
type Fake interface {
	// New returns a platform that uses the fake with a token. It does not connect yet.
	New(t *testing.T, token string) channel.Platform

	// What people do. Say returns the id of the message as the platform gives it to bots.
	Say(chat channel.Chat, from channel.Sender, text string) string
	Attach(chat channel.Chat, from channel.Sender, text, name string, data []byte) string
	Press(chat channel.Chat, from channel.Sender, messageID, data string)
	// Edit and Remove report false if the platform does not tell bots of it.
	Edit(chat channel.Chat, messageID, text string) bool
	Remove(chat channel.Chat, messageID string) bool

	// Shown returns what a chat shows of the bot, oldest first, as a person sees it.
	Shown(chat channel.Chat) []Shown
	// Withdraw deletes a message of the bot.
	Withdraw(chat channel.Chat, messageID string)

	// Limit makes the platform refuse the next request of Send or Edit for a while.
	Limit(after time.Duration)
	// Leave removes the bot from a chat.
	Leave(chat channel.Chat)
	// Break ends all connections through which updates arrive.
	Break()
	// Again makes the platform deliver the last acknowledged update once more, if it can
	// happen at all; false if not.
	Again() bool
}

// Shown is a message of the bot as a person sees it.
type Shown struct {
	ID       string
	Text     string   // without markup
	Code     []string // what is shown as code, within lines and as blocks
	Bold     []string
	Buttons  []channel.Button
	FileName string
	File     []byte
}

// Person is a sender for tests, and Room a chat with one.
var (
	person = channel.Sender{ID: "4711", Name: "Ada"}
	room   = channel.Chat{ID: "4711", Title: "Ada", Direct: true}
)

// inbox is an Inbound that keeps what it takes.
type inbox struct {
	mu        sync.Mutex
	updates   []channel.Update
	cursor    []byte
	refuse    error // of the next Take
	refused   int
	connected int
	changed   chan struct{}
}

func newInbox() *inbox { return &inbox{changed: make(chan struct{}, 1)} }

func (i *inbox) signal() {
	select {
	case i.changed <- struct{}{}:
	default:
	}
}

// Connected implements channel.Inbound.
func (i *inbox) Connected() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.connected++
	i.signal()
}

// Take implements channel.Inbound.
func (i *inbox) Take(_ context.Context, u channel.Update) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	defer i.signal()
	if err := i.refuse; err != nil {
		i.refuse = nil
		i.refused++
		return err
	}
	if u.ID != "" {
		i.updates = append(i.updates, u)
	}
	if u.Cursor != nil {
		i.cursor = u.Cursor
	}
	return nil
}

func (i *inbox) state() ([]channel.Update, []byte) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return append([]channel.Update{}, i.updates...), i.cursor
}

func (i *inbox) connections() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.connected
}

// fail has the next Take fail.
func (i *inbox) fail(err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.refuse = err
}

// connection is a running Run.
type connection struct {
	in     *inbox
	cancel context.CancelFunc
	done   chan error
}

// connect runs a platform as the host does: after an error again, with the last cursor. It
// waits for the first connection, because some platforms keep nothing for a bot that has never
// been connected.
func connect(t *testing.T, p channel.Platform, in *inbox) *connection {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	c := &connection{in, cancel, make(chan error, 1)}
	before := in.connections()
	go func() {
		for {
			_, cursor := in.state()
			err := p.Run(ctx, cursor, in)
			if ctx.Err() != nil {
				c.done <- err
				return
			}
		}
	}()
	t.Cleanup(c.stop)
	c.until(t, "the connection", func([]channel.Update) bool { return in.connections() > before })
	return c
}

func (c *connection) stop() {
	c.cancel()
	err := <-c.done
	c.done <- err
}

// until waits for a condition of the updates.
func (c *connection) until(t *testing.T, what string, ok func([]channel.Update) bool) []channel.Update {
	t.Helper()
	deadline := time.After(30 * time.Second)
	for {
		updates, _ := c.in.state()
		if ok(updates) {
			return updates
		}
		select {
		case <-c.in.changed:
		case <-deadline:
			t.Fatalf("waiting for %s: %d updates are there: %+v", what, len(updates), updates)
		}
	}
}

func (c *connection) count(t *testing.T, n int) []channel.Update {
	t.Helper()
	return c.until(t, "updates", func(u []channel.Update) bool { return len(u) >= n })
}

// distinct waits for n updates with different ids, and returns them in the order in which they
// first came: a platform may deliver again what it does not know to be acknowledged.
func (c *connection) distinct(t *testing.T, n int) (first []channel.Update) {
	t.Helper()
	c.until(t, "different updates", func(all []channel.Update) bool {
		first = nil
		for _, u := range all {
			if !slices.ContainsFunc(first, func(known channel.Update) bool { return known.ID == u.ID }) {
				first = append(first, u)
			}
		}
		return len(first) >= n
	})
	return first
}

// Next runs a platform from a cursor on, does something once it is connected, and returns the
// next update and the cursor after it. Like the host, it connects again after an error.
func Next(t *testing.T, p channel.Platform, cursor []byte, do func()) (channel.Update, []byte) {
	t.Helper()
	in := newInbox()
	in.cursor = cursor
	c := connect(t, p, in)
	do()
	u := c.count(t, 1)[0]
	c.stop()
	_, cursor = in.state()
	return u, cursor
}
