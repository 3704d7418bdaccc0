package relay

import (
	"errors"
	"time"

	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// control handles one control frame of a peer that is logged in. Who sent it is
// the connection's identity; ids in the frame only say whom it is about.
func (c *conn) control(data []byte) {
	frame, err := wire.DecodeControl(data, maxControl)
	switch {
	case errors.Is(err, wire.ErrUnknownType):
		c.relay.metrics.unknownTypes.Inc() // a newer peer; skipping keeps it working
		return
	case err != nil:
		c.fail(err)
		return
	}
	switch f := frame.(type) {
	case *wire.OpenChannel:
		c.openChannel(f)
	case *wire.CloseChannel:
		c.closeChannel(f)
	case *wire.CreatePairSession:
		c.createPair(f)
	case *wire.RedeemPair:
		c.redeemPair(f)
	case *wire.PairMessage:
		c.passPairMessage(f)
	case *wire.PairAccept:
		c.acceptPair(f)
	case *wire.PairReject:
		c.rejectPair(f)
	case *wire.RevokeBinding:
		c.revoke(f)
	case *wire.Goodbye, *wire.ErrorFrame:
		// The close that follows says the rest.
	default:
		c.refuse("", wire.Errorf(wire.KindNotAllowed, "a peer may not send %s", f.FrameType()))
	}
}

// openChannel answers open_channel from memory, of this node or of the device's:
// the store is not asked.
func (c *conn) openChannel(f *wire.OpenChannel) {
	if err := c.tryOpen(f); err != nil {
		c.refuseOpen(f.RequestID, err)
	}
}

func (c *conn) refuseOpen(requestID string, err *wire.Error) {
	c.relay.metrics.opens.WithLabelValues(err.Kind.String()).Inc()
	c.refuse(requestID, err)
}

// tryOpen opens a channel, or begins to when the device is on another node.
func (c *conn) tryOpen(f *wire.OpenChannel) *wire.Error {
	if c.id.Kind() != ident.KindClient {
		return wire.Errorf(wire.KindNotAllowed, "only an entry opens channels")
	}
	if !c.opens.take(c.relay.limits().Opens, time.Now()) || !c.relay.guards.mayOpen(c.id, c.addr) {
		return wire.Errorf(wire.KindRateLimited, "too many channels opened; wait a moment")
	}
	if !c.relay.memory.roomForChannel() {
		return wire.Errorf(wire.KindLimit, "the relay is short of memory; try again later")
	}
	var refused *wire.Error
	var elsewhere *opening
	if err := c.relay.dir.do(func() { elsewhere, refused = c.relay.dir.open(c, f) }); err != nil {
		return errClosingDown()
	}
	if elsewhere != nil {
		c.relay.tasks.Go(func() { c.relay.openElsewhere(elsewhere) })
	}
	return refused
}

// open authorizes and opens a channel. Both halves of the binding must be there;
// the half of a device on another node is looked at there.
func (d *directory) open(c *conn, f *wire.OpenChannel) (*opening, *wire.Error) {
	unauthorized := wire.Errorf(wire.KindUnauthorized, "this client is not paired with that device; pair them first")
	if c.party == nil {
		return nil, unauthorized
	}
	if _, ok := c.party.grants[f.DeviceID]; !ok {
		return nil, unauthorized
	}
	if d.relay.cluster.blind.Load() {
		return nil, errBlind()
	}
	host := d.host(f.DeviceID)
	if host == nil {
		return d.beginOpening(c, f)
	}
	if _, ok := host.party.grants[c.id]; !ok {
		return nil, unauthorized
	}
	return nil, openLink(c, host, f.RequestID)
}

// closeChannel closes from one end. A channel that closed meanwhile is no error.
func (c *conn) closeChannel(f *wire.CloseChannel) {
	if p := c.port(f.Channel); p != nil {
		p.link.close(peerReason(f.Reason), &c.lane)
		return
	}
	if !c.wasOpen(f.Channel) {
		c.refuse("", wire.Errorf(wire.KindUnknownChannel, "channel %d was never open", f.Channel))
	}
}

// peerReason admits the reasons that an end may give; the rest are the relay's
// to state.
func peerReason(reason wire.Reason) wire.Reason {
	switch reason {
	case wire.ReasonSealBroken, wire.ReasonNotAuthorized, wire.ReasonProtocol, wire.ReasonSlowConsumer:
		return reason
	}
	return wire.ReasonClosed
}

func errClosingDown() *wire.Error {
	return wire.Errorf(wire.KindShuttingDown, "the relay is shutting down; come back")
}
