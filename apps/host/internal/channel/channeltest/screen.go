package channeltest

import (
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/scorel/scorel/apps/host/internal/channel"
)

// Screen is what a fake shows and refuses: it implements the methods of Fake about messages of the
// bot. A fake embeds it and uses its lock for its own fields too.
type Screen struct {
	sync.Mutex
	Messages map[string][]Shown // of the bot, by chat, oldest first
	Gone     map[string]bool    // chats that the bot was removed from
	Refuse   time.Duration      // how long the next message is refused; 0 for not
	// Step is called when a request arrived ("arrived POST /path"), when it was handled and not
	// answered yet ("handled POST /path"), and when an event was sent ("sent") or will not be sent
	// again ("acknowledged"). It is set before the first request.
	Step func(what string)

	changed chan struct{} // closed at the next step
}

// NewScreen returns a screen without messages.
func NewScreen() Screen {
	return Screen{Messages: map[string][]Shown{}, Gone: map[string]bool{}, Step: func(string) {}, changed: make(chan struct{})}
}

// Steps makes the steps of requests that a handler answers.
func (s *Screen) Steps(serve http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		what := r.Method + " " + r.URL.Path
		s.Reached("arrived " + what)
		serve(w, r)
		s.Reached("handled " + what)
	}
}

// Reached is a step.
func (s *Screen) Reached(what string) {
	s.Lock()
	close(s.changed)
	s.changed = make(chan struct{})
	s.Unlock()
	s.Step(what)
}

// Changed returns a channel that is closed at the next step.
func (s *Screen) Changed() <-chan struct{} {
	s.Lock()
	defer s.Unlock()
	return s.changed
}

// Shown implements Fake.
func (s *Screen) Shown(chat channel.Chat) []Shown {
	s.Lock()
	defer s.Unlock()
	return slices.Clone(s.Messages[chat.ID])
}

// Withdraw implements Fake.
func (s *Screen) Withdraw(chat channel.Chat, messageID string) {
	s.Lock()
	defer s.Unlock()
	s.Messages[chat.ID] = slices.DeleteFunc(s.Messages[chat.ID], func(m Shown) bool { return m.ID == messageID })
}

// Limit implements Fake.
func (s *Screen) Limit(after time.Duration) {
	s.Lock()
	defer s.Unlock()
	s.Refuse = after
}

// Leave implements Fake.
func (s *Screen) Leave(chat channel.Chat) {
	s.Lock()
	defer s.Unlock()
	s.Gone[chat.ID] = true
}
