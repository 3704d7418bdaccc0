package attention

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/scorel/scorel/apps/host/internal/push"
	"github.com/scorel/scorel/apps/host/internal/sessions"
	"github.com/scorel/scorel/packages/protocol/api"
)

// recorder is a channel that keeps what is sent.
type recorder struct {
	mu     sync.Mutex
	got    []push.Message
	result func(to push.Address) push.Result
}

func (*recorder) Kind() api.PushKind         { return api.PushWeb }
func (*recorder) Check(push.Address) error   { return nil }
func (*recorder) Server(push.Address) string { return "push.example.com" }
func (r *recorder) Send(_ context.Context, to push.Address, m push.Message) push.Result {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.got = append(r.got, m)
	if r.result != nil {
		return r.result(to)
	}
	return push.Result{}
}

func (r *recorder) take() []push.Message {
	r.mu.Lock()
	defer r.mu.Unlock()
	got := r.got
	r.got = nil
	return got
}

// scene is a policy with one subscription of this machine's user.
type scene struct {
	*Attention
	t       *testing.T
	sent    *recorder
	looking map[string]bool
	grant   api.Grant // that the person who looks has alone; "" has all
	mu      sync.Mutex
	stop    func()
}

// start makes a scene inside of a bubble of time.
func start(t *testing.T, path string) *scene {
	t.Helper()
	s := &scene{t: t, sent: &recorder{}, looking: map[string]bool{}}
	key, err := push.LoadKey(filepath.Join(t.TempDir(), "key"))
	if err != nil {
		t.Fatal(err)
	}
	s.Attention, err = New(Options{
		Logger: slog.New(slog.DiscardHandler), Path: path, Key: key, Channels: []push.Channel{s.sent}, Device: "dev_1",
		Looking: func(grant api.Grant, ids ...string) bool {
			s.mu.Lock()
			defer s.mu.Unlock()
			return (s.grant == "" || s.grant == grant) && slices.ContainsFunc(ids, func(id string) bool { return s.looking[id] })
		},
		Access:    func(clientID, _ string) ([]api.Grant, bool) { return api.AllGrants(), clientID == "host" },
		ProjectOf: func(id string) (string, bool) { return "prj_1", id != "deleted" },
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.store.read().Subscriptions) == 0 {
		s.subscribe("host")
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { s.Run(ctx) })
	s.stop = func() { cancel(); running.Wait() }
	return s
}

func (s *scene) subscribe(clientID string) {
	err := s.store.change(func(f *file) error {
		return f.add(&subscription{ID: newID("psh_"), ClientID: clientID, Kind: api.PushWeb, Address: push.Address{URL: "https://push.example.com/" + clientID}})
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *scene) look(id string, looks bool) {
	s.mu.Lock()
	s.looking[id] = looks
	s.mu.Unlock()
	s.Looked()
}

// after returns what was sent by some time from now.
func (s *scene) after(d time.Duration) []push.Message {
	time.Sleep(d)
	synctest.Wait()
	return s.sent.take()
}

func (s *scene) want(d time.Duration, want ...string) []push.Message {
	s.t.Helper()
	got := s.after(d)
	var kinds []string
	for _, m := range got {
		kinds = append(kinds, m.Kind)
	}
	if !slices.Equal(kinds, want) {
		s.t.Fatalf("sent %q, want %q", kinds, want)
	}
	return got
}

func (s *scene) set(r api.SetPushRequest) {
	s.t.Helper()
	if err := s.store.change(func(f *file) error { _, err := f.set("host", r); return err }); err != nil {
		s.t.Fatal(err)
	}
}

func approval(id string) sessions.Notice {
	return sessions.Notice{Kind: sessions.NoticeApproval, SessionID: "s", RootID: "s", Title: "Fix it", Text: "Run make", ID: id, Shown: "hash", Whole: true}
}

func ended(kind sessions.NoticeKind, id string) sessions.Notice {
	return sessions.Notice{Kind: kind, SessionID: "s", RootID: "s", Title: "Fix it", ID: id}
}

func TestWhoeverLooksIsNotNotified(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, filepath.Join(t.TempDir(), "push.json"))
		defer s.stop()
		s.look("s", true)
		s.Needs(approval("apr_1"))
		s.Needs(ended(sessions.NoticeFailed, "turn_1"))
		s.want(time.Hour)
		s.look("other", true)
		s.look("s", false) // someone leaves while the approval waits
		s.want(leaving - time.Second)
		m := s.want(2*time.Second, "approval")[0]
		if m.Approval != "apr_1" || m.Shown != "hash" || !slices.Equal(m.Actions, []string{"allow", "deny"}) || m.Title != "Fix it" || m.Text != "Run make" {
			t.Fatalf("%+v", m)
		}
		s.look("s", true)
		s.Done("s", "apr_1") // it was answered on the page: the device that was notified forgets it
		s.want(time.Second, "gone")
	})
}

// TestWhoCannotAnswerKeepsNobodyQuiet: someone who may only look, or may not approve, does not
// keep an approval from the others.
func TestWhoCannotAnswerKeepsNobodyQuiet(t *testing.T) {
	for _, grant := range []api.Grant{api.GrantView, api.GrantPrompt} {
		synctest.Test(t, func(t *testing.T) {
			s := start(t, filepath.Join(t.TempDir(), "push.json"))
			defer s.stop()
			s.grant = grant
			s.look("s", true)
			s.Needs(approval("apr_1"))
			s.want(burst+time.Second, "approval")
		})
	}
}

// TestSettingsApplyToWhatWaits: a level that is changed while an approval waits takes the
// notification back, or sends it.
func TestSettingsApplyToWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, filepath.Join(t.TempDir(), "push.json"))
		defer s.stop()
		s.Needs(approval("apr_1"))
		s.want(burst+time.Second, "approval")
		s.set(api.SetPushRequest{Level: api.PushNone})
		s.Looked()
		s.want(leaving+time.Second, "gone")
		s.set(api.SetPushRequest{Level: api.PushNeeds})
		s.Looked()
		s.want(leaving+time.Second, "approval")
	})
}

// TestNothingIsRepeatedInQuietHours: a failed delivery whose next attempt is due in quiet hours
// waits for their end.
func TestNothingIsRepeatedInQuietHours(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the clock begins at midnight, UTC
		s := start(t, filepath.Join(t.TempDir(), "push.json"))
		defer s.stop()
		s.set(api.SetPushRequest{Quiet: &api.PushQuiet{From: "00:05", To: "06:00", Zone: "UTC"}})
		s.sent.result = func(push.Address) push.Result {
			return push.Result{Err: errors.New("too many"), Retry: true, After: 10 * time.Minute}
		}
		s.Needs(approval("apr_1"))
		s.want(time.Minute, "approval")
		s.sent.result = nil
		s.want(5 * time.Hour)
		s.want(time.Hour, "approval")
	})
}

// TestWhatConcernsNobodyIsNotStored: without subscriptions, turns write nothing.
func TestWhatConcernsNobodyIsNotStored(t *testing.T) {
	path := filepath.Join(t.TempDir(), "push.json")
	synctest.Test(t, func(t *testing.T) {
		s := start(t, path)
		defer s.stop()
		s.RemoveClient("host")
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		s.Needs(approval("apr_1"))
		s.Done("s", "apr_1")
		s.want(time.Minute)
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("the file was written: %v", err)
		}
	})
}

func TestABurstIsOneNotification(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, filepath.Join(t.TempDir(), "push.json"))
		defer s.stop()
		for _, id := range []string{"apr_1", "apr_2", "apr_3"} {
			s.Needs(approval(id))
		}
		if m := s.want(burst+time.Second, "approval")[0]; m.Count != 3 || len(m.Actions) > 0 || m.Quiet {
			t.Fatalf("%+v", m)
		}
		s.Done("s", "apr_1")
		s.Done("s", "apr_3")
		if m := s.want(time.Second, "approval")[0]; m.Count != 0 || m.Approval != "apr_2" || !m.Quiet {
			t.Fatalf("%+v", m)
		}
		s.Done("s", "apr_2")
		s.want(time.Second, "gone")
		s.Needs(approval("apr_4"))
		s.Done("s", "apr_4") // before anyone was notified
		s.want(time.Hour)
	})
}

func TestLevels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, filepath.Join(t.TempDir(), "push.json"))
		defer s.stop()
		s.Needs(ended(sessions.NoticeEnded, "turn_1"))
		s.want(burst+time.Second, "ended")
		s.set(api.SetPushRequest{Level: api.PushNeeds})
		s.Needs(ended(sessions.NoticeEnded, "turn_2"))
		s.want(burst + time.Second)
		s.Needs(ended(sessions.NoticeBudget, "turn_3"))
		s.want(burst+time.Second, "budget")
		s.set(api.SetPushRequest{Level: api.PushNone, SessionID: "s"})
		s.Needs(approval("apr_1"))
		s.want(burst + time.Second)
		s.set(api.SetPushRequest{SessionID: "s"})
		s.look("x", true)
		s.want(leaving+time.Second, "approval")
	})
}

func TestQuietHoursDelayWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the clock begins at midnight, UTC
		s := start(t, filepath.Join(t.TempDir(), "push.json"))
		defer s.stop()
		s.set(api.SetPushRequest{Quiet: &api.PushQuiet{From: "22:00", To: "06:30", Zone: "UTC"}})
		s.Needs(ended(sessions.NoticeFailed, "turn_1"))
		s.want(time.Hour)
		s.Needs(approval("apr_1"))
		s.want(5 * time.Hour)
		s.want(time.Hour, "approval")
	})
}

// TestQuietHours: the end of quiet hours, also over midnight and when the clock changes.
func TestQuietHours(t *testing.T) {
	night := &api.PushQuiet{From: "22:00", To: "07:00", Zone: "Europe/Berlin"}
	day := &api.PushQuiet{From: "12:00", To: "13:00", Zone: "Asia/Shanghai"}
	for _, c := range []struct {
		q         *api.PushQuiet
		now, want string
	}{
		{night, "2026-06-01T20:00:00Z", "2026-06-02T05:00:00Z"},
		{night, "2026-06-01T19:59:59Z", ""},
		{night, "2026-06-02T04:59:59Z", "2026-06-02T05:00:00Z"},
		{night, "2026-06-02T05:00:00Z", ""},
		{night, "2026-10-24T21:00:00Z", "2026-10-25T06:00:00Z"}, // summer time ends in this night
		{night, "2026-03-28T22:00:00Z", "2026-03-29T05:00:00Z"}, // and begins in this one
		{day, "2026-06-01T04:30:00Z", "2026-06-01T05:00:00Z"},
		{day, "2026-06-01T05:00:00Z", ""},
		{nil, "2026-06-01T05:00:00Z", ""},
	} {
		now, err := time.Parse(time.RFC3339, c.now)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if until := quietUntil(c.q, now); !until.IsZero() {
			got = until.UTC().Format(time.RFC3339)
		}
		if got != c.want {
			t.Errorf("%+v at %s: quiet until %q, want %q", c.q, c.now, got, c.want)
		}
	}
	for _, bad := range []api.PushQuiet{
		{From: "22:00"}, {From: "22:00", To: "25:00", Zone: "UTC"}, {From: "22:00", To: "22:00", Zone: "UTC"}, {From: "22:00", To: "07:00"},
		{From: "22:00", To: "07:00", Zone: "../../etc/passwd"}, {From: "22:00", To: "07:00", Zone: "Local"},
	} {
		if checkQuiet(bad) == nil {
			t.Errorf("%+v was accepted", bad)
		}
	}
}

// TestWhoSeesNoSessionIsNotNotified: access is checked when a notification is made, and again
// when it is sent.
func TestWhoSeesNoSessionIsNotNotified(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, filepath.Join(t.TempDir(), "push.json"))
		defer s.stop()
		s.RemoveClient("host")
		s.subscribe("cli_limited")
		s.Needs(approval("apr_1"))
		s.want(time.Minute)
		if err := s.store.change(func(f *file) error {
			f.queue(f.Subscriptions[0].ID, push.Message{Session: "s", TTL: time.Hour}, time.Now())
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		s.Looked()
		s.want(time.Minute)
		if got := s.store.read(); len(got.Deliveries) != 0 || !strings.Contains(got.Subscriptions[0].LastError, "does not see") {
			t.Fatalf("%+v", got)
		}
	})
}

// TestWhatIsNotShownIsNotAllowed: an approval can be allowed from a notification only if that
// shows all of it.
func TestWhatIsNotShownIsNotAllowed(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*sessions.Notice, *subscription)
		grants []api.Grant
		want   []string
	}{
		"whole":     {func(*sessions.Notice, *subscription) {}, api.AllGrants(), []string{"allow", "deny"}},
		"a part":    {func(n *sessions.Notice, _ *subscription) { n.Whole = false }, api.AllGrants(), []string{"deny"}},
		"long":      {func(n *sessions.Notice, _ *subscription) { n.Text = strings.Repeat("x", 201) }, api.AllGrants(), []string{"deny"}},
		"lines":     {func(n *sessions.Notice, _ *subscription) { n.Text = "a\nb\nc\nd\ne" }, api.AllGrants(), []string{"deny"}},
		"unseen":    {func(n *sessions.Notice, _ *subscription) { n.Text = "rm \u202etxt" }, api.AllGrants(), []string{"deny"}},
		"reduced":   {func(_ *sessions.Notice, s *subscription) { s.Reduced = true }, api.AllGrants(), nil},
		"may not":   {func(*sessions.Notice, *subscription) {}, []api.Grant{api.GrantView, api.GrantPrompt}, nil},
		"question":  {func(n *sessions.Notice, _ *subscription) { n.Kind = sessions.NoticeQuestion }, api.AllGrants(), []string{"reply"}},
		"view only": {func(n *sessions.Notice, _ *subscription) { n.Kind = sessions.NoticeQuestion }, []api.Grant{api.GrantView}, nil},
	} {
		n, s := approval("apr_1"), subscription{Kind: api.PushWeb}
		c.change(&n, &s)
		m := (&Attention{}).compose("s", []sessions.Notice{n}, s, c.grants)
		if !slices.Equal(m.Actions, c.want) || (m.Shown != "") != slices.Contains(c.want, "allow") || s.Reduced && m.Title+m.Text+m.Asks+m.Approval != "" {
			t.Errorf("%s: %+v", name, m)
		}
	}
	reduced := (&Attention{}).compose("s", []sessions.Notice{approval("apr_1")}, subscription{Kind: api.PushNtfy, Reduced: true}, api.AllGrants())
	if reduced.Text != "A session needs you" || strings.Contains(reduced.Title, "Fix") {
		t.Errorf("%+v", reduced)
	}
}
