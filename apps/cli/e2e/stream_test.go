//go:build unix

package e2e

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/client/relayconn"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/session"
)

// stream is an entry that follows a session and comes back by itself whenever it
// loses the host. What it has seen must be one series without a gap.
type stream struct {
	relayURL string
	keys     *ident.Private
	device   ident.ID
	pin      ident.SealPublic
	session  string

	mu      sync.Mutex
	anchors api.Anchors
	text    strings.Builder // of the message that streams
	resumed int             // connections after the first
	ended   bool
	err     error
}

// startStream prompts for a stream of words and follows it from an entry of its
// own until the test ends.
func (w *world) startStream(t *testing.T, words int) *stream {
	t.Helper()
	e := w.pairEntry(t)
	id := w.newSession(t, w.local, "stream")
	s := &stream{relayURL: w.relay.URL, keys: e.keys, device: w.id, pin: e.pin, session: id}
	e.Close()
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	t.Cleanup(func() { cancel(); running.Wait() })
	running.Go(func() { s.follow(ctx) })
	s.awaitThat(t, "the entry to follow", func() bool { return s.anchors.Epoch != "" })
	ask(t, w.local, api.SendPrompt,
		api.SendPromptRequest{SessionID: id, ClientKey: "stream", Text: fmt.Sprintf("stream %d", words)})
	return s
}

// follow connects again and again.
func (s *stream) follow(ctx context.Context) {
	for ctx.Err() == nil {
		err := s.once(ctx)
		s.mu.Lock()
		if broken := (*gap)(nil); errors.As(err, &broken) && s.err == nil {
			s.err = err
		}
		s.mu.Unlock()
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond): // the back-off of an entry
		}
	}
}

// once follows until the connection ends.
func (s *stream) once(ctx context.Context) error {
	e, err := client.DialEntry(ctx, relayconn.Config{RelayURL: s.relayURL, Keys: s.keys, Label: "stream"})
	if err != nil {
		return err
	}
	defer e.Close()
	transport, err := e.OpenDevice(ctx, s.device, s.pin, "the host")
	if err != nil {
		return err
	}
	// What comes behind the answer waits until the answer is worked in.
	events := make(chan api.EventEnvelope, 1<<16)
	c := client.New(transport, func(envelope api.EventEnvelope) { events <- envelope })
	defer c.Close()
	s.mu.Lock()
	anchors := s.anchors
	s.mu.Unlock()
	answer, err := client.Call(ctx, c, api.ResyncEvents,
		api.ResyncEventsRequest{SessionID: s.session, Anchors: anchors})
	if err != nil {
		return err
	}
	if err := s.resume(answer, anchors); err != nil {
		return err
	}
	for {
		select {
		case envelope := <-events:
			if err := s.apply(envelope); err != nil {
				return err
			}
		case <-c.Done():
			return c.Err()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// gap is a break in the series of events.
type gap struct{ text string }

func (g *gap) Error() string { return g.text }

func (s *stream) resume(answer api.ResyncEventsResponse, asked api.Anchors) error {
	if asked.Epoch == "" {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.anchors = answer.Anchors
		return nil
	}
	if answer.Mode != api.ResyncStream {
		return &gap{fmt.Sprintf("the host answered %s, though nothing that was missed is old", answer.Mode)}
	}
	for _, envelope := range answer.Events {
		if err := s.apply(envelope); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.resumed++
	if s.anchors.StreamLastSeq != answer.Anchors.StreamLastSeq {
		return &gap{fmt.Sprintf("the events of the answer end at %d, its anchor is %d", s.anchors.StreamLastSeq, answer.Anchors.StreamLastSeq)}
	}
	return nil
}

func (s *stream) apply(envelope api.EventEnvelope) error {
	if envelope.SessionID != s.session || envelope.Seq == 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if envelope.Seq != s.anchors.StreamLastSeq+1 {
		return &gap{fmt.Sprintf("event %d followed event %d", envelope.Seq, s.anchors.StreamLastSeq)}
	}
	s.anchors.StreamLastSeq = envelope.Seq
	switch event := envelope.Event.(type) {
	case api.EntryAppended:
		s.anchors.PersistentLastSeq = envelope.Seq
	case api.MessageStarted:
		s.text.Reset()
	case api.BlockDelta:
		s.text.WriteString(event.Delta)
	case api.TurnEnded:
		s.ended = event.StopReason == session.StopEnd
	}
	return nil
}

func (s *stream) awaitThat(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * patience); ; {
		s.mu.Lock()
		err, ok := s.err, done()
		s.mu.Unlock()
		switch {
		case err != nil:
			t.Fatal(err)
		case ok:
			return
		case time.Now().After(deadline):
			t.Fatalf("waited %s for %s", 2*patience, what)
		}
		<-time.After(20 * time.Millisecond)
	}
}

// await waits until so many words have come.
func (s *stream) await(t *testing.T, words int) {
	t.Helper()
	s.awaitThat(t, fmt.Sprintf("word %d", words), func() bool { return len(strings.Fields(s.text.String())) >= words })
}

// check waits for the turn's end and compares all that came with what the model said.
func (s *stream) check(t *testing.T, words int) {
	t.Helper()
	s.awaitThat(t, "the turn to end", func() bool { return s.ended })
	var want []string
	for i := range words {
		want = append(want, fmt.Sprintf("word%d", i+1))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.text.String() != strings.Join(want, " ") {
		t.Errorf("the stream reads %q", s.text.String())
	}
	if s.resumed == 0 {
		t.Error("the stream was never cut: the test proves nothing")
	}
	t.Logf("a stream of %d words continued over %d reconnections", words, s.resumed)
}
