package pairing

import (
	"errors"
	"time"

	"github.com/scorel/scorel/apps/relay/internal/cluster"
	"github.com/scorel/scorel/apps/relay/internal/conn"
	"github.com/scorel/scorel/apps/relay/internal/directory"
	"github.com/scorel/scorel/apps/relay/internal/metrics"
	"github.com/scorel/scorel/apps/relay/store"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// claim is a claim that was checked and is in the store.
type claim struct {
	device wire.Peer
	node   string // where the device is connected; "" for nowhere
	wrote  bool   // false if the binding was valid already
}

// Claim answers claim_binding: the two have paired over another relay, and the device has
// signed that this client may reach it.
func (r *Registry) Claim(c *conn.Conn, f *wire.ClaimBinding) {
	done, refused := r.claim(c, f)
	if refused != nil {
		r.Metrics.Claims.WithLabelValues(refused.Kind.String()).Inc()
		c.Refuse(f.RequestID, refused)
		return
	}
	r.Metrics.Claims.WithLabelValues(metrics.OK).Inc()
	_ = r.Loop.Do(func() { r.completeClaim(c, f, done) }) // a stopped loop has no peers
	if done.wrote {
		r.Log.Info("binding claimed", "device", f.DeviceID, "client", c.ID())
		r.Cluster.Publish(cluster.SubjectNews, cluster.Notice{
			Kind: cluster.NoticeBound, Device: done.device, Client: c.AsPeer(), Node: done.node, Claimed: true,
		})
	}
	r.Directory.Recheck(f.DeviceID, c.ID())
}

// completeClaim answers a claim and applies its binding. In the loop.
func (r *Registry) completeClaim(c *conn.Conn, f *wire.ClaimBinding, done claim) {
	device := done.device
	device.Online = device.Online || r.Directory.Online(c.ID(), device.ID)
	c.Send(&wire.BindingClaimed{RequestID: f.RequestID, Peer: device})
	if done.wrote {
		r.Directory.Claimed(device, c.AsPeer(), done.node)
	}
}

// claim checks a claim and writes its binding. A device that is not known is answered like
// a bad signature: otherwise strangers could find out which devices use this relay.
func (r *Registry) claim(c *conn.Conn, f *wire.ClaimBinding) (done claim, refused *wire.Error) {
	now := time.Now()
	switch {
	case c.ID().Kind() != ident.KindClient:
		return done, wire.Errorf(wire.KindNotAllowed, "only a client can claim a binding")
	case !r.Guards.MayClaim(c.ID(), c.Addr()):
		return done, wire.Errorf(wire.KindRateLimited, "too many claims; wait a few minutes")
	case !f.Fresh(now):
		return done, errStale("is older than 30 days or from the future")
	}
	ctx, cancel := r.Store.Context()
	defer cancel()
	var err error
	done.device, done.node, err = r.Directory.FindDevice(ctx, f.DeviceID)
	switch {
	case errors.Is(err, store.ErrNotFound), err == nil && !f.Verify(done.device.Sign, c.ID()):
		return done, wire.Errorf(wire.KindNotFound, "this relay does not know %s, or the device has not signed this claim", f.DeviceID)
	case err != nil:
		return done, r.claimFailed(err)
	}
	done.wrote, err = r.Store.Claim(ctx, directory.AsParty(done.device), directory.AsParty(c.Self()), time.UnixMilli(f.SignedAt), now)
	switch {
	case errors.Is(err, store.ErrRevoked):
		return done, errStale("was made before the binding was revoked here")
	case errors.Is(err, store.ErrLimit):
		return done, wire.Errorf(wire.KindLimit, "one side has too many pairings; remove one first")
	case err != nil:
		return done, r.claimFailed(err)
	}
	return done, nil
}

func errStale(why string) *wire.Error {
	return wire.Errorf(wire.KindStaleProof, "the device's signature %s; request a new one from the device", why)
}

func (r *Registry) claimFailed(err error) *wire.Error {
	r.Store.Failed(metrics.StoreClaim, err)
	return wire.Errorf(wire.KindUnavailable, "the relay could not store the binding; try again later")
}
