package host

import (
	"context"
	"time"

	"github.com/scorel/scorel/apps/host/internal/channel"
	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/protocol/api"
)

// Beneath puts something around every provider of sessions of a host to come.
func Beneath(cfg *Config, wrap func(store.Provider) store.Provider) { cfg.beneath = wrap }

// Tell broadcasts an event of the host.
func (h *Host) Tell(event api.Event) { h.hub.Notify(event) }

// MoverConn returns a connection as another host has it that moves a session here.
func (h *Host) MoverConn() *dispatch.Conn {
	return dispatch.New(dispatch.Options{Endpoints: h.moves.Endpoints()}).NewConn("", []api.Grant{api.GrantMove}, nil)
}

// Online reports whether anybody of this machine has a connection.
func (h *Host) Online() bool { return h.hub.Online(dispatch.LocalID) }

// AtChatSteps has a host call a function after each change of the file of a channel.
func AtChatSteps(cfg *Config, step func()) { cfg.chatStep = step }

// RefreshSessions finds the sessions of providers that are available again.
func (h *Host) RefreshSessions(ctx context.Context) error { return h.sessions.Refresh(ctx) }

// NotifyAfter has a host collect what needs a person for another time than two seconds.
func NotifyAfter(cfg *Config, burst time.Duration) { cfg.burst = burst }

// OpenPlatform has a host use platforms of a test.
func OpenPlatform(cfg *Config, open func(kind string, settings map[string]string, public bool) (channel.Platform, error)) {
	cfg.openPlatform = open
}
