package client

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/scorel/scorel/packages/client/relayconn"
	"github.com/scorel/scorel/packages/protocol/ident"
)

// Absent returns a channel for a device that was offline when a channel to it was requested, or
// that closed its channel: it is closed when the relay then reports the device online, or when
// the connection ends. It is nil for other devices.
func (e *Entry) Absent(device ident.ID) <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.absent[device]
}

// left notes that a device is absent. The reader calls it, so that a report that the device is
// online, if one follows, is newer. e.mu must be held.
func (e *Entry) left(device ident.ID) {
	if !e.ended && !waits(e.absent[device]) {
		e.absent[device] = make(chan struct{})
	}
}

// returned notes that a device may be tried again. e.mu must be held.
func (e *Entry) returned(device ident.ID) {
	if absent := e.absent[device]; waits(absent) {
		close(absent)
	}
}

// waits reports whether a channel is one that was not closed.
func waits(absent chan struct{}) bool {
	select {
	case <-absent:
		return false
	default:
		return absent != nil
	}
}

// live reports whether the connection has not ended.
func (e *Entry) live() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return !e.ended
}

const (
	// maxStandby bounds the connections that a Standby holds; more are closed.
	maxStandby = 8
	// hurry is the least time between two attempts that relays cause: a relay cannot make its
	// peers busy.
	hurry = time.Second
	// againTimeout bounds an attempt over a connection that was held: see Again.
	againTimeout = 3 * time.Second
)

// Standby holds the connections to relays at which a device is offline while no channel to it is
// open. Wait ends when one of them reports the device online, and the next attempt takes it, so
// that it needs no login. Its methods may be called from any goroutine. A nil Standby holds
// nothing.
type Standby struct {
	device ident.ID

	mu     sync.Mutex
	held   map[string]*Entry
	open   int // channels
	closed bool
	// The last turn, and for which report it was given: see turn.
	at   time.Time
	last <-chan struct{}
}

// NewStandby returns one for a device. It must be closed.
func NewStandby(device ident.ID) *Standby {
	return &Standby{device: device, held: map[string]*Entry{}}
}

// Take returns the connection that is held under a name, or nil. The caller owns it.
func (s *Standby) Take(name string) *Entry {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	entry := s.held[name]
	delete(s.held, name)
	s.mu.Unlock()
	if entry == nil || entry.live() {
		return entry
	}
	entry.Close()
	return nil
}

// Again takes the connection that is held under a name and calls open with it, for within at most;
// 0 means 3 s. The network may have changed since, and a new connection shows that at once. The
// caller owns the returned connection, which is nil if none was held or the held one has failed.
func (s *Standby) Again(ctx context.Context, name string, within time.Duration, open func(context.Context, *Entry) error) (*Entry, error) {
	entry := s.Take(name)
	if entry == nil {
		return nil, nil
	}
	trying, cancel := context.WithTimeout(ctx, cmp.Or(within, againTimeout))
	defer cancel()
	err := open(trying, entry)
	if err != nil && ctx.Err() == nil && (trying.Err() != nil || errors.Is(err, ErrLost) || errors.Is(err, relayconn.ErrClosed)) {
		entry.Close()
		return nil, nil
	}
	return entry, err
}

// Opened notes that a channel was opened, and closes the connections that are held.
func (s *Standby) Opened() {
	if s == nil {
		return
	}
	s.mu.Lock()
	s.open++
	s.mu.Unlock()
	s.clear()
}

// Ended takes over the connection of a channel that Opened has counted.
func (s *Standby) Ended(name string, entry *Entry) {
	if s != nil {
		s.mu.Lock()
		s.open--
		s.mu.Unlock()
	}
	s.Hold(name, entry)
}

// Hold takes over a connection on which no channel is open. It closes the connection unless the
// relay will report on it that the device is back.
func (s *Standby) Hold(name string, entry *Entry) {
	if s == nil {
		entry.Close()
		return
	}
	s.mu.Lock()
	other := entry
	if s.open == 0 && !s.closed && entry.live() && entry.Absent(s.device) != nil && (s.held[name] != nil || len(s.held) < maxStandby) {
		other, s.held[name] = s.held[name], entry
	}
	s.mu.Unlock()
	if other != nil {
		other.Close()
	}
}

// Close closes what is held; later connections are closed at once.
func (s *Standby) Close() {
	if s == nil {
		return
	}
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.clear()
}

func (s *Standby) clear() {
	s.mu.Lock()
	held := s.held
	s.held = map[string]*Entry{}
	s.mu.Unlock()
	for _, entry := range held {
		entry.Close()
	}
}

// Wait waits for d, less if the device may be back. It fails if ctx ends.
func (s *Standby) Wait(ctx context.Context, d time.Duration) error {
	began := time.Now()
	waiting, end := context.WithTimeout(ctx, d)
	defer end()
	var watching sync.WaitGroup
	for _, absent := range s.absent() {
		watching.Go(func() {
			select {
			case <-absent:
			case <-waiting.Done():
				return
			}
			select {
			case <-time.After(s.turn(absent, began)):
			case <-waiting.Done():
			}
			end()
		})
	}
	<-waiting.Done()
	watching.Wait()
	return context.Cause(ctx)
}

func (s *Standby) absent() (list []<-chan struct{}) {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, entry := range s.held {
		list = append(list, entry.Absent(s.device))
	}
	return list
}

// turn returns how long an attempt that a report causes must wait. All waits for the same
// report have the same turn. A wait that began after that turn gets the next one.
func (s *Standby) turn(report <-chan struct{}, began time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if s.last != report || began.After(s.at) {
		s.last, s.at = report, s.at.Add(hurry)
		if s.at.Before(now) {
			s.at = now
		}
	}
	return s.at.Sub(now)
}
