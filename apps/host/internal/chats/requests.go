package chats

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/scorel/scorel/apps/host/internal/channel"
	"github.com/scorel/scorel/apps/host/internal/channel/platforms"
	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/packages/protocol/api"
)

// Endpoints are the requests about channels.
func (c *Chats) Endpoints() []dispatch.Endpoint {
	return []dispatch.Endpoint{
		dispatch.Serve(api.ListChannels, c.listChannels),
		dispatch.Serve(api.AddChannel, c.addChannel),
		dispatch.Serve(api.TestChannel, c.testChannel),
		dispatch.Serve(api.RemoveChannel, c.removeChannel),
		dispatch.Serve(api.PairChannel, c.pairChannel),
		dispatch.Serve(api.AllowSender, c.allowSender),
		dispatch.Serve(api.RemoveChat, c.removeChat),
	}
}

func (c *Chats) listChannels(context.Context, *dispatch.Conn, api.Empty) (api.ListChannelsResponse, error) {
	response := api.ListChannelsResponse{Channels: []api.Channel{}, Platforms: []api.ChannelPlatform{}}
	for _, r := range c.list() {
		response.Channels = append(response.Channels, r.shown())
	}
	for _, k := range platforms.Kinds() {
		p := api.ChannelPlatform{Kind: k.Name, Title: k.Title, Settings: []api.ChannelSetting{}}
		for _, s := range k.Settings {
			p.Settings = append(p.Settings, api.ChannelSetting{Name: s.Name, Usage: s.Usage, Secret: s.Secret, Optional: s.Optional})
		}
		response.Platforms = append(response.Platforms, p)
	}
	return response, nil
}

// shown is a channel as clients see it, without its secrets.
func (r *running) shown() api.Channel {
	stored := r.store.read()
	r.mu.Lock()
	defer r.mu.Unlock()
	out := api.Channel{
		ID: stored.ID, Kind: stored.Kind, Name: stored.Name, Settings: stored.Settings, AddedAt: stored.AddedAt,
		State: r.state, Problem: r.problem, Bot: r.identity.Name, Link: r.identity.Link, Waiting: len(stored.Outbox), Chats: []api.ChannelChat{},
	}
	for _, b := range stored.Chats {
		chat := api.ChannelChat{
			ID: b.Chat.ID, ClientID: b.ClientID, Title: b.Chat.Title, Direct: b.Chat.Direct, Project: b.ProjectID, Session: b.Session,
			Grants: b.Grants, ExpiresAt: b.ExpiresAt, BoundAt: b.BoundAt, Senders: []api.ChannelSender{},
		}
		for _, s := range b.Senders {
			chat.Senders = append(chat.Senders, api.ChannelSender{ID: s.ID, Name: s.Name, AddedAt: s.AddedAt})
		}
		out.Chats = append(out.Chats, chat)
	}
	for _, i := range r.ignored {
		at := slices.IndexFunc(out.Chats, func(c api.ChannelChat) bool { return c.ID == i.chat.ID })
		if at < 0 {
			at = len(out.Chats)
			out.Chats = append(out.Chats, api.ChannelChat{ID: i.chat.ID, Title: i.chat.Title, Direct: i.chat.Direct, Senders: []api.ChannelSender{}})
		}
		out.Chats[at].Ignored = append(out.Chats[at].Ignored, api.ChannelSender{ID: i.from.ID, Name: i.from.Name})
	}
	return out
}

func (c *Chats) addChannel(ctx context.Context, conn *dispatch.Conn, q api.AddChannelRequest) (api.ChannelResponse, error) {
	kind, err := platforms.Find(q.Kind)
	if err != nil {
		return api.ChannelResponse{}, api.Errorf(api.KindBadRequest, "%v", err)
	}
	public, err := publicOnly(conn, kind, q.Settings)
	if err != nil {
		return api.ChannelResponse{}, err
	}
	if _, err := c.Open(kind.Name, q.Settings, public); err != nil {
		return api.ChannelResponse{}, api.Errorf(api.KindBadRequest, "%v", err)
	}
	c.changing.Lock()
	defer c.changing.Unlock()
	all := c.list()
	for _, r := range all {
		if r.store.read().Key == q.ClientKey {
			return api.ChannelResponse{Channel: r.shown()}, nil
		}
	}
	if len(all) >= maxChannels {
		return api.ChannelResponse{}, api.Errorf(api.KindConflict, "this host has %d channels, which is the limit: remove one", maxChannels)
	}
	r, err := c.create(ctx, kind, q, public)
	if err != nil {
		return api.ChannelResponse{}, err
	}
	c.Logger.Info("a channel was added", "channel", r.store.read().ID, "kind", kind.Name, "by", conn.ClientID())
	c.mu.Lock()
	c.channels[r.store.read().ID] = r
	c.start(r)
	c.mu.Unlock()
	c.changed()
	return api.ChannelResponse{Channel: r.shown()}, nil
}

// create stores a channel and its secrets.
func (c *Chats) create(ctx context.Context, kind platforms.Kind, q api.AddChannelRequest, public bool) (*running, error) {
	file := &record{ID: newID("chn_"), Kind: kind.Name, Name: channel.CleanName(q.Name), Settings: map[string]string{}, Public: public, AddedAt: c.Now().UnixMilli(), Key: q.ClientKey}
	if file.Name == "" {
		file.Name = kind.Title
	}
	for _, s := range kind.Settings {
		value := q.Settings[s.Name]
		switch {
		case value == "":
		case s.Secret:
			if _, err := c.Secrets.Save(ctx, secretName(file.ID, s.Name), value, ""); err != nil {
				return nil, err
			}
		default:
			file.Settings[s.Name] = value
		}
	}
	if err := os.MkdirAll(c.Folder, 0o700); err != nil {
		return nil, err
	}
	stored, err := newStore(filepath.Join(c.Folder, file.ID+".json"), file)
	if err != nil {
		return nil, err
	}
	stored.step = c.Step
	return newRunning(c, stored), nil
}

// testTimeout bounds how long a platform may take to answer a test.
const testTimeout = 20 * time.Second

func (c *Chats) testChannel(ctx context.Context, _ *dispatch.Conn, q api.ChannelRequest) (api.ChannelResponse, error) {
	r, err := c.find(q.ID)
	if err != nil {
		return api.ChannelResponse{}, err
	}
	r.mu.Lock()
	platform := r.platform
	r.mu.Unlock()
	if platform == nil {
		if platform, err = r.open(); err != nil {
			return api.ChannelResponse{}, api.Errorf(api.KindUnavailable, "%v", err)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, testTimeout)
	defer cancel()
	who, err := platform.Check(ctx)
	if err != nil {
		return api.ChannelResponse{}, api.Errorf(api.KindUnavailable, "%v", explained(err))
	}
	r.mu.Lock()
	r.identity = channel.Identity{ID: who.ID, Name: channel.CleanName(who.Name), Link: who.Link}
	r.mu.Unlock()
	return api.ChannelResponse{Channel: r.shown()}, nil
}

func (c *Chats) removeChannel(ctx context.Context, conn *dispatch.Conn, q api.ChannelRequest) (none api.Empty, err error) {
	c.changing.Lock()
	defer c.changing.Unlock()
	r, err := c.find(q.ID)
	if err != nil {
		return none, err
	}
	stored := r.store.read()
	if err := r.store.remove(); err != nil {
		return none, err
	}
	c.mu.Lock()
	delete(c.channels, q.ID)
	r.cancel()
	ran := c.ctx != nil
	c.mu.Unlock()
	if ran {
		<-r.done
	}
	if kind, err := platforms.Find(stored.Kind); err == nil {
		for _, s := range kind.Settings {
			if s.Secret {
				if _, err := c.Secrets.Remove(ctx, secretName(q.ID, s.Name)); err != nil {
					c.Logger.Error("removing the token of a channel", "channel", q.ID, "error", err)
				}
			}
		}
	}
	for _, b := range stored.Chats {
		c.removed(b.ClientID)
	}
	c.Logger.Info("a channel was removed", "channel", q.ID, "by", conn.ClientID())
	c.changed()
	return none, nil
}

// ofChats are the grants that a chat can have.
func ofChats() []api.Grant {
	return []api.Grant{api.GrantView, api.GrantPrompt, api.GrantApprove, api.GrantFiles, api.GrantManage}
}

// usual are the grants of a chat for which none were chosen. What a channel server says about its
// senders cannot be checked, so it is given no more than a prompt that others must approve.
func usual(outside bool) []api.Grant {
	if outside {
		return []api.Grant{api.GrantView, api.GrantPrompt}
	}
	return []api.Grant{api.GrantView, api.GrantPrompt, api.GrantApprove, api.GrantFiles}
}

func (c *Chats) pairChannel(_ context.Context, conn *dispatch.Conn, q api.PairChannelRequest) (response api.PairChannelResponse, err error) {
	r, err := c.find(q.ID)
	if err != nil {
		return response, err
	}
	project, err := c.Projects.Find(q.ProjectID)
	if err != nil {
		return response, err
	}
	stored := r.store.read()
	if own := stored.Settings["project"]; stored.outside() && own != project.ID {
		return response, api.Errorf(api.KindNotAllowed, "this channel server belongs to another project, and its chats can be connected to no other")
	}
	grants, err := choose(conn, q.Grants, stored.outside())
	if err != nil {
		return response, err
	}
	if err := mayGive(conn, q.ExpiresAt); err != nil {
		return response, err
	}
	if q.ExpiresAt != 0 && q.ExpiresAt <= c.Now().UnixMilli() {
		return response, api.Errorf(api.KindBadRequest, "the access of the chat would have ended already: choose a later time")
	}
	code, expires := r.pair(bound{ProjectID: project.ID, Grants: grants, ExpiresAt: q.ExpiresAt, By: conn.ClientID()})
	shown := r.shown()
	return api.PairChannelResponse{Code: code, ExpiresAt: expires.UnixMilli(), Bot: shown.Bot, Link: shown.Link}, nil
}

// choose returns the grants of a chat. Nobody gives what they do not have.
func choose(conn *dispatch.Conn, chosen []api.Grant, outside bool) (grants []api.Grant, err error) {
	for _, g := range ofChats() {
		switch {
		case len(chosen) == 0 && slices.Contains(usual(outside), g) && conn.May(g), g == api.GrantView:
			grants = append(grants, g)
		case slices.Contains(chosen, g) && !conn.May(g):
			return nil, api.Errorf(api.KindNotAllowed, "this connection does not have the grant %q and cannot give it", g)
		case slices.Contains(chosen, g):
			grants = append(grants, g)
		}
	}
	for _, g := range chosen {
		if !slices.Contains(ofChats(), g) {
			return nil, api.Errorf(api.KindBadRequest, "a chat cannot have the grant %.40q: use %q", g, ofChats())
		}
	}
	return grants, nil
}

func (c *Chats) allowSender(_ context.Context, conn *dispatch.Conn, q api.AllowSenderRequest) (response api.ChannelResponse, err error) {
	r, err := c.find(q.ID)
	if err != nil {
		return response, err
	}
	one := channel.Sender{ID: q.SenderID}
	r.mu.Lock()
	for _, i := range r.ignored {
		if i.chat.ID == q.ChatID && i.from.ID == q.SenderID {
			one = i.from
		}
	}
	r.mu.Unlock()
	err = r.store.change(func(f *record) error {
		b := f.chat(q.ChatID)
		switch {
		case b == nil:
			return unknownChat()
		case !q.Allowed:
			b.Senders = slices.DeleteFunc(b.Senders, func(s listed) bool { return s.ID == q.SenderID })
		case len(b.Senders) >= maxSenders:
			return api.Errorf(api.KindConflict, "the chat has %d senders, which is the limit: remove one first", maxSenders)
		case !b.lists(q.SenderID):
			b.Senders = append(b.Senders, listed{one, c.Now().UnixMilli(), conn.ClientID()})
		}
		if !q.Allowed {
			return nil
		}
		return c.mayAllow(conn, b)
	})
	if err != nil {
		return response, err
	}
	if q.Allowed {
		r.mu.Lock()
		r.ignored = slices.DeleteFunc(r.ignored, func(i ignored) bool { return i.chat.ID == q.ChatID && i.from.ID == q.SenderID })
		r.mu.Unlock()
	}
	c.Logger.Info("a sender was listed or removed", "channel", q.ID, "allowed", q.Allowed, "by", conn.ClientID())
	c.changed()
	return api.ChannelResponse{Channel: r.shown()}, nil
}

// mayAllow returns an error for a connection that may not give a person what a chat may do.
func (c *Chats) mayAllow(conn *dispatch.Conn, b *bound) error {
	for _, g := range b.Grants {
		if !conn.May(g) {
			return api.Errorf(api.KindNotAllowed, "the chat has the grant %q, which this connection does not have", g)
		}
	}
	if !c.gives(conn.ClientID()) { // revoked while the request ran
		return errGiverRevoked()
	}
	return mayGive(conn, b.ExpiresAt)
}

func unknownChat() *api.Error {
	return api.Errorf(api.KindNotFound, "the channel has no such chat: `scorel channel list` shows the chats")
}

var errChatRemoved = errors.New("the chat was removed")

func (c *Chats) removeChat(_ context.Context, conn *dispatch.Conn, q api.RemoveChatRequest) (response api.ChannelResponse, err error) {
	r, err := c.find(q.ID)
	if err != nil {
		return response, err
	}
	clientID := ""
	err = r.store.change(func(f *record) error {
		b := f.chat(q.ChatID)
		if b == nil {
			return unknownChat()
		}
		clientID = b.ClientID
		f.removeChat(q.ChatID)
		return nil
	})
	if err != nil {
		return response, err
	}
	r.leave(clientID)
	c.Logger.Info("a chat was removed", "channel", q.ID, "client", clientID, "by", conn.ClientID())
	return api.ChannelResponse{Channel: r.shown()}, nil
}
