package host_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// unreachable is a provider whose sessions cannot be opened until it is back.
type unreachable struct {
	store.Provider
	back    atomic.Bool
	refused chan struct{}
}

func (u *unreachable) Open(ctx context.Context, id string) (store.Log, error) {
	if u.back.Load() {
		return u.Provider.Open(ctx, id)
	}
	select {
	case u.refused <- struct{}{}:
	default:
	}
	return nil, errDown
}

// unlisted is an unreachable provider that cannot list its sessions either.
type unlisted struct{ *unreachable }

func (u unlisted) List(ctx context.Context) ([]store.Info, error) {
	if u.back.Load() {
		return u.Provider.List(ctx)
	}
	return nil, errDown
}

var errDown = &store.UnavailableError{Provider: "test", Place: "here", Cause: errors.New("it is down")}

// TestChatWaitsForASessionThatIsUnavailable starts a host while the session of a chat cannot be
// opened, as after a crash of a machine whose database starts later. The chat follows it as soon as
// it can, and shows what it says then.
func TestChatWaitsForASessionThatIsUnavailable(t *testing.T) {
	t.Parallel()
	s := newChatScene(t, nil, modeltest.Say("Before."), modeltest.Say("After."))
	s.before(func() {
		s.fake.Say(group, ada, "hi")
		s.shows("Before.")
	})
	u := &unreachable{refused: make(chan struct{}, 2)}
	host.Beneath(&s.cfg, func(p store.Provider) store.Provider {
		u.Provider = p
		return u
	})
	s.c = dial(t, start(t, s.cfg), nil)
	for range 2 { // the session opens when it starts, and for the chat
		<-u.refused
	}
	id := s.chats()[0].Session
	u.back.Store(true)
	call(t, s.c, api.SendPrompt, api.SendPromptRequest{SessionID: id, ClientKey: "k", Text: "and now?"})
	s.shows("After.")
	if now := s.chats()[0].Session; now != id {
		t.Errorf("the chat has the session %q, not %q", now, id)
	}
}

// TestChatKeepsASessionThatIsNotFound starts a host without its index while the session of a chat
// cannot be listed. The chat says so and keeps the session, and continues it when it is back.
func TestChatKeepsASessionThatIsNotFound(t *testing.T) {
	t.Parallel()
	s := newChatScene(t, nil, modeltest.Say("Before."), modeltest.Say("After."))
	s.before(func() {
		s.fake.Say(group, ada, "hi")
		s.shows("Before.")
	})
	if err := os.Remove(filepath.Join(s.home, "index.db")); err != nil {
		t.Fatal(err)
	}
	u := unlisted{&unreachable{}}
	host.Beneath(&s.cfg, func(p store.Provider) store.Provider {
		u.Provider = p
		return u
	})
	h := start(t, s.cfg)
	s.c = dial(t, h, nil)
	id := s.chats()[0].Session
	_, err := client.Call(t.Context(), s.c, api.GetSnapshot, api.SessionRequest{SessionID: id})
	wantKind(t, err, api.KindUnavailable)
	s.fake.Say(group, ada, "still there?")
	s.shows("cannot be found now")
	u.back.Store(true)
	if err := h.RefreshSessions(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.fake.Say(group, ada, "and now?")
	s.shows("After.")
	if now := s.chats()[0].Session; now != id {
		t.Errorf("the chat has the session %q, not %q", now, id)
	}
	_, err = client.Call(t.Context(), s.c, api.GetSnapshot, api.SessionRequest{SessionID: "another"})
	wantKind(t, err, api.KindNotFound)
}
