package chats

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/scorel/scorel/apps/host/internal/channel"
	"github.com/scorel/scorel/packages/protocol/api"
)

const (
	firstWait   = time.Second
	longestWait = time.Minute
	maxIgnored  = 20
)

// running is a channel with its goroutines.
type running struct {
	*Chats
	store  *store
	done   chan struct{} // closed when the goroutines have ended
	cancel context.CancelFunc

	arrived chan struct{} // holds one token while there may be something to handle
	waiting chan struct{} // holds one token while there may be something to send

	mu       sync.Mutex
	platform channel.Platform // nil until it was opened
	state    api.ChannelState
	problem  string
	identity channel.Identity
	ignored  []ignored
	codes    []code
	guesses  guesses
	previews map[string]preview    // by chat
	talks    map[string]*talk      // by client id
	awaited  map[string]chan error // how sending a message ends, by its key
}

// ignored is a person who wrote and is not listed.
type ignored struct {
	chat    channel.Chat
	from    channel.Sender
	noticed time.Time // when the chat got the notice
}

func newRunning(c *Chats, s *store) *running {
	return &running{
		Chats: c, store: s, done: make(chan struct{}), cancel: func() {}, state: api.ChannelConnecting,
		arrived: make(chan struct{}, 1), waiting: make(chan struct{}, 1), previews: map[string]preview{}, talks: map[string]*talk{}, awaited: map[string]chan error{},
	}
}

// order sorts channels by when they were added.
func (r *running) order() string {
	stored := r.store.read()
	return fmt.Sprintf("%020d %s", stored.AddedAt, stored.ID)
}

func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// run serves the channel until ctx ends.
func (r *running) run(ctx context.Context) {
	platform, err := r.open()
	if err != nil {
		r.set(api.ChannelFailed, err)
		<-ctx.Done()
		return
	}
	r.mu.Lock()
	r.platform = platform
	r.mu.Unlock()
	var wg sync.WaitGroup
	wg.Go(func() { r.receive(ctx, platform) })
	wg.Go(func() { r.handle(ctx) })
	wg.Go(func() { (&sender{running: r, platform: platform}).run(ctx) })
	wg.Wait()
}

func (r *running) open() (channel.Platform, error) {
	stored := r.store.read()
	settings, err := r.settings(stored)
	if err != nil {
		return nil, err
	}
	return r.Open(stored.Kind, settings, stored.Public)
}

// set records whether messages arrive, and notifies clients of a change.
func (r *running) set(s api.ChannelState, why error) {
	problem := ""
	if why != nil {
		problem = channel.Cut(explained(why).Error(), 300)
	}
	r.mu.Lock()
	changed := r.state != s || r.problem != problem
	r.state, r.problem = s, problem
	r.mu.Unlock()
	if changed {
		r.changed()
	}
}

// receive keeps the platform connected until ctx ends or the token is rejected.
func (r *running) receive(ctx context.Context, platform channel.Platform) {
	wait := firstWait
	for {
		began := r.Now()
		err := platform.Run(ctx, r.store.read().Cursor, r)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			err = errors.New("the connection ended")
		}
		r.set(api.ChannelFailed, err)
		r.Logger.Warn("a channel is not connected", "channel", r.store.read().ID, "error", err)
		if errors.Is(err, channel.ErrUnauthorized) {
			<-ctx.Done()
			return
		}
		if r.Now().Sub(began) > longestWait {
			wait = firstWait
		}
		var limited *channel.RateLimited
		pause := wait
		if errors.As(err, &limited) {
			pause = max(pause, limited.After)
		}
		if !sleep(ctx, pause) {
			return
		}
		wait = min(2*wait, longestWait)
	}
}

// sleep waits; false if ctx ended.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Connected implements channel.Inbound.
func (r *running) Connected() { r.set(api.ChannelConnected, nil) }

// errFull has a platform deliver an update again later.
var errFull = errors.New("too many messages wait to be handled")

// Take implements channel.Inbound. What nobody listens to is not stored: after a restart it
// would be ignored again.
func (r *running) Take(ctx context.Context, u channel.Update) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	clean(&u)
	if !r.store.read().outside() {
		own(&u)
	}
	heard := u.ID != "" && u.Valid() && r.hears(u)
	err := r.store.change(func(f *record) error {
		if u.Cursor != nil {
			f.Cursor = u.Cursor
		}
		if !heard || !f.took(u.ID) {
			return nil
		}
		if len(f.Inbox) >= maxInbox {
			return errFull
		}
		u.Cursor = nil
		f.Inbox = append(f.Inbox, u)
		return nil
	})
	if err == nil && heard {
		wake(r.arrived)
	}
	return err
}

func clean(u *channel.Update) {
	for _, m := range []*channel.Message{u.Message, u.Edited} {
		if m != nil {
			m.Clean()
		}
	}
	if p := u.Press; p != nil {
		p.Chat.Title, p.From.Name = channel.CleanName(p.Chat.Title), channel.CleanName(p.From.Name)
	}
}

// hears reports whether an update is from a listed sender, or may be a code.
func (r *running) hears(u channel.Update) bool {
	stored := r.store.read()
	switch {
	case u.Message != nil:
		m := *u.Message
		if m.From.Bot {
			return false
		}
		b := stored.chat(m.Chat.ID)
		if b != nil && r.allows(b, m.From.ID) {
			return m.Addressed || m.Chat.Direct || readCode(m.Text) != ""
		}
		if readCode(m.Text) != "" {
			return r.mayGuess(m.Chat.ID)
		}
		r.ignore(m, b != nil)
	case u.Edited != nil:
		b := stored.chat(u.Edited.Chat.ID)
		return b != nil && r.allows(b, u.Edited.From.ID)
	case u.Deleted != nil:
		return stored.chat(u.Deleted.Chat.ID) != nil
	case u.Press != nil:
		b := stored.chat(u.Press.Chat.ID)
		return b != nil && (r.allows(b, u.Press.From.ID) || u.Press.Anyone) && !u.Press.From.Bot
	}
	return false
}

// ignore remembers who wrote without being listed, and tells a chat about it at most once in
// ten minutes, and all chats of the channel at most ten times.
func (r *running) ignore(m channel.Message, bound bool) {
	now := r.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	noticed, recent := false, 0
	r.ignored = slices.DeleteFunc(r.ignored, func(i ignored) bool {
		if now.Sub(i.noticed) < 10*time.Minute {
			recent++
			noticed = noticed || i.chat.ID == m.Chat.ID
		}
		return i.chat.ID == m.Chat.ID && i.from.ID == m.From.ID
	})
	one := ignored{chat: m.Chat, from: m.From}
	if m.Addressed && !noticed && recent < 10 {
		one.noticed = now
		text := "This chat is not connected. Ask for a code with `scorel channel pair` or in the web UI, and send it here."
		if bound {
			text = "You are not on the list of this chat. A person at the machine can add you: `scorel channel list` shows who wrote."
		}
		r.notice(m.Chat.ID, text)
	} else if noticed {
		one.noticed = now
	}
	r.ignored = append(r.ignored, one)
	if over := len(r.ignored) - maxIgnored; over > 0 {
		r.ignored = r.ignored[over:]
	}
}

// notice sends a text that is not worth keeping over a restart. r.mu is held.
func (r *running) notice(chatID, text string) {
	if _, busy := r.previews[chatID]; busy {
		return
	}
	r.previews[chatID] = preview{text: text}
	wake(r.waiting)
}

// handle handles what was taken, in order, and keeps a goroutine for each bound chat.
func (r *running) handle(ctx context.Context) {
	var talking sync.WaitGroup
	defer talking.Wait()
	ends := map[string]context.CancelFunc{}
	defer func() {
		for _, end := range ends {
			end()
		}
	}()
	for {
		r.talk(ctx, ends, &talking)
		stored := r.store.read()
		if len(stored.Inbox) == 0 {
			select {
			case <-r.arrived:
				continue
			case <-ctx.Done():
				return
			}
		}
		if r.handleOne(ctx, stored.Inbox[0]); ctx.Err() != nil {
			return
		}
	}
}

// talk starts a goroutine for each bound chat, and ends those of chats that were removed.
func (r *running) talk(ctx context.Context, ends map[string]context.CancelFunc, talking *sync.WaitGroup) {
	stored := r.store.read()
	for id, end := range ends {
		if stored.byClient(id) == nil {
			end()
			delete(ends, id)
			r.mu.Lock()
			delete(r.talks, id)
			r.mu.Unlock()
		}
	}
	for _, b := range stored.Chats {
		if ends[b.ClientID] != nil {
			continue
		}
		t := newTalk(r, b.ClientID)
		one, end := context.WithCancel(ctx)
		ends[b.ClientID] = end
		r.mu.Lock()
		r.talks[b.ClientID] = t
		r.mu.Unlock()
		talking.Go(func() { t.run(one) })
	}
}
