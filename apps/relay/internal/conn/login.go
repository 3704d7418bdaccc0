package conn

import (
	"crypto/rand"
	"errors"
	"time"

	"github.com/scorel/scorel/apps/relay/internal/metrics"
	"github.com/scorel/scorel/apps/relay/internal/ws"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// greet sends relay_hello and starts the login timeout.
func (c *Conn) greet() {
	most := c.env.Limits()
	_ = c.net.SetReadDeadline(time.Now().Add(most.LoginTimeout)) // fails only if it is closed
	c.nonce = make([]byte, wire.NonceLen)
	rand.Read(c.nonce)
	hello := &wire.RelayHello{Version: wire.Version, Nonce: c.nonce, Limits: wire.DefaultLimits()}
	hello.Limits.MaxControl = MaxControl
	hello.Limits.MaxChannels = most.ChannelsPerEntry
	c.Send(hello)
}

// login handles the first frame of the peer. There is no second attempt on a connection,
// so a nonce is used once.
func (c *Conn) login(data []byte) {
	hello, err := c.readHello(data)
	if err != nil {
		c.fail(err)
		return
	}
	c.id = hello.ID
	c.self = wire.Peer{ID: hello.ID, Public: hello.Public, Label: hello.Label}
	if err := c.env.Handler.Login(c, hello.Invite); err != nil {
		c.denyLogin(err)
		return
	}
	c.loggedIn = true
	c.nonce = nil
	c.reader.SetLimits(MaxControl, wire.MaxMessage)
	_ = c.net.SetReadDeadline(time.Time{}) // fails only if it is closed
	if c.Ended() {                         // the goroutine that ended it had set a deadline
		_ = c.net.SetReadDeadline(time.Now().Add(lingerTimeout))
	}
	c.alive.Store(true)
	c.startPings()
	c.env.Metrics.Logins.WithLabelValues(metrics.OK).Inc()
	c.env.Metrics.Connections.WithLabelValues(metrics.Role(c.id.Kind())).Inc()
	c.env.Log.Info("login", "id", c.id)
}

// readHello returns a hello whose proof is valid for this relay and this nonce.
func (c *Conn) readHello(data []byte) (*wire.Hello, error) {
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
		return nil, wire.Errorf(wire.KindBadVersion, "this relay uses protocol version %d, the peer version %d; update the older one", wire.Version, hello.Version)
	case !c.env.Handler.Proves(hello.Authority, c.dialed):
		return nil, wire.Errorf(wire.KindWrongAuthority, "the login was signed for an address that is not this relay's; add the address to the relay's public URLs")
	case !hello.Verify(c.nonce):
		return nil, wire.Errorf(wire.KindBadProof, "the login proof does not verify; check that the identity's key file is intact")
	}
	return hello, nil
}

// denyLogin ends the connection of a peer that proved its identity but is not admitted.
func (c *Conn) denyLogin(err error) {
	known := ErrShuttingDown()
	errors.As(err, &known)
	c.env.Metrics.Logins.WithLabelValues(known.Kind.String()).Inc()
	status := ws.StatusTryAgain
	if known.Kind == wire.KindInviteRequired || known.Kind == wire.KindNotAdmitted {
		status = ws.StatusPolicy
	}
	c.Goodbye(wire.ReasonLoginFailed, status,
		&wire.ErrorFrame{Kind: known.Kind, Message: known.Message}, &wire.Goodbye{Reason: wire.ReasonLoginFailed})
}

// loginFailed counts a login without a valid proof.
func (c *Conn) loginFailed(kind wire.Kind) {
	c.env.Metrics.Logins.WithLabelValues(kind.String()).Inc()
	c.env.Guards.LoginFailed(c.addr)
	c.env.Log.Debug("login failed", "kind", kind.String())
}

// ErrShuttingDown is the answer to a request that comes too late.
func ErrShuttingDown() *wire.Error {
	return wire.Errorf(wire.KindShuttingDown, "the relay is shutting down; reconnect")
}
