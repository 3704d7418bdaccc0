package relay

import (
	"crypto/rand"
	"errors"
	"time"

	"github.com/scorel/scorel/apps/relay/internal/ws"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// maxControl is the largest control frame in bytes that this relay accepts after
// login. What peers send is far smaller than a welcome.
const maxControl = 64 << 10

// greet sends relay_hello and starts the login's clock.
func (c *conn) greet() {
	limits := c.relay.limits()
	_ = c.net.SetReadDeadline(time.Now().Add(limits.LoginTimeout)) // fails only when it is closed
	c.nonce = make([]byte, wire.NonceLen)
	rand.Read(c.nonce)
	hello := &wire.RelayHello{Version: wire.Version, Nonce: c.nonce, Limits: wire.DefaultLimits()}
	hello.Limits.MaxControl = maxControl
	hello.Limits.MaxChannels = limits.ChannelsPerEntry
	c.tell(hello)
}

// login handles the first frame of the peer. It decides; there is no second try
// on this connection, so a nonce serves once.
func (c *conn) login(data []byte) {
	hello, err := c.readHello(data)
	if err != nil {
		c.fail(err)
		return
	}
	c.id = hello.ID
	c.self = wire.Peer{ID: hello.ID, Public: hello.Public, Label: hello.Label}
	if err := c.join(hello.Invite); err != nil {
		c.denyLogin(err)
		return
	}
	c.loggedIn = true
	c.nonce = nil
	c.reader.SetLimits(maxControl, wire.MaxMessage)
	_ = c.net.SetReadDeadline(time.Time{}) // fails only when it is closed
	if c.ended() {                         // whoever ended it meanwhile had set a deadline
		_ = c.net.SetReadDeadline(time.Now().Add(lingerTimeout))
	}
	c.alive.Store(true)
	c.startPings()
	c.relay.metrics.logins.WithLabelValues(resultOK).Inc()
	c.relay.metrics.connections.WithLabelValues(role(c.id.Kind())).Inc()
	c.relay.log.Info("login", "id", c.id)
}

// readHello returns a hello whose proof holds for this relay and this nonce.
func (c *conn) readHello(data []byte) (*wire.Hello, error) {
	frame, err := wire.DecodeControl(data, wire.MaxPreLogin)
	if errors.Is(err, wire.ErrUnknownType) {
		return nil, wire.Errorf(wire.KindUnknownFrameType, "the first frame must be host_hello or entry_hello")
	}
	if err != nil {
		return nil, err
	}
	var hello *wire.Hello
	switch f := frame.(type) {
	case *wire.HostHello:
		hello = &f.Hello
	case *wire.EntryHello:
		hello = &f.Hello
	default:
		return nil, wire.Errorf(wire.KindNotAllowed, "the first frame must be host_hello or entry_hello")
	}
	switch {
	case hello.Version != wire.Version:
		return nil, wire.Errorf(wire.KindBadVersion, "this relay speaks version %d, the peer %d; update the older one", wire.Version, hello.Version)
	case !c.relay.live.Load().names.proves(hello.Authority, c.dialled):
		return nil, wire.Errorf(wire.KindWrongAuthority, "the login was signed for another address than this relay's; add the address to the relay's public URLs")
	case !hello.Verify(c.nonce):
		return nil, wire.Errorf(wire.KindBadProof, "the login proof does not verify; check that the identity's key file is intact")
	}
	return hello, nil
}

// join reads the peer's bindings and makes it known. A store that cannot answer
// keeps the peer out.
func (c *conn) join(invite string) error {
	r := c.relay
	if !r.guards.logins.take(c.id) {
		return wire.Errorf(wire.KindRateLimited, "%s logs in too often; wait a minute", c.id)
	}
	if refused := c.checkAdmission(invite); refused != nil {
		return refused
	}
	var refused error
	if err := r.dir.do(func() { refused = r.dir.enter(c) }); err != nil {
		return err
	}
	if refused != nil {
		return refused
	}
	peers, err := r.bindings(c.id)
	if err == nil && len(peers) > 0 { // the store knows only those who are or were bound
		ctx, cancel := r.storeContext()
		defer cancel()
		err = r.cfg.Store.Relabel(ctx, c.id, c.self.Label)
	}
	if err != nil {
		r.storeFailed(storeLogin, err)
		return wire.Errorf(wire.KindUnavailable, "the relay cannot read its bindings now; try again later")
	}
	away := c.findDevices(peers)
	if err := r.dir.do(func() { r.dir.admit(c, peers, away) }); err != nil {
		return err
	}
	if !r.admission.Load().lists(c.id) { // the list changed while it logged in
		return errNotListed(c.id)
	}
	return nil
}

// denyLogin ends the connection of a peer that proved who it is but may not come in.
func (c *conn) denyLogin(err error) {
	known := errClosingDown()
	errors.As(err, &known)
	c.relay.metrics.logins.WithLabelValues(known.Kind.String()).Inc()
	status := ws.StatusTryAgain
	if known.Kind == wire.KindInviteRequired || known.Kind == wire.KindNotAdmitted {
		status = ws.StatusPolicy
	}
	c.end(wire.ReasonLoginFailed, status, asFrame(known), &wire.Goodbye{Reason: wire.ReasonLoginFailed})
}

// loginFailed counts a login that proved nothing.
func (c *conn) loginFailed(kind wire.Kind) {
	c.relay.metrics.logins.WithLabelValues(kind.String()).Inc()
	c.relay.guards.loginFailures.take(c.addr)
	c.relay.log.Debug("login failed", "kind", kind.String())
}
