package attention

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/scorel/scorel/apps/host/internal/push"
	"github.com/scorel/scorel/packages/atomicfile"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/exactjson"
)

const (
	maxSubscriptions = 10  // of one client
	maxAll           = 500 // subscriptions, and clients with settings
	maxSessions      = 500 // levels of sessions, for one client
	maxDeliveries    = 500
	maxNotified      = 1000 // sessions that people were notified of
)

// subscription is an address that a client added.
type subscription struct {
	ID        string       `json:"id"`
	ClientID  string       `json:"clientId"`
	Kind      api.PushKind `json:"kind"`
	Address   push.Address `json:"address"`
	Label     string       `json:"label,omitempty"`
	Reduced   bool         `json:"reduced,omitempty"`
	AddedAt   int64        `json:"addedAt"`
	LastAt    int64        `json:"lastAt,omitempty"`
	LastError string       `json:"lastError,omitempty"`
}

// delivery is a notification that was not delivered yet.
type delivery struct {
	ID       string       `json:"id"`
	To       string       `json:"to"` // id of a subscription
	Message  push.Message `json:"message"`
	Expires  int64        `json:"expires"` // Unix milliseconds
	Attempts int          `json:"attempts,omitempty"`
	NotUntil int64        `json:"notUntil,omitempty"`
}

// notified says which things of a session a subscription was notified of.
type notified struct {
	Session string   `json:"session"`
	To      string   `json:"to"` // id of a subscription
	IDs     []string `json:"ids"`
}

type file struct {
	Subscriptions []subscription     `json:"subscriptions,omitempty"`
	Settings      []api.PushSettings `json:"settings,omitempty"`
	Deliveries    []delivery         `json:"deliveries,omitempty"`
	Notified      []notified         `json:"told,omitempty"` // oldest first
}

// store is the file, and what it says.
type store struct {
	path string

	mu     sync.Mutex
	file   file
	stored []byte // what is in the file
}

func loadStore(path string) (*store, error) {
	s := &store{path: path, stored: []byte("{}\n")}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, fmt.Errorf("attention: reading what is stored: %w", err)
	}
	if err := exactjson.Strict(data, &s.file); err != nil {
		return nil, fmt.Errorf("attention: %s is damaged: repair it, or move it away and turn notifications on again (%w)", path, err)
	}
	s.stored = data
	return s, nil
}

// change stores a changed file, or leaves everything as it was. edit gets a copy.
func (s *store) change(edit func(*file) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := file{
		slices.Clone(s.file.Subscriptions), slices.Clone(s.file.Settings), slices.Clone(s.file.Deliveries), slices.Clone(s.file.Notified),
	}
	if err := edit(&next); err != nil {
		return err
	}
	data, err := json.MarshalIndent(next, "", "  ")
	if err != nil {
		return fmt.Errorf("attention: encoding: %w", err)
	}
	if data = append(data, '\n'); bytes.Equal(data, s.stored) {
		return nil // most turns of a host concern nobody who is notified
	}
	if err := atomicfile.Write(s.path, data, 0o600); err != nil {
		return fmt.Errorf("attention: storing: %w", err)
	}
	s.file, s.stored = next, data
	return nil
}

// read returns what is stored. The caller must not change it.
func (s *store) read() file {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.file
}

func (f *file) subscription(id string) *subscription {
	i := slices.IndexFunc(f.Subscriptions, func(s subscription) bool { return s.ID == id })
	if i < 0 {
		return nil
	}
	return &f.Subscriptions[i]
}

// settings returns those of a client, or the ones that apply without any.
func (f *file) settings(clientID string) api.PushSettings {
	for _, s := range f.Settings {
		if s.ClientID == clientID {
			return s
		}
	}
	return api.PushSettings{ClientID: clientID, Level: api.PushAll}
}

// level returns how much a client wants to be notified of in a session.
func level(s api.PushSettings, sessionID string) api.PushLevel {
	for _, own := range s.Sessions {
		if own.SessionID == sessionID {
			return own.Level
		}
	}
	return s.Level
}

func (f *file) notified(session, to string) []string {
	for _, t := range f.Notified {
		if t.Session == session && t.To == to {
			return t.IDs
		}
	}
	return nil
}

// setNotified records what a subscription was notified of; nothing removes it.
func (f *file) setNotified(session, to string, ids []string) {
	f.Notified = slices.DeleteFunc(f.Notified, func(t notified) bool { return t.Session == session && t.To == to })
	if len(ids) > 0 {
		f.Notified = append(f.Notified, notified{session, to, ids})
	}
	if over := len(f.Notified) - maxNotified; over > 0 {
		f.Notified = f.Notified[over:]
	}
}

// drop removes a subscription with all that is about it.
func (f *file) drop(id string) {
	f.Subscriptions = slices.DeleteFunc(f.Subscriptions, func(s subscription) bool { return s.ID == id })
	f.Deliveries = slices.DeleteFunc(f.Deliveries, func(d delivery) bool { return d.To == id })
	f.Notified = slices.DeleteFunc(f.Notified, func(t notified) bool { return t.To == id })
}

func (s *store) removeClient(clientID string) error {
	has := s.read()
	if !slices.ContainsFunc(has.Subscriptions, func(x subscription) bool { return x.ClientID == clientID }) &&
		!slices.ContainsFunc(has.Settings, func(x api.PushSettings) bool { return x.ClientID == clientID }) {
		return nil
	}
	return s.change(func(f *file) error {
		for _, have := range slices.Clone(f.Subscriptions) {
			if have.ClientID == clientID {
				f.drop(have.ID)
			}
		}
		f.Settings = slices.DeleteFunc(f.Settings, func(x api.PushSettings) bool { return x.ClientID == clientID })
		return nil
	})
}

// removeSession removes the levels that clients chose for a session.
func (s *store) removeSession(sessionID string) error {
	if !slices.ContainsFunc(s.read().Settings, func(x api.PushSettings) bool { return level(x, sessionID) != x.Level }) {
		return nil
	}
	return s.change(func(f *file) error {
		for i := range f.Settings {
			f.Settings[i].Sessions = withLevel(f.Settings[i].Sessions, sessionID, "")
		}
		return nil
	})
}

// withLevel returns levels of sessions with that of one; "" has none.
func withLevel(list []api.PushSession, sessionID string, l api.PushLevel) []api.PushSession {
	list = slices.DeleteFunc(slices.Clone(list), func(s api.PushSession) bool { return s.SessionID == sessionID })
	if l != "" {
		list = append(list, api.PushSession{SessionID: sessionID, Level: l})
	}
	return list
}

// waits reports whether an id is that of an approval or question, which can be withdrawn.
func waits(id string) bool { return !strings.HasPrefix(id, "turn_") }
