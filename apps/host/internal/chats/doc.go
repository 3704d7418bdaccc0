// Package chats connects chats to sessions, over any channel.Platform.
//
// A chat that is bound to a project is a client of the host: it has an id, grants, one project
// and an expiry, and it makes its requests over a connection of the dispatcher like every other
// client, in the same process. So a chat can do nothing that a client with its grants cannot.
// A code that is typed in the chat binds it. Only listed senders are heard. What a client gave,
// a chat or a sender, ends when the client is revoked.
//
// Each channel has one file. An update of a platform is in it, synced, before it is
// acknowledged, and stays until it was handled; a message to a chat is in it before it is sent,
// and stays until the platform has it. How far a chat has read the log of a session is stored
// together with the messages that follow from it. A restart therefore loses nothing; what it
// repeats are requests with the same clientKey and messages with the same key.
//
// Four goroutines serve a channel: one receives, one handles what was received, one sends, and
// each bound chat has one that follows its sessions. They share the file and nothing else; a
// platform that hangs or floods stops or slows its own channel. What a chat is told about a session,
// also as the answer to a command, is queued by the last one, so that it is in order.
package chats

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/scorel/scorel/apps/host/internal/channel"
	"github.com/scorel/scorel/apps/host/internal/channel/platforms"
	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// Options are the parts that chats work with. A field is required unless its comment says that it
// may be nil.
type Options struct {
	Logger *slog.Logger
	Folder string // with a file for each channel
	// Secrets keep what is secret in settings, by a name.
	Secrets  Secrets
	Projects *state.Projects
	Hub      *dispatch.Hub
	// Serve runs the connection of a chat until ctx or the transport ends.
	Serve func(ctx context.Context, transport client.Transport, clientID string) error
	// NameOf returns the name of a client for people, or "".
	NameOf func(clientID string) string
	// Giver returns what a client that connected a chat may do now; false if it was revoked. This
	// machine's user, who cannot be, may do everything.
	Giver func(clientID string) (dispatch.Access, bool)
	// Open makes a platform from its settings. One that is public connects to public addresses only.
	Open func(kind string, settings map[string]string, public bool) (channel.Platform, error)
	Now  func() time.Time
	// Removed is called with the client id of a chat that was removed. It may be nil.
	Removed func(clientID string)
	// Step is called after each change of the file of a channel, for tests. It may be nil.
	Step func()
}

// Secrets keep secrets. Getenv is as in os.
type Secrets interface {
	Getenv(name string) string
	Save(ctx context.Context, name, value, in string) (store string, err error)
	Remove(ctx context.Context, name string) (bool, error)
}

// Chats are the channels of a host. Their requests may come from any goroutine; Run runs the
// channels.
type Chats struct {
	Options
	changing sync.Mutex // held while a channel is added or removed

	mu       sync.Mutex
	channels map[string]*running
	ctx      context.Context // of Run; nil before and after it
	wg       sync.WaitGroup
}

// New loads the channels. None connects before Run.
func New(o Options) (*Chats, error) {
	c := &Chats{Options: o, channels: map[string]*running{}}
	entries, err := os.ReadDir(o.Folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("chats: listing the channels: %w", err)
	}
	for _, e := range entries {
		id, isFile := strings.CutSuffix(e.Name(), ".json")
		if !isFile || !e.Type().IsRegular() {
			continue
		}
		stored, err := loadStore(filepath.Join(o.Folder, e.Name()))
		if err != nil {
			return nil, err
		}
		if stored.read().ID != id {
			return nil, fmt.Errorf("chats: %s is not the file of the channel %q: move it away", filepath.Join(o.Folder, e.Name()), id)
		}
		stored.step = o.Step
		c.channels[id] = newRunning(c, stored)
	}
	o.Hub.Chats(c.access)
	return c, nil
}

// Run serves the channels until ctx ends, and waits for them.
func (c *Chats) Run(ctx context.Context) {
	c.Recheck() // the host may have been killed before it ended them
	c.mu.Lock()
	c.ctx = ctx
	for _, r := range c.channels {
		c.start(r)
	}
	c.mu.Unlock()
	<-ctx.Done()
	c.mu.Lock()
	c.ctx = nil
	c.mu.Unlock()
	c.wg.Wait()
}

// start runs a channel. c.mu is held.
func (c *Chats) start(r *running) {
	if c.ctx == nil {
		return
	}
	ctx, cancel := context.WithCancel(c.ctx)
	r.cancel = cancel
	c.wg.Go(func() {
		defer close(r.done)
		r.run(ctx)
	})
}

// list returns the channels, oldest first.
func (c *Chats) list() []*running {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []*running
	for _, r := range c.channels {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b *running) int { return strings.Compare(a.order(), b.order()) })
	return all
}

func (c *Chats) find(id string) (*running, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r := c.channels[id]; r != nil {
		return r, nil
	}
	return nil, api.Errorf(api.KindNotFound, "there is no channel %.64q: `scorel channel list` shows the channels", id)
}

// access is what a chat may do now.
func (c *Chats) access(clientID string) dispatch.Access {
	for _, r := range c.list() {
		if b := r.store.read().byClient(clientID); b != nil {
			access, _ := c.accessOf(b)
			return access
		}
	}
	return dispatch.Access{}
}

// TakesFiles reports whether a chat follows a session that takes files and may have them.
func (c *Chats) TakesFiles(sessionID string) bool {
	for _, r := range c.list() {
		r.mu.Lock()
		takes := r.platform != nil && r.platform.Limits().File > 0
		r.mu.Unlock()
		if takes && slices.ContainsFunc(r.store.read().Chats, func(b *bound) bool {
			access, has := c.accessOf(b)
			return b.follow(sessionID) != nil && has && slices.Contains(access.Grants, api.GrantFiles)
		}) {
			return true
		}
	}
	return false
}

// Access returns what a chat may do now; false for an id that is not of a chat. A chat that is
// not bound any more, or has expired, has no grants.
func (c *Chats) Access(clientID string) (dispatch.Access, bool) {
	if !strings.HasPrefix(clientID, chatPrefix) {
		return dispatch.Access{}, false
	}
	return c.access(clientID), true
}

// chatPrefix begins the client ids of chats.
const chatPrefix = "chat_"

func (c *Chats) removed(clientIDs ...string) {
	for _, id := range clientIDs {
		if id != "" && c.Removed != nil {
			c.Removed(id)
		}
	}
}

// Label returns the title of a chat for people, or "" for another client.
func (c *Chats) Label(clientID string) string {
	for _, r := range c.list() {
		stored := r.store.read()
		if b := stored.byClient(clientID); b != nil {
			return stored.Name + ": " + b.Chat.Title
		}
	}
	return ""
}

func (c *Chats) changed() { c.Hub.Notify(api.ChannelsChanged{}) }

// newID returns an id that nobody can guess.
func newID(prefix string) string { return prefix + strings.ToLower(rand.Text()[:16]) }

// key derives a key from what happened, the same each time.
func key(parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return "chat-" + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(h.Sum(nil)[:20]))
}

// secretName is the name under which a secret of a channel is kept.
func secretName(id, setting string) string {
	return strings.ToUpper(state.ChannelSecret + strings.TrimPrefix(id, "chn_") + "_" + strings.ReplaceAll(setting, "-", "_"))
}

// settings returns all settings of a channel, with its secrets.
func (c *Chats) settings(stored *record) (map[string]string, error) {
	kind, err := platforms.Find(stored.Kind)
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	for _, s := range kind.Settings {
		value := stored.Settings[s.Name]
		if s.Secret {
			value = c.Secrets.Getenv(secretName(stored.ID, s.Name))
		}
		if value != "" {
			all[s.Name] = value
		}
	}
	return all, nil
}
