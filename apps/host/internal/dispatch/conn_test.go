package dispatch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/scorel/scorel/packages/protocol/api"
)

// script is a transport whose client sends messages in order, waits for the answer to each,
// and then closes.
type script struct {
	messages []string
	answers  chan string
}

func (s *script) Send(_ context.Context, message []byte) error {
	s.answers <- string(message)
	return nil
}

var errScriptEnded = errors.New("the client closed")

func (s *script) Receive(ctx context.Context) ([]byte, error) {
	if len(s.messages) == 0 {
		return nil, errScriptEnded
	}
	message := s.messages[0]
	s.messages = s.messages[1:]
	return []byte(message), nil
}

func (s *script) Close() error { return nil }

// TestRequestsOfAConnection: each message gets one answer, with the fields checked and the
// grant required before the handler runs, and a fault of the handler stays in the log.
func TestRequestsOfAConnection(t *testing.T) {
	list := Serve(api.ListProjects, func(context.Context, *Conn, api.Empty) (api.ListProjectsResponse, error) {
		return api.ListProjectsResponse{Projects: []api.Project{{ID: "p1"}}}, nil
	})
	stop := Serve(api.StopHost, func(context.Context, *Conn, api.Empty) (api.Empty, error) {
		t.Error("a handler ran without its grant")
		return api.Empty{}, nil
	})
	unsubscribe := Serve(api.Unsubscribe, func(context.Context, *Conn, api.SessionRequest) (api.Empty, error) {
		return api.Empty{}, errors.New("the disk is on fire")
	})
	rules := Serve(api.ListRules, func(context.Context, *Conn, api.ListRulesRequest) (api.ListRulesResponse, error) {
		return api.ListRulesResponse{}, fmt.Errorf("reading: %w", &fs.PathError{Op: "open", Path: "home/rules.json", Err: fs.ErrPermission})
	})
	for _, c := range []struct{ message, want string }{
		{`nothing`, "not a JSON object"},
		{`{"type":"unsubscribe"}`, "no requestId"},
		{`{"type":"from_the_future","requestId":"1"}`, "does not know the request"},
		{`{"type":"stop_host","requestId":"2"}`, "needs the grant"},
		{`{"type":"unsubscribe","requestId":"3"}`, "sessionId"},
		{`{"type":"unsubscribe","requestId":"4","sessionId":"s"}`, "see its log"},
		{`{"type":"list_rules","requestId":"6"}`, "home/rules.json may not be read or written"},
		{`{"type":"list_projects","requestId":"5"}`, `"p1"`},
	} {
		s := &script{messages: []string{c.message}, answers: make(chan string, 1)}
		d := dispatcherWith(nil, list, stop, unsubscribe, rules)
		ctx, cancel := context.WithCancel(t.Context())
		err := d.Run(ctx, LocalID, []api.Grant{api.GrantView}, func(*Conn) Outbox {
			return NewQueue(func(ctx context.Context, out Outgoing) error { return s.Send(ctx, out.Message) }, func(error) {}, func() {})
		}, func(ctx context.Context, conn *Conn) error {
			if err := conn.readLoop(ctx, s); !errors.Is(err, errScriptEnded) {
				return err
			}
			if got := <-s.answers; !strings.Contains(got, c.want) || strings.Contains(got, "fire") {
				t.Errorf("%s: %s", c.message, got)
			}
			return errScriptEnded
		})
		cancel()
		if !errors.Is(err, errScriptEnded) {
			t.Errorf("%s: the connection ended with %v", c.message, err)
		}
	}
}

// TestConcurrentRequestsAreBounded: while too many run, or too many bytes of them, nothing more is
// read; all are served in the end.
func TestConcurrentRequestsAreBounded(t *testing.T) {
	for name, c := range map[string]struct{ requests, size, most int }{
		"requests": {100, 0, maxRunning}, "bytes": {5, maxRunningBytes/3 + 1, 2}, "one is larger": {2, maxRunningBytes + 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var now, all atomic.Int32
				release := make(chan struct{})
				slow := Serve(api.DeleteSession, func(ctx context.Context, _ *Conn, _ api.SessionRequest) (api.DeleteSessionResponse, error) {
					now.Add(1)
					all.Add(1)
					<-release
					now.Add(-1)
					return api.DeleteSessionResponse{}, nil
				})
				s := &script{answers: make(chan string, c.requests)}
				for range c.requests {
					s.messages = append(s.messages, `{"type":"delete_session","requestId":"1","sessionId":"s"}`+strings.Repeat(" ", c.size))
				}
				d := dispatcherWith(nil, slow)
				ended := make(chan error)
				go func() { ended <- d.Serve(t.Context(), s, LocalID, api.AllGrants()) }()
				synctest.Wait()
				if got := int(now.Load()); got != c.most {
					t.Errorf("%d requests run at once, want %d", got, c.most)
				}
				close(release)
				if err := <-ended; !errors.Is(err, errScriptEnded) || int(all.Load()) != c.requests {
					t.Errorf("%d requests were served, %v", all.Load(), err)
				}
			})
		})
	}
}

// TestConcurrentRequestsEndWithTheirConnection: also the reader that waits for them.
func TestConcurrentRequestsEndWithTheirConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := Serve(api.DeleteSession, func(ctx context.Context, _ *Conn, _ api.SessionRequest) (api.DeleteSessionResponse, error) {
			<-ctx.Done()
			return api.DeleteSessionResponse{}, ctx.Err()
		})
		s := &script{answers: make(chan string, 2*maxRunning)}
		for range 2 * maxRunning {
			s.messages = append(s.messages, `{"type":"delete_session","requestId":"1","sessionId":"s"}`)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- dispatcherWith(nil, slow).Serve(ctx, s, LocalID, api.AllGrants()) }()
		synctest.Wait()
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("the connection ended with %v", err)
		}
	})
}

// TestASlowConnectionEnds: when more waits than a connection may have, it ends instead of
// blocking its notifiers.
func TestASlowConnectionEnds(t *testing.T) {
	d := dispatcherWith(nil)
	stuck := make(chan struct{})
	err := d.Run(t.Context(), LocalID, []api.Grant{api.GrantView}, func(c *Conn) Outbox {
		return NewQueue(func(ctx context.Context, _ Outgoing) error {
			<-ctx.Done()
			close(stuck)
			return context.Cause(ctx)
		}, func(error) {}, func() { c.End(ErrSlow) })
	}, func(ctx context.Context, c *Conn) error {
		for range 3 {
			c.Out().Answer(make([]byte, maxOutgoing))
		}
		<-ctx.Done()
		return context.Cause(ctx)
	})
	<-stuck
	if !errors.Is(err, ErrSlow) {
		t.Errorf("it ended with %v", err)
	}
}

// TestAMissingGrantNamesItsRemedy: the error says how this client gets the grant.
func TestAMissingGrantNamesItsRemedy(t *testing.T) {
	const client = "cli_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	for _, c := range []struct {
		clientID string
		grant    api.Grant
		want     string
	}{
		{client, api.GrantShell, "with `scorel host clients grant " + client + " shell`"},
		{client, api.GrantLocal, "do this on the host's machine"},
		{tokenPrefix + "x", api.GrantManage, "`scorel host token create`"},
		{chatPrefix + "x", api.GrantManage, "which this connection does not have"},
	} {
		err := (&Conn{clientID: c.clientID}).Lacks(c.grant, "this")
		if err.Kind != api.KindNotAllowed || !strings.HasPrefix(err.Message, "this needs the grant") || !strings.HasSuffix(err.Message, c.want) {
			t.Errorf("%s: %v", c.clientID, err)
		}
	}
}
