package chats

import (
	"crypto/rand"
	"crypto/subtle"
	"slices"
	"strings"
	"time"

	"github.com/scorel/scorel/apps/host/internal/channel"
	"github.com/scorel/scorel/packages/protocol/api"
)

const (
	codeLife     = 10 * time.Minute
	codeLetters  = "23456789ABCDEFGHJKMNPQRSTVWXYZ" // none that look alike
	codeLength   = 8
	maxCodes     = 8
	chatGuesses  = 5  // wrong codes of a chat in ten minutes
	totalGuesses = 20 // wrong codes of a channel in ten minutes; then all of its codes end
)

// code binds the chat in which it is typed.
type code struct {
	text    string
	expires time.Time
	bound   bound // without chat and senders
}

// guess is a wrong code.
type guess struct {
	chat string
	at   time.Time
}

type guesses []guess

// newCode returns eight random letters, 39 bits, with a dash for people.
func newCode() string {
	var b [codeLength]byte
	for i := 0; i < len(b); {
		var one [1]byte
		_, _ = rand.Read(one[:]) // never fails
		if n := int(one[0]); n < 256-256%len(codeLetters) {
			b[i] = codeLetters[n%len(codeLetters)]
			i++
		}
	}
	return string(b[:4]) + "-" + string(b[4:])
}

// readCode returns the code that a text is, or "". A command before it is accepted.
func readCode(text string) string {
	words := strings.Fields(text)
	if len(words) == 2 && slices.Contains([]string{"/start", "/pair", "pair", "!pair"}, strings.ToLower(words[0])) {
		words = words[1:]
	}
	if len(words) != 1 || len(words[0]) != codeLength+1 {
		return ""
	}
	word := strings.ToUpper(words[0])
	bare := strings.ReplaceAll(word, "-", "")
	if len(bare) != codeLength || word[4] != '-' || strings.Trim(bare, codeLetters) != "" {
		return ""
	}
	return word
}

// pair creates a code.
func (r *running) pair(b bound) (string, time.Time) {
	now := r.Now()
	one := code{text: newCode(), expires: now.Add(codeLife), bound: b}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.codes = slices.DeleteFunc(r.codes, func(c code) bool { return now.After(c.expires) })
	if over := len(r.codes) - maxCodes + 1; over > 0 {
		r.codes = r.codes[over:]
	}
	r.codes = append(r.codes, one)
	return one.text, one.expires
}

// mayGuess reports whether a chat may try a code.
func (r *running) mayGuess(chatID string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.guesses.forget(r.Now())
	return r.guesses.of(chatID) < chatGuesses
}

func (g *guesses) forget(now time.Time) {
	*g = slices.DeleteFunc(*g, func(one guess) bool { return now.Sub(one.at) > codeLife })
}

func (g guesses) of(chatID string) (n int) {
	for _, one := range g {
		if one.chat == chatID {
			n++
		}
	}
	return n
}

// redeem takes a code that was typed. A wrong one is counted; tried is false for one that came
// after too many others.
func (r *running) redeem(chatID, text string) (b bound, found, tried bool) {
	now := r.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.guesses.forget(now)
	if r.guesses.of(chatID) >= chatGuesses {
		return b, false, false
	}
	r.codes = slices.DeleteFunc(r.codes, func(c code) bool { return now.After(c.expires) })
	for i, c := range r.codes {
		if subtle.ConstantTimeCompare([]byte(c.text), []byte(text)) == 1 {
			r.codes = slices.Delete(r.codes, i, i+1)
			return c.bound, true, true
		}
	}
	if r.guesses = append(r.guesses, guess{chatID, now}); len(r.guesses) >= totalGuesses {
		r.codes, r.guesses = nil, r.guesses[len(r.guesses)-totalGuesses:]
	}
	return b, false, true
}

// bind binds the chat of a message that is a code. If the host ends after the code was used and
// before the file is written, the person needs another code.
func (h *handling) bind(m channel.Message) error {
	b, found, tried := h.redeem(m.Chat.ID, readCode(m.Text))
	if !found {
		if tried {
			h.say("This code is wrong or has expired.")
		}
		return nil
	}
	project, err := h.Projects.Find(b.ProjectID)
	if err != nil {
		return err
	}
	now := h.Now().UnixMilli()
	b.ClientID, b.Chat, b.BoundAt = newID(chatPrefix), m.Chat, now
	if before := h.store.read().chat(m.Chat.ID); before != nil {
		defer h.removed(before.ClientID)
	}
	b.Senders = []listed{{Sender: m.From, AddedAt: now}}
	h.edit(func(f *record) error {
		if !h.gives(b.By) {
			return errGiverRevoked()
		}
		f.removeChat(m.Chat.ID)
		if len(f.Chats) >= maxChats {
			return api.Errorf(api.KindConflict, "this channel has %d chats, which is the limit: remove one", maxChats)
		}
		f.Chats = append(f.Chats, &b)
		return nil
	})
	h.said = append(h.said, item{Key: key("answer", h.u.ID), Chat: m.Chat.ID, Text: channel.Text("Connected to " + project.Name + ". Write what the agent should do, or /help.")})
	h.mu.Lock()
	h.ignored = slices.DeleteFunc(h.ignored, func(i ignored) bool { return i.chat.ID == m.Chat.ID && i.from.ID == m.From.ID })
	h.mu.Unlock()
	h.Logger.Info("a chat is bound", "channel", h.store.read().ID, "client", b.ClientID, "project", b.ProjectID)
	return nil
}
