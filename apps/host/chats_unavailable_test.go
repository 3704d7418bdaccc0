package host_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
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
	return nil, &store.UnavailableError{Provider: "test", Place: "here", Cause: errors.New("it is down")}
}

// TestChatWaitsForASessionThatIsUnavailable starts a host while the session of a chat cannot be
// opened, as after a crash of a machine whose database starts later. The chat follows it as soon as
// it can, and shows what it says then.
func TestChatWaitsForASessionThatIsUnavailable(t *testing.T) {
	t.Parallel()
	s := newChatScene(t, nil, modeltest.Say("Before."), modeltest.Say("After."))
	t.Run("before", func(t *testing.T) {
		s.t = t
		s.open()
		s.pair()
		s.fake.Say(group, ada, "hi")
		s.shows("Before.")
	})
	s.t = t
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
