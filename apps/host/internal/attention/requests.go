package attention

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/apps/host/internal/push"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/wire"
)

var none = api.Empty{}

// testEvery is how often a subscription can be tested.
const testEvery = 3 * time.Second

// Endpoints are the requests about notifications.
func (a *Attention) Endpoints() []dispatch.Endpoint {
	return []dispatch.Endpoint{
		dispatch.Serve(api.ListPush, a.list),
		dispatch.Serve(api.AddPush, a.add),
		dispatch.Serve(api.RemovePush, a.remove),
		dispatch.Serve(api.TestPush, a.test),
		dispatch.Serve(api.SetPush, a.set),
	}
}

// mayManage reports whether a connection may see and change what other clients have. One that
// sees only a part of the host may not.
func mayManage(c *dispatch.Conn) bool {
	return c.May(api.GrantManage) && c.CheckWhole("this concerns") == nil
}

// clientOf returns the client that a request is about, which is the one that asks for "".
func clientOf(c *dispatch.Conn, clientID string) (string, error) {
	if clientID == "" || clientID == c.ClientID() {
		return c.ClientID(), nil
	}
	if !mayManage(c) {
		return "", api.Errorf(api.KindNotAllowed, "notifications of other clients need the grant %q for the whole host, which this connection does not have", api.GrantManage)
	}
	return clientID, nil
}

func (a *Attention) list(_ context.Context, c *dispatch.Conn, r api.ListPushRequest) (response api.ListPushResponse, err error) {
	clientID, err := clientOf(c, r.ClientID)
	if err != nil {
		return response, err
	}
	if r.All && !mayManage(c) {
		return response, api.Errorf(api.KindNotAllowed, "notifications of all clients need the grant %q for the whole host, which this connection does not have", api.GrantManage)
	}
	stored := a.store.read()
	response = api.ListPushResponse{Key: a.Key.Public(), Subscriptions: []api.PushSubscription{}, Settings: []api.PushSettings{}}
	for _, s := range stored.Subscriptions {
		if r.All || s.ClientID == clientID {
			response.Subscriptions = append(response.Subscriptions, a.listed(stored, s))
		}
	}
	if r.All {
		response.Settings = append(response.Settings, stored.Settings...)
		return response, nil
	}
	if r.ClientID != "" && !a.hasClient(stored, clientID) {
		return response, errNoClient(clientID)
	}
	settings := stored.settings(clientID)
	response.Settings = append(response.Settings, settings)
	if until := quietUntil(settings.Quiet, time.Now()); !until.IsZero() {
		response.QuietUntil = until.UnixMilli()
	}
	return response, nil
}

func errNoClient(clientID string) error {
	return api.Errorf(api.KindNotFound, "there is no client %.64q that can be notified", clientID)
}

// hasClient reports whether a client can be notified, or could before its access ended.
func (a *Attention) hasClient(stored file, clientID string) bool {
	_, known := a.Access(clientID, "")
	return known || slices.ContainsFunc(stored.Subscriptions, func(s subscription) bool { return s.ClientID == clientID }) ||
		slices.ContainsFunc(stored.Settings, func(s api.PushSettings) bool { return s.ClientID == clientID })
}

// listed is a subscription for people: its address stays here.
func (a *Attention) listed(stored file, s subscription) api.PushSubscription {
	out := api.PushSubscription{
		ID: s.ID, ClientID: s.ClientID, Kind: s.Kind, Label: s.Label, Reduced: s.Reduced, AddedAt: s.AddedAt, LastAt: s.LastAt, LastError: s.LastError,
	}
	if channel := a.channels[s.Kind]; channel != nil {
		out.Server = channel.Server(s.Address)
	}
	for _, d := range stored.Deliveries {
		if d.To == s.ID {
			out.Waiting++
		}
	}
	return out
}

func (a *Attention) add(_ context.Context, c *dispatch.Conn, r api.AddPushRequest) (response api.PushResponse, err error) {
	if strings.HasPrefix(c.ClientID(), "tok_") {
		return response, api.Errorf(api.KindNotAllowed, "tokens are for programs, which are not notified: add it as this machine's user or from a paired client")
	}
	channel := a.channels[r.Kind]
	if channel == nil {
		return response, api.Errorf(api.KindBadRequest, "unknown kind %.64q: use web, ntfy or chat", r.Kind)
	}
	clientID := c.ClientID()
	if r.Kind == api.PushChat { // it is the chat that is notified, with its own level and quiet hours
		if !mayManage(c) {
			return response, api.Errorf(api.KindNotAllowed, "notifications of chats need the grant %q for the whole host, which this connection does not have", api.GrantManage)
		}
		clientID = r.URL
	}
	if r.Label != "" {
		if err := wire.CheckLabel(r.Label); err != nil {
			return response, api.Errorf(api.KindBadRequest, "the %s: use a shorter name without control characters", err)
		}
	}
	to := push.Address{URL: r.URL, P256dh: r.P256dh, Auth: r.Auth, Page: r.Page, Private: r.Kind != api.PushWeb && c.May(api.GrantLocal)}
	if err := channel.Check(to); err != nil {
		return response, err
	}
	added := subscription{
		ID: newID("psh_"), ClientID: clientID, Kind: r.Kind, Address: to, Label: r.Label, Reduced: r.Reduced, AddedAt: time.Now().UnixMilli(),
	}
	if err := a.store.change(func(f *file) error { return f.add(&added) }); err != nil {
		return response, err
	}
	a.Logger.Info("a subscription was added", "subscription", added.ID, "client", added.ClientID, "kind", added.Kind)
	response.Subscription = a.listed(a.store.read(), added)
	return response, nil
}

// add adds a subscription. One of the same client with the same address keeps its id. Those of
// other clients stay, whoever knows their addresses.
func (f *file) add(s *subscription) error {
	own := 0
	for _, have := range f.Subscriptions {
		if have.Kind == s.Kind && have.Address.URL == s.Address.URL && have.ClientID == s.ClientID {
			s.ID, s.AddedAt, s.LastAt, s.LastError = have.ID, have.AddedAt, have.LastAt, have.LastError
			*f.subscription(have.ID) = *s
			return nil
		}
		if have.ClientID == s.ClientID {
			own++
		}
	}
	if own >= maxSubscriptions || len(f.Subscriptions) >= maxAll {
		return api.Errorf(api.KindTooLarge, "there are %d subscriptions already: remove one first", own)
	}
	f.Subscriptions = append(f.Subscriptions, *s)
	return nil
}

// find returns a subscription that a connection may change. One of another client is unknown to
// a connection that may not manage it.
func (a *Attention) find(c *dispatch.Conn, f *file, id string) (*subscription, error) {
	s := f.subscription(id)
	if s == nil || s.ClientID != c.ClientID() && !mayManage(c) {
		return nil, api.Errorf(api.KindNotFound, "there is no subscription %.64q: `scorel push list` shows them", id)
	}
	return s, nil
}

func (a *Attention) remove(_ context.Context, c *dispatch.Conn, r api.PushRequest) (api.Empty, error) {
	err := a.store.change(func(f *file) error {
		if _, err := a.find(c, f, r.ID); err != nil {
			return err
		}
		f.drop(r.ID)
		return nil
	})
	if err == nil {
		a.Logger.Info("a subscription was removed", "subscription", r.ID, "by", c.ClientID())
	}
	return none, err
}

// test sends a notification at once, whoever looks and whatever the settings are.
func (a *Attention) test(ctx context.Context, c *dispatch.Conn, r api.PushRequest) (response api.PushResponse, err error) {
	stored := a.store.read()
	s, err := a.find(c, &stored, r.ID)
	if err != nil {
		return response, err
	}
	channel := a.channels[s.Kind]
	if channel == nil {
		return response, api.Errorf(api.KindUnavailable, "this version of scorel does not know this kind of subscription")
	}
	if !a.claimTest(s.ID) {
		return response, api.Errorf(api.KindUnavailable, "this subscription was tested a moment ago: try again in a few seconds")
	}
	m := push.Message{Version: 1, Kind: KindTest, Device: a.Device, Tag: "test", Title: "scorel", TTL: time.Minute, Urgent: true}
	if s.Kind != api.PushWeb {
		m.Text = "Notifications work."
	}
	result := channel.Send(ctx, s.Address, m)
	err = a.store.change(func(f *file) error {
		now := f.subscription(r.ID)
		if now == nil {
			return api.Errorf(api.KindNotFound, "the subscription was removed while it was tested")
		}
		note(now, result, false, time.Now())
		response.Subscription = a.listed(*f, *now)
		if result.Ended {
			f.drop(r.ID)
		}
		return nil
	})
	return response, err
}

// claimTest reports whether a subscription may be tested now.
func (a *Attention) claimTest(id string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	for other, at := range a.tests {
		if now.Sub(at) > testEvery {
			delete(a.tests, other)
		}
	}
	if _, recent := a.tests[id]; recent {
		return false
	}
	a.tests[id] = now
	return true
}

func (a *Attention) set(_ context.Context, c *dispatch.Conn, r api.SetPushRequest) (response api.PushSettingsResponse, err error) {
	clientID, err := clientOf(c, r.ClientID)
	if err != nil {
		return response, err
	}
	if r.Level != "" && !slices.Contains(api.PushLevels(), r.Level) {
		return response, api.Errorf(api.KindBadRequest, "unknown level %.64q: use all, needs or none", r.Level)
	}
	if r.Quiet != nil {
		if err := checkQuiet(*r.Quiet); err != nil {
			return response, err
		}
	}
	if r.SessionID != "" {
		if _, exists := a.ProjectOf(r.SessionID); !exists {
			return response, api.Errorf(api.KindNotFound, "there is no session %.64q", r.SessionID)
		}
	}
	if _, known := a.Access(clientID, ""); !known {
		return response, errNoClient(clientID)
	}
	err = a.store.change(func(f *file) error {
		response.Settings, err = f.set(clientID, r)
		return err
	})
	a.Looked() // what waits may be wanted now, or not any more
	return response, err
}

// set changes the settings of a client.
func (f *file) set(clientID string, r api.SetPushRequest) (api.PushSettings, error) {
	s := f.settings(clientID)
	switch {
	case r.SessionID != "":
		s.Sessions = withLevel(s.Sessions, r.SessionID, r.Level)
	case r.Level != "":
		s.Level = r.Level
	}
	if r.Quiet != nil {
		s.Quiet = r.Quiet
		if *r.Quiet == (api.PushQuiet{}) {
			s.Quiet = nil
		}
	}
	if len(s.Sessions) > maxSessions {
		return s, api.Errorf(api.KindTooLarge, "%d sessions have a level of their own already: remove some first", maxSessions)
	}
	i := slices.IndexFunc(f.Settings, func(have api.PushSettings) bool { return have.ClientID == clientID })
	switch {
	case i >= 0:
		f.Settings[i] = s
	case len(f.Settings) >= maxAll:
		return s, errors.New("too many clients have settings")
	default:
		f.Settings = append(f.Settings, s)
	}
	return s, nil
}
