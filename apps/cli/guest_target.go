package cli

import (
	"context"
	"errors"
	"net/url"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/apps/cli/internal/chat"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/client/relayconn"
	"github.com/scorel/scorel/packages/protocol/guest"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// guestLink opens the session of a guest link. Everything that it needs is in the link: no key
// of this machine is used, and nothing of the link is stored.
type guestLink struct {
	relay   string // its address
	link    guest.Link
	standby *client.Standby
}

// maxGuestLink bounds a link that is read, in bytes. A link has about 500.
const maxGuestLink = 8 << 10

// linkFlag adds --link to a command that can show the session of a guest link.
func (t *target) linkFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&t.given, "link", "", "show the session of this guest link, read-only, in place of a session id; - reads the link from standard input")
}

// sessionOf returns the session that the arguments or --link name; "" if neither does.
func (t *target) sessionOf(ctx context.Context, args []string) (id string, err error) {
	if len(args) > 0 {
		id = args[0]
	}
	switch {
	case t.given == "":
		return id, nil
	case id != "":
		return "", usagef("a guest link names its session: leave out the id %s", clip(id, 40))
	case t.device != "":
		return "", usagef("--link and --device contradict each other: the link names its machine")
	}
	text := t.given
	if text == "-" {
		if text, err = t.con.readSecret(ctx, "the link", "Guest link: ", maxGuestLink); err != nil {
			return "", err
		}
	}
	relay, link, err := guest.ParseURL(text)
	if err != nil {
		return "", usagef("--link: %v", err)
	}
	t.guest = &guestLink{relay, link, client.NewStandby(link.DeviceID())}
	t.ends.add(func() error { t.guest.standby.Close(); return nil })
	return link.SessionID, nil
}

// dial opens a channel to the machine of the link.
func (g *guestLink) dial(ctx context.Context) (client.Transport, error) {
	var transport client.Transport
	open := func(ctx context.Context, entry *client.Entry) (err error) {
		transport, err = entry.OpenDevice(ctx, g.link.DeviceID(), g.link.Device.Seal, "the machine of the link")
		return err
	}
	entry, err := g.standby.Again(ctx, g.relay, 0, open)
	if entry == nil {
		if entry, err = client.DialGuest(ctx, g.relay, g.link, machineLabel()); err != nil {
			return nil, g.explain(err)
		}
		err = open(ctx, entry)
	}
	if err != nil {
		g.standby.Hold(g.relay, entry)
		return nil, g.explain(err)
	}
	g.standby.Opened()
	return &guestTransport{transport, sync.OnceFunc(func() { g.standby.Ended(g.relay, entry) }), g}, nil
}

// chatHost describes the machine of the link to the chat.
func (g *guestLink) chatHost() chat.Host {
	return chat.Host{Name: "Guest link", Guest: true, Dial: g.dial, Lost: mayComeBack, After: relayconn.RetryAfter, Wait: g.standby.Wait, Path: g.pathName}
}

func (g *guestLink) pathName() string {
	u, err := url.Parse(g.relay)
	if err != nil {
		return g.relay
	}
	return u.Host
}

// explain says what a refusal means for whoever was given the link. Only the link says when it
// expires: the host removes a guest whose time is over, like one that was revoked.
func (g *guestLink) explain(err error) error {
	var (
		closed  *client.ClosedError
		refused *wire.Error
	)
	ended := false
	switch {
	case errors.As(err, &closed):
		ended = closed.Reason == wire.ReasonRevoked || closed.Reason == wire.ReasonNotAuthorized || closed.Reason == wire.ReasonExpired
	case errors.As(err, &refused):
		switch refused.Kind {
		case wire.KindUnauthorized, wire.KindStaleProof:
			ended = true
		case wire.KindInviteRequired, wire.KindNotAdmitted:
			return sayf(err, "the relay %s admits known clients only, so guest links do not open there: ask for a link over another relay", printable(g.pathName()))
		}
	}
	switch {
	case !ended:
		return err
	case time.Now().UnixMilli() >= g.link.ExpiresAt:
		return sayf(errRefused, "the guest link expired on %s: ask for a new one", formatMillis(g.link.ExpiresAt))
	}
	return sayf(errRefused, "the guest link was revoked, or its session was deleted: ask for a new one")
}

// guestTransport is a channel with its connection to the relay.
type guestTransport struct {
	client.Transport
	release func()
	link    *guestLink
}

// Receive implements client.Transport.
func (t *guestTransport) Receive(ctx context.Context) ([]byte, error) {
	message, err := t.Transport.Receive(ctx)
	if err != nil && ctx.Err() == nil {
		err = t.link.explain(err)
	}
	return message, err
}

// Close implements client.Transport.
func (t *guestTransport) Close() error {
	err := t.Transport.Close()
	t.release()
	return err
}
