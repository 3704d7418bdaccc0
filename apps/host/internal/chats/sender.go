package chats

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"mime"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/scorel/scorel/apps/host/internal/channel"
)

const (
	maxSending  = 4 // chats that are sent to at the same time
	sendTimeout = 5 * time.Minute
	// settleFor is how long a host that stops waits for what is being sent.
	settleFor = 2 * time.Second
	// tooOld is when a message is given up that fails for a reason that may go away.
	tooOld = 48 * time.Hour
)

// preview is a text that is replaced before long: the beginning of an answer. name is that of
// the message; without one it is a message of its own.
type preview struct {
	name string
	text string
}

// sender sends what waits, in order for each chat. Only its goroutine uses its fields.
type sender struct {
	*running
	platform channel.Platform
	chats    map[string]*outlet
	results  chan result
	sending  sync.WaitGroup
	busy     int
}

// outlet is what is known of sending to a chat.
type outlet struct {
	busy     bool
	next     time.Time // not before this
	edit     time.Time // no preview before this
	shown    string    // of the last preview
	attempts int
}

// result is how sending ended.
type result struct {
	item    item
	preview *preview
	id      string
	err     error
}

func (s *sender) run(ctx context.Context) {
	s.chats, s.results = map[string]*outlet{}, make(chan result, maxSending)
	defer s.sending.Wait()
	requests, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		timer.Reset(s.start(ctx, requests))
		select {
		case <-s.waiting:
		case <-timer.C:
		case done := <-s.results:
			s.finish(done)
		case <-ctx.Done():
			s.settle()
			return
		}
	}
}

// settle records how what is being sent ends, if that does not take long. A message whose request
// is cut may have arrived, and would be sent again by the next start.
func (s *sender) settle() {
	timer := time.NewTimer(settleFor)
	defer timer.Stop()
	for s.busy > 0 {
		select {
		case done := <-s.results:
			s.finish(done)
		case <-timer.C:
			return
		}
	}
}

func (s *sender) outlet(chatID string) *outlet {
	o := s.chats[chatID]
	if o == nil {
		o = &outlet{}
		s.chats[chatID] = o
	}
	return o
}

// start begins to send what is due, and returns when something else will be. requests ends after ctx,
// and with it the requests to the platform.
func (s *sender) start(ctx, requests context.Context) time.Duration {
	now, soonest := s.Now(), time.Hour
	seen := map[string]bool{}
	stored := s.store.read()
	for _, i := range stored.Outbox {
		if seen[i.Chat] {
			continue
		}
		seen[i.Chat] = true
		o := s.outlet(i.Chat)
		if due := o.next.Sub(now); due > 0 {
			soonest = min(soonest, due)
		} else if !o.busy && s.busy < maxSending {
			s.send(ctx, requests, o, i, nil)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for chatID, p := range s.previews {
		o := s.outlet(chatID)
		next := o.next
		if p.name != "" && o.edit.After(next) {
			next = o.edit
		}
		switch due := next.Sub(now); {
		case seen[chatID] || o.busy || s.busy >= maxSending: // something else is sent first
		case due > 0:
			soonest = min(soonest, due)
		default:
			delete(s.previews, chatID)
			if id := stored.messageOf(p.name); (id != "" || p.name == "") && p.text != o.shown {
				s.send(ctx, requests, o, item{Key: newID("p"), Chat: chatID, Text: s.first(p.text), Edit: p.name != "", Name: p.name, Growing: p.name != ""}, &p)
			}
		}
	}
	return soonest
}

// first returns as much of a text as one message takes.
func (s *sender) first(text string) []channel.Segment {
	if parts := channel.Split(channel.ParseMarkdown(text), s.platform.Limits()); len(parts) > 0 {
		return parts[0]
	}
	return nil
}

func (s *sender) send(ctx, requests context.Context, o *outlet, i item, p *preview) {
	o.busy = true
	s.busy++
	stored := s.store.read()
	id := stored.messageOf(i.Name)
	replyTo := ""
	if b := stored.chat(i.Chat); b != nil {
		replyTo = b.LastHeard
	}
	s.sending.Go(func() {
		requests, cancel := context.WithTimeout(requests, sendTimeout)
		defer cancel()
		out, err := s.compose(ctx, i, replyTo)
		sent := ""
		if err == nil {
			sent, err = s.deliver(requests, i, id, out)
		}
		s.results <- result{i, p, sent, err}
	})
}

// compose returns a message as the platform takes it. It reads the file that the message has.
func (s *sender) compose(ctx context.Context, i item, replyTo string) (channel.Outgoing, error) {
	out := channel.Outgoing{Key: i.Key, Text: i.Text, Buttons: i.Buttons, Silent: i.Silent, ReplyTo: replyTo, Growing: i.Growing}
	if !s.platform.Limits().Buttons {
		out.Buttons = nil
	}
	if i.File == nil || i.Forget {
		return out, nil
	}
	file, err := s.read(ctx, i.File)
	switch {
	case ctx.Err() != nil: // the next start sends it
		return out, context.Cause(ctx)
	case err != nil:
		out.Text = channel.Text(channel.Cut("The file was not sent: "+err.Error(), 300))
	default:
		out.File = file
	}
	return out, nil
}

// deliver makes the requests for one message.
func (s *sender) deliver(ctx context.Context, i item, id string, out channel.Outgoing) (string, error) {
	if i.Forget {
		return "", nil
	}
	limits := s.platform.Limits()
	if i.Edit && id != "" && (limits.Edits || limits.Grows && isLive(i.Name)) {
		err := s.platform.Edit(ctx, i.Chat, id, out)
		if !errors.Is(err, channel.ErrMessageGone) {
			return id, err
		}
	}
	if len(out.Text) == 0 && out.File == nil {
		return "", nil
	}
	return s.platform.Send(ctx, i.Chat, out)
}

// read reads a file as the chat may read it.
func (s *sender) read(ctx context.Context, f *sentFile) (*channel.Upload, error) {
	s.mu.Lock()
	t := s.talks[f.ClientID]
	s.mu.Unlock()
	if t == nil {
		return nil, errors.New("the chat is not connected any more")
	}
	data, err := t.readFile(ctx, f)
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > min(s.platform.Limits().File, channel.MaxFile) {
		return nil, errors.New("it is larger than the platform allows")
	}
	if sum := sha256.Sum256(data); f.SHA256 != "" && hex.EncodeToString(sum[:]) != f.SHA256 {
		return nil, errors.New("it has changed since the agent sent it")
	}
	kind := mime.TypeByExtension(filepath.Ext(f.Path))
	if kind == "" {
		kind = http.DetectContentType(data)
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
	return &channel.Upload{Name: channel.CleanName(filepath.Base(f.Path)), MIME: kind, Size: int64(len(data)), Open: open}, nil
}

// finish records how sending ended.
func (s *sender) finish(r result) {
	s.busy--
	o, now, limits := s.outlet(r.item.Chat), s.Now(), s.platform.Limits()
	o.busy = false
	o.next = now.Add(limits.Every)
	var limited *channel.RateLimited
	switch {
	case errors.As(r.err, &limited):
		o.next = now.Add(limited.After)
		return
	case r.preview != nil:
		o.edit = now.Add(max(limits.EditEvery, limits.Every))
		o.shown = r.preview.text
		return
	case r.err == nil:
		o.attempts, o.shown = 0, ""
		s.sent(r)
		return
	case errors.Is(r.err, channel.ErrRejected), errors.Is(r.err, channel.ErrChatGone), now.Sub(time.UnixMilli(r.item.At)) > tooOld:
		o.attempts = 0
		s.Logger.Error("a message to a chat was not sent", "channel", s.store.read().ID, "error", r.err)
		s.note(r.err)
		s.sent(result{item: r.item, err: r.err})
		return
	}
	o.attempts++
	o.next = now.Add(min(firstWait<<min(o.attempts, 6), longestWait))
	s.note(r.err)
}

// note shows a failure to send until messages arrive again.
func (s *sender) note(err error) {
	s.mu.Lock()
	state := s.state
	s.mu.Unlock()
	s.set(state, err)
}

// sent removes a message from the file.
func (s *sender) sent(r result) {
	err := s.store.change(func(f *record) error {
		f.Outbox = slices.DeleteFunc(f.Outbox, func(i item) bool { return i.Key == r.item.Key })
		if r.item.Name != "" {
			f.setName(r.item.Name, r.item.Chat, r.id) // "" removes it
		}
		return nil
	})
	s.ended(r.item.Key, r.err)
	if err != nil && !errors.Is(err, errRemoved) {
		s.Logger.Error("storing that a message was sent", "channel", s.store.read().ID, "error", err)
		s.outlet(r.item.Chat).next = s.Now().Add(longestWait)
	}
}
