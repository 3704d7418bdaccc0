package conn

import (
	"errors"

	"github.com/scorel/scorel/packages/protocol/wire"
)

// MaxControl is the largest control frame in bytes that the relay accepts after login.
// What peers send is far smaller than a welcome.
const MaxControl = 64 << 10

// control handles one control frame of a peer that has logged in.
func (c *Conn) control(data []byte) {
	frame, err := wire.DecodeControl(data, MaxControl)
	switch {
	case errors.Is(err, wire.ErrUnknownType):
		c.env.Metrics.UnknownTypes.Inc() // a newer peer; skipping the frame keeps it working
		return
	case err != nil:
		c.fail(err)
		return
	}
	switch f := frame.(type) {
	case *wire.CloseChannel:
		c.closeChannel(f)
	case *wire.Goodbye, *wire.ErrorFrame:
		// A close frame follows.
	default:
		c.env.Handler.Handle(c, frame)
	}
}

// closeChannel closes a channel from one end. It may have closed already.
func (c *Conn) closeChannel(f *wire.CloseChannel) {
	if end := c.End(f.Channel); end != nil {
		end.Close(peerReason(f.Reason), &c.Mux)
		return
	}
	if !c.WasOpen(f.Channel) {
		c.Refuse("", wire.Errorf(wire.KindUnknownChannel, "channel %d was never opened", f.Channel))
	}
}

// peerReason allows the reasons that an end may give. Only the relay states the others.
func peerReason(reason wire.Reason) wire.Reason {
	switch reason {
	case wire.ReasonSealBroken, wire.ReasonNotAuthorized, wire.ReasonProtocol, wire.ReasonSlowConsumer, wire.ReasonExpired:
		return reason
	}
	return wire.ReasonClosed
}
