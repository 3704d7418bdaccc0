package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// deviceProbe is the part of a probe for one device.
type deviceProbe struct {
	*probe
	device *Device
	peer   wire.Peer // as known to the relay

	opened *client.Sealed
	direct client.Transport // instead of a channel
	host   *client.Client   // owns the channel once it is set
}

func (d *deviceProbe) close() {
	switch {
	case d.host != nil:
		_ = d.host.Close() // everything was received
	case d.opened != nil:
		_ = d.opened.Close() // nothing was sent on it
	}
}

// binding compares the relay's information about the device with the pinned keys.
func (d *deviceProbe) binding(context.Context) outcome {
	peers := d.entry.Peers()
	i := slices.IndexFunc(peers, func(p wire.Peer) bool { return p.ID == d.device.ID })
	if i < 0 && d.device.New {
		return failed(BindingNew, ErrRefused, "the relay does not know the pairing with this machine yet")
	}
	if i < 0 {
		return failed(BindingMissing, ErrRefused, "the relay has no pairing with this machine")
	}
	d.peer = peers[i]
	if d.peer.Public != d.device.Public {
		return failed(BindingKeys, errors.New("different keys"), "the relay reports different keys for this machine than the paired ones")
	}
	return ok("known to the relay as %q", d.peer.Label)
}

func (d *deviceProbe) presence(context.Context) outcome {
	if !d.peer.Online {
		return failed(PresenceOffline, unreachable(errors.New("offline")), "the machine is not connected to the relay")
	}
	return ok("the machine is connected to the relay")
}

func (d *deviceProbe) channel(ctx context.Context) outcome {
	channel, err := d.entry.OpenChannel(ctx, d.device.ID)
	if err == nil {
		d.opened = channel
		return ok("opened")
	}
	var refused *wire.Error
	if !errors.As(err, &refused) {
		return failed(ChannelFailed, unreachable(err), "%s", reason(err))
	}
	switch refused.Kind {
	case wire.KindUnauthorized:
		return failed(ChannelRefused, refused, "the relay says: %s", refused.Message)
	case wire.KindDeviceOffline:
		return failed(ChannelOffline, unreachable(refused), "the relay says: %s", refused.Message)
	case wire.KindLimit, wire.KindRateLimited:
		return failed(ChannelLimit, refused, "the relay says: %s", refused.Message)
	}
	if refusedBy(refused) {
		return failed(ChannelFailed, refused, "the relay says: %s", refused.Message)
	}
	return failed(ChannelFailed, unreachable(refused), "the relay says: %s", refused.Message)
}

func (d *deviceProbe) seal(ctx context.Context) outcome {
	err := d.entry.Seal(ctx, d.opened, d.device.ID, d.device.Seal)
	if err == nil {
		return ok("both sides hold the paired keys")
	}
	var closed *client.ClosedError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return failed(SealSilent, unreachable(err), "the host did not answer the handshake")
	case !errors.As(err, &closed):
		return failed(SealBroken, err, "the handshake failed: %s", reason(err))
	}
	switch closed.Reason {
	case wire.ReasonNotAuthorized, wire.ReasonRevoked:
		return failed(SealRemoved, ErrRefused, "access for this client was revoked on the machine")
	case wire.ReasonSealBroken, wire.ReasonProtocol:
		return failed(SealBroken, err, "the host could not open the handshake: it was made with other keys, or changed in transit")
	}
	return failed(SealLost, unreachable(err), "%s", closed)
}

func (d *deviceProbe) api(ctx context.Context) outcome {
	if d.direct == nil {
		d.direct = d.opened
	}
	d.host = client.New(d.direct, nil)
	start := time.Now()
	answer, err := client.Call(ctx, d.host, api.GetHost, api.Empty{})
	var (
		refused *api.Error
		closed  *client.ClosedError
	)
	switch {
	case err == nil:
		trip := time.Since(start)
		detail := fmt.Sprintf("scorel %s, round trip %s", answer.Host.Version, trip.Round(100*time.Microsecond))
		if held := Sandbox(answer.Host); len(held) > 0 {
			detail += "; sandbox of commands: " + strings.Join(held, "; ")
		}
		if out := Outages(answer.Host.Outages); len(out) > 0 {
			return warn(APIStore, "%s; sessions: %s", detail, strings.Join(out, "; "))
		}
		return ok("%s", detail)
	case errors.As(err, &refused):
		return failed(APIRefused, errors.Join(ErrRefused, err), "the host says: %s", refused.Message)
	case errors.As(err, &closed) && (closed.Reason == wire.ReasonNotAuthorized || closed.Reason == wire.ReasonRevoked):
		return failed(SealRemoved, ErrRefused, "access for this client was revoked on the machine")
	case errors.Is(err, context.DeadlineExceeded):
		return failed(APISilent, unreachable(err), "the host did not answer")
	}
	return failed(SealLost, unreachable(err), "%s", reason(err))
}
