package host_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/apps/host/internal/push"
	"github.com/scorel/scorel/apps/host/internal/push/pushtest"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// pushed is what a notification says.
type pushed struct {
	Kind, Session, Asks, Title, Text, Approval, Shown, Question string
	Actions                                                     []string
	Gone                                                        bool
	pushtest.Delivered                                          `json:"-"`
}

// arrives waits for a notification.
func arrives(t *testing.T, b *pushtest.Browser) (p pushed) {
	t.Helper()
	d := <-b.Messages
	if err := json.Unmarshal(d.Content, &p); err != nil || len(d.Content) > push.MaxBytes {
		t.Fatalf("%v: %d bytes: %s", err, len(d.Content), d.Content)
	}
	p.Delivered = d
	return p
}

// notified is a host with a subscription of its own user.
type notified struct {
	*host.Host
	home    string
	service *pushtest.Service
	browser *pushtest.Browser
	c       *client.Client
	http    httpEntry
	session string
	id      string // of the subscription
}

func startNotified(t *testing.T) *notified {
	t.Helper()
	n := &notified{home: t.TempDir(), service: pushtest.New(t)}
	n.Host = start(t, host.Config{Home: n.home, Projects: []string{t.TempDir()}, PushHTTP: n.service.Client()})
	n.c, n.http = dial(t, n.Host, nil), newHTTPEntry(t, n.Host, n.State().Token)
	n.session = sessionOf(t, n.http)
	n.browser, n.id = n.subscribe(t, n.c)
	return n
}

func (n *notified) subscribe(t *testing.T, c *client.Client) (*pushtest.Browser, string) {
	t.Helper()
	b := n.service.Subscribe(call(t, c, api.ListPush, api.ListPushRequest{}).Key)
	added := call(t, c, api.AddPush, api.AddPushRequest{Kind: api.PushWeb, URL: b.Endpoint, P256dh: b.P256dh, Auth: b.Auth, Label: "phone"})
	return b, added.Subscription.ID
}

func (n *notified) ask(t *testing.T, key, text string) {
	t.Helper()
	call(t, n.c, api.SendPrompt, prompt(n.session, key, text))
}

// TestAnApprovalIsAnsweredFromANotification: it says what is asked, its answer counts once, and
// it is withdrawn.
func TestAnApprovalIsAnsweredFromANotification(t *testing.T) {
	n := startNotified(t)
	n.ask(t, "k", `use bash {"command":"echo made > made"}`)
	p := arrives(t, n.browser)
	if p.Kind != "approval" || p.Session != n.session || p.Text != "echo made > made" || p.Shown == "" || p.Urgency != "high" || p.TTL != "86399" && p.TTL != "86400" {
		t.Fatalf("%+v", p)
	}
	changed := api.AnswerApprovalRequest{SessionID: p.Asks, ApprovalID: p.Approval, Decision: api.DecisionAllow, Shown: strings.Repeat("0", 64)}
	_, err := client.Call(t.Context(), n.c, api.AnswerApproval, changed)
	wantKind(t, err, api.KindConflict)
	answer := api.AnswerApprovalRequest{SessionID: p.Asks, ApprovalID: p.Approval, Decision: api.DecisionAllow, Shown: p.Shown}
	if first := call(t, n.c, api.AnswerApproval, answer); !first.Won {
		t.Fatalf("%+v", first)
	}
	late := answer
	late.Decision = api.DecisionDeny
	if second := call(t, n.c, api.AnswerApproval, late); second.Won || second.Decision != api.DecisionAllow {
		t.Fatalf("%+v", second)
	}
	gone := arrives(t, n.browser)
	if !gone.Gone || gone.Topic != p.Topic {
		t.Fatalf("%+v", gone)
	}
	if ended := arrives(t, n.browser); ended.Kind != "ended" || ended.Urgency != "normal" {
		t.Fatalf("%+v", ended)
	}
}

// TestWhoLooksIsNotNotifiedByAHost: a page in sight that follows the session keeps all others
// quiet; one that is out of sight does not.
func TestWhoLooksIsNotNotifiedByAHost(t *testing.T) {
	n := startNotified(t)
	page := dial(t, n.Host, nil)
	call(t, page, api.ResyncEvents, api.ResyncEventsRequest{SessionID: n.session})
	ask[api.TurnAnswer](n.http, "/v1/send_prompt?wait=turn", prompt(n.session, "seen", "hello"))
	call(t, page, api.SetAttendance, api.SetAttendanceRequest{Attended: true, Hidden: []string{n.session}})
	n.ask(t, "hidden", "hello again")
	if p := arrives(t, n.browser); p.Kind != "ended" {
		t.Fatalf("%+v", p)
	}
	call(t, page, api.SetAttendance, api.SetAttendanceRequest{Attended: true})
	n.ask(t, "waits", `use bash {"command":"touch made"}`)
	if err := page.Close(); err != nil { // it leaves while the approval waits
		t.Fatal(err)
	}
	if p := arrives(t, n.browser); p.Kind != "approval" || len(n.browser.Messages) != 0 {
		t.Fatalf("%+v", p)
	}
}

// TestAnExpiredSubscriptionIsRemoved: the service says so, in a test too.
func TestAnExpiredSubscriptionIsRemoved(t *testing.T) {
	n := startNotified(t)
	if tested := call(t, n.c, api.TestPush, api.PushRequest{ID: n.id}).Subscription; tested.LastAt == 0 || tested.LastError != "" {
		t.Fatalf("%+v", tested)
	}
	if p := arrives(t, n.browser); p.Kind != "test" {
		t.Fatalf("%+v", p)
	}
	_, second := n.subscribe(t, n.c)
	n.service.End(n.browser)
	_, other := n.subscribe(t, n.c)
	if tested := call(t, n.c, api.TestPush, api.PushRequest{ID: other}).Subscription; tested.LastError != "" {
		t.Fatalf("%+v", tested)
	}
	n.service.Answer(func(w http.ResponseWriter) bool { w.WriteHeader(http.StatusGone); return true })
	if tested := call(t, n.c, api.TestPush, api.PushRequest{ID: second}).Subscription; tested.LastError != "the subscription has ended" {
		t.Fatalf("%+v", tested)
	}
	listed := call(t, n.c, api.ListPush, api.ListPushRequest{})
	if len(listed.Subscriptions) != 2 {
		t.Fatalf("%+v", listed)
	}
}

// TestARefusedNotificationIsSentAgainAfterARestart: what the service did not accept is in the
// home, and the next host sends it when it may.
func TestARefusedNotificationIsKept(t *testing.T) {
	n := startNotified(t)
	refused := make(chan struct{}, 1)
	n.service.Answer(func(w http.ResponseWriter) bool {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusTooManyRequests)
		refused <- struct{}{}
		return true
	})
	n.ask(t, "k", "hello")
	<-refused
	for {
		s := call(t, n.c, api.ListPush, api.ListPushRequest{}).Subscriptions[0]
		if s.LastError == "" {
			continue // the answer of the service is being stored
		}
		if s.Waiting != 1 || !strings.Contains(s.LastError, "429") || !strings.Contains(s.LastError, "sent again") {
			t.Fatalf("%+v", s)
		}
		break
	}
	stored, err := os.ReadFile(filepath.Join(n.home, "push.json"))
	if err != nil || !strings.Contains(string(stored), `"notUntil"`) {
		t.Fatalf("%v: %s", err, stored)
	}
	if info, err := os.Stat(filepath.Join(n.home, "push.json")); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v: %v", err, info)
	}
}

// TestAStolenSubscription: who knows everything about a subscription, but is no client with
// grants, can do nothing with it on the host.
func TestAStolenSubscription(t *testing.T) {
	n := startNotified(t)
	addToken(t, n.Host, "thief", api.GrantView)
	thief := newHTTPEntry(t, n.Host, "thief")
	stolen := api.AddPushRequest{Kind: api.PushWeb, URL: n.browser.Endpoint, P256dh: n.browser.P256dh, Auth: n.browser.Auth}
	body, err := json.Marshal(stolen)
	if err != nil {
		t.Fatal(err)
	}
	n.ask(t, "k", `use bash {"command":"touch stolen"}`)
	p := arrives(t, n.browser)
	answer := fmt.Sprintf(`{"sessionId":%q,"approvalId":%q,"decision":"allow","shown":%q}`, p.Asks, p.Approval, p.Shown)
	for _, c := range []struct {
		path, body string
		status     int
	}{
		{"add_push", string(body), 403},
		{"remove_push", fmt.Sprintf(`{"id":%q}`, n.id), 404},
		{"test_push", fmt.Sprintf(`{"id":%q}`, n.id), 404},
		{"list_push", `{"clientId":"host"}`, 403},
		{"list_push", `{"all":true}`, 403},
		{"set_push", `{"clientId":"host","level":"none"}`, 403},
		{"answer_approval", answer, 403},
	} {
		if status, said := thief.post("/v1/"+c.path, c.body); status != c.status {
			t.Errorf("%s: %d %s", c.path, status, said)
		}
		stranger := newHTTPEntry(t, n.Host, "no token")
		if status, said := stranger.post("/v1/"+c.path, c.body); status != 401 {
			t.Errorf("%s without access: %d %s", c.path, status, said)
		}
	}
	if got := ask[api.ListPushResponse](thief, "/v1/list_push", api.ListPushRequest{}); len(got.Subscriptions) != 0 {
		t.Errorf("%+v", got)
	}
	listed := call(t, n.c, api.ListPush, api.ListPushRequest{})
	if text := fmt.Sprint(listed); len(listed.Subscriptions) != 1 || strings.Contains(text, n.browser.Endpoint) || strings.Contains(text, n.browser.Auth) {
		t.Errorf("%s", text)
	}
}

// TestSubscriptionsThatLeadIntoTheNetwork: no client can have the host call there.
func TestSubscriptionsThatLeadIntoTheNetwork(t *testing.T) {
	n := startNotified(t)
	for _, url := range []string{
		"https://127.0.0.1/x", "https://localhost/x", "https://[::1]/x", "https://10.0.0.1/x", "https://169.254.169.254/latest", "http://push.example.com/x",
		"https://push.example.com:8443/x", "https://router/x", "https://u:p@push.example.com/x", "file:///etc/passwd",
	} {
		request := api.AddPushRequest{Kind: api.PushWeb, URL: url, P256dh: n.browser.P256dh, Auth: n.browser.Auth}
		_, err := client.Call(t.Context(), n.c, api.AddPush, request)
		wantKind(t, err, api.KindBadRequest)
	}
	for _, bad := range []api.AddPushRequest{
		{Kind: "carrier", URL: n.browser.Endpoint}, {Kind: api.PushWeb, URL: n.browser.Endpoint, P256dh: "x", Auth: n.browser.Auth},
		{Kind: api.PushWeb, URL: n.browser.Endpoint, P256dh: n.browser.P256dh, Auth: n.browser.Auth, Label: "a\x1bb"},
		{Kind: api.PushNtfy, URL: "https://ntfy.sh/topic", Page: "javascript:alert(1)"},
	} {
		_, err := client.Call(t.Context(), n.c, api.AddPush, bad)
		wantKind(t, err, api.KindBadRequest)
	}
}
