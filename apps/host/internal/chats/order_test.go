package chats

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/scorel/scorel/apps/host/internal/channel"
	"github.com/scorel/scorel/apps/host/internal/channel/channeltest"
	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/apps/host/internal/dispatch/dispatchtest"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/leakcheck"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

// talkative is a session that says a lot and ends its turn, just before it is asked how it is.
type talkative struct {
	t     *testing.T
	lines int
	said  bool
}

func (s *talkative) endpoints() []dispatch.Endpoint {
	return []dispatch.Endpoint{
		dispatch.Serve(api.ResyncEvents, func(context.Context, *dispatch.Conn, api.ResyncEventsRequest) (api.ResyncEventsResponse, error) {
			return api.ResyncEventsResponse{Live: api.Live{Turn: &api.Turn{TurnID: "t"}}}, nil
		}),
		dispatch.Serve(api.GetSnapshot, func(_ context.Context, c *dispatch.Conn, r api.SessionRequest) (api.GetSnapshotResponse, error) {
			for n := 1; n <= s.lines && !s.said; n++ {
				s.deliver(c, r.SessionID, api.EntryAppended{Entry: s.entry(n)})
			}
			s.said = true
			s.deliver(c, r.SessionID, api.TurnEnded{TurnID: "t"})
			return api.GetSnapshotResponse{Session: api.SessionSummary{ID: r.SessionID}}, nil
		}),
	}
}

func (s *talkative) entry(n int) session.Entry {
	e, err := session.ParseEntry(fmt.Appendf(nil, `{"type":"message","id":"e%[1]d","parentId":null,"timestamp":"2026-11-21T12:07:07.101Z","seq":%[1]d,"message":{"role":"assistant","content":[{"type":"text","text":"line %[1]d."}]}}`, n))
	if err != nil {
		s.t.Error(err)
	}
	return e
}

func (s *talkative) deliver(c *dispatch.Conn, id string, event api.Event) {
	envelope := api.EventEnvelope{SessionID: id, Event: event}
	encoded, err := api.EncodeEvent(envelope)
	if err != nil {
		s.t.Error(err)
	}
	c.Deliver(envelope, encoded)
}

// noSecrets are the secrets of a channel that has none.
type noSecrets struct{ Secrets }

func (noSecrets) Getenv(string) string { return "" }

// boundTo makes chats of which one is bound to a session "s" of such endpoints, and runs them until the
// test ends.
func boundTo(t *testing.T, platform channel.Platform, endpoints []dispatch.Endpoint) (channel.Chat, channel.Sender) {
	t.Helper()
	chat, from, stop := boundIn(t, t.TempDir(), platform, endpoints)
	t.Cleanup(stop)
	return chat, from
}

// boundIn is boundTo with the state in a folder, until stop is called.
func boundIn(t *testing.T, folder string, platform channel.Platform, endpoints []dispatch.Endpoint) (_ channel.Chat, _ channel.Sender, stop func()) {
	t.Helper()
	h := dispatchtest.New(t)
	project := h.AddProject()
	chat, from := channel.Chat{ID: "1", Direct: true}, channel.Sender{ID: "4711", Name: "Ada"}
	if _, err := newStore(filepath.Join(folder, "chn_1.json"), &record{ID: "chn_1", Kind: "telegram", Chats: []*bound{{
		ClientID: "chat_1", Chat: chat, ProjectID: project.ID, Grants: []api.Grant{api.GrantView, api.GrantPrompt},
		Senders: []listed{{Sender: from}}, Session: "s", Follows: []follow{{Session: "s"}},
	}}}); err != nil {
		t.Fatal(err)
	}
	dispatcher := dispatch.New(dispatch.Options{
		Logger: h.Log, Hub: h.Hub, Tokens: h.Tokens, Endpoints: endpoints, Unwatched: func() {},
		ProjectOf: func(string) (string, bool) { return project.ID, true },
	})
	c, err := New(Options{
		Logger: h.Log, Folder: folder, Secrets: noSecrets{}, Projects: h.Projects, Hub: h.Hub, Now: time.Now, NameOf: func(string) string { return "" }, Giver: everyone,
		Open: func(string, map[string]string, bool) (channel.Platform, error) { return platform, nil },
		Serve: func(ctx context.Context, transport client.Transport, clientID string) error {
			return dispatcher.Serve(ctx, transport, clientID, nil)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c.Run(ctx)
	}()
	return chat, from, func() { cancel(); <-ended }
}

// TestStatusFollowsWhatWasSaid asks a session how it is that has said a lot which is not sent yet.
// The status is the last message of the chat.
func TestStatusFollowsWhatWasSaid(t *testing.T) {
	t.Parallel()
	said, platform := &talkative{t: t, lines: 40}, channeltest.NewMemory()
	chat, from := boundTo(t, platform, said.endpoints())
	platform.Fake().Say(chat, from, "/status")
	deadline := time.After(time.Minute)
	for {
		changed, shown := platform.Changed(), platform.Fake().Shown(chat)
		at := len(shown) - 1
		if len(shown) <= said.lines {
			if at >= 0 && strings.Contains(shown[at].Text, "State: ") {
				t.Fatalf("the status comes after %d of %d lines", at, said.lines)
			}
			select {
			case <-changed:
			case <-deadline:
				t.Fatalf("the chat shows %d messages", len(shown))
			}
			continue
		}
		if text := shown[at].Text; len(shown) != said.lines+1 || !strings.Contains(text, "State: idle") {
			t.Errorf("%d messages, of which the last is %q", len(shown), text)
		}
		return
	}
}

// timed is a platform that notes when messages are sent and edited.
type timed struct {
	*channeltest.Memory
	mu           sync.Mutex
	sends, edits []time.Time
}

func (p *timed) Send(ctx context.Context, chatID string, m channel.Outgoing) (string, error) {
	p.mu.Lock()
	p.sends = append(p.sends, time.Now())
	p.mu.Unlock()
	return p.Memory.Send(ctx, chatID, m)
}

func (p *timed) Edit(ctx context.Context, chatID, messageID string, m channel.Outgoing) error {
	p.mu.Lock()
	p.edits = append(p.edits, time.Now())
	p.mu.Unlock()
	return p.Memory.Edit(ctx, chatID, messageID, m)
}

// TestAnswersGrowWithinTheRates writes an answer for twenty seconds. It grows while it is written, no
// faster than the platform allows.
func TestAnswersGrowWithinTheRates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		said, platform := &talkative{t: t}, &timed{Memory: channeltest.NewMemory()}
		platform.SetLimits(channel.Limits{Text: 4000, Edits: true, Every: time.Second, EditEvery: 3 * time.Second})
		conns := make(chan *dispatch.Conn, 1)
		chat, _ := boundTo(t, platform, []dispatch.Endpoint{
			dispatch.Serve(api.ResyncEvents, func(_ context.Context, c *dispatch.Conn, _ api.ResyncEventsRequest) (api.ResyncEventsResponse, error) {
				conns <- c
				return api.ResyncEventsResponse{Live: api.Live{Turn: &api.Turn{TurnID: "t"}}}, nil
			}),
		})
		c := <-conns
		synctest.Wait()
		said.deliver(c, "s", api.MessageStarted{})
		said.deliver(c, "s", api.BlockStarted{Block: session.BlockText})
		for range 100 {
			said.deliver(c, "s", api.BlockDelta{Delta: "more "})
			time.Sleep(200 * time.Millisecond)
		}
		said.deliver(c, "s", api.EntryAppended{Entry: said.entry(1)})
		time.Sleep(time.Minute)
		shown := platform.Fake().Shown(chat)
		if len(shown) != 1 || shown[0].Text != "line 1." || len(platform.sends) != 1 || len(platform.edits) < 5 {
			t.Errorf("the chat shows %+v after %d messages and %d edits", shown, len(platform.sends), len(platform.edits))
		}
		before := platform.sends[0]
		for n, at := range platform.edits {
			least := 3 * time.Second
			if n == 0 || n == len(platform.edits)-1 { // after the message itself; the whole answer
				least = time.Second
			}
			if at.Sub(before) < least {
				t.Errorf("edit %d comes after %s", n, at.Sub(before))
			}
			before = at
		}
	})
}

// slow is a platform whose requests to send take a while.
type slow struct {
	*channeltest.Memory
	takes   time.Duration
	sending chan struct{} // closed when the first request begins
	begin   sync.Once
	cut     atomic.Bool // whether the request was canceled
}

func (p *slow) Send(ctx context.Context, chatID string, m channel.Outgoing) (string, error) {
	id, err := p.Memory.Send(ctx, chatID, m) // it has arrived, and the answer is on its way
	p.begin.Do(func() { close(p.sending) })
	select {
	case <-time.After(p.takes):
		return id, err
	case <-ctx.Done():
		p.cut.Store(true)
		return "", ctx.Err()
	}
}

// TestStopRecordsWhatIsBeingSent stops the chats while a message is on its way to the platform. That
// is recorded, unless it takes long, and is not sent again by the next start.
func TestStopRecordsWhatIsBeingSent(t *testing.T) {
	for _, c := range []struct {
		takes time.Duration
		left  int
	}{{settleFor / 2, 0}, {2 * settleFor, 1}} {
		t.Run(c.takes.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				folder := t.TempDir()
				platform := &slow{Memory: channeltest.NewMemory(), takes: c.takes, sending: make(chan struct{})}
				platform.SetLimits(channel.Limits{Text: 4000})
				chat, from, stop := boundIn(t, folder, platform, (&talkative{t: t}).endpoints())
				platform.Fake().Say(chat, from, "/help")
				<-platform.sending
				stop()
				stored, err := loadStore(filepath.Join(folder, "chn_1.json"))
				if err != nil {
					t.Fatal(err)
				}
				if left := len(stored.read().Outbox); left != c.left || platform.cut.Load() != (c.left > 0) {
					t.Errorf("%d messages wait for the next start, canceled: %t", left, platform.cut.Load())
				}
			})
		})
	}
}
