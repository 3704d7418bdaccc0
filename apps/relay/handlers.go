package relay

import (
	"github.com/scorel/scorel/apps/relay/internal/authority"
	"github.com/scorel/scorel/apps/relay/internal/cluster"
	"github.com/scorel/scorel/apps/relay/internal/conn"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// peers is what connections do at the relay: it implements conn.Handler.
type peers struct{ *Relay }

// Proves implements conn.Handler.
func (r peers) Proves(signed string, to authority.Dialed) bool {
	return r.live.Load().names.Proves(signed, to)
}

// Login implements conn.Handler.
func (r peers) Login(c *conn.Conn, invite string) error {
	if !r.guards.MayLogin(c.ID()) {
		return wire.Errorf(wire.KindRateLimited, "%s logs in too often; wait a minute", c.ID())
	}
	if refused := r.checkAdmission(c, invite); refused != nil {
		return refused
	}
	if err := r.dir.Login(c); err != nil {
		return err
	}
	if !r.admission.Load().lists(c.ID()) { // the list has changed since
		return errNotListed(c.ID())
	}
	return nil
}

// Handle implements conn.Handler.
func (r peers) Handle(c *conn.Conn, frame wire.Frame) {
	switch f := frame.(type) {
	case *wire.OpenChannel:
		r.dir.Open(c, f)
	case *wire.CreatePairSession:
		r.pairings.Create(c, f)
	case *wire.RedeemPair:
		r.pairings.Redeem(c, f)
	case *wire.PairMessage:
		r.pairings.PassMessage(c, f)
	case *wire.PairAccept:
		r.pairings.Accept(c, f)
	case *wire.PairReject:
		r.pairings.Reject(c, f)
	case *wire.RevokeBinding:
		r.dir.Revoke(c, f)
	case *wire.ClaimBinding:
		r.pairings.Claim(c, f)
	default:
		c.Refuse("", wire.Errorf(wire.KindNotAllowed, "peers cannot send %s", f.FrameType()))
	}
}

// Leave implements conn.Handler.
func (r peers) Leave(c *conn.Conn) {
	_ = r.loop.Do(func() { // a stopped loop has no peers
		r.pairings.Leave(c)
		r.dir.Leave(c)
	})
}

// Closed implements conn.Handler.
func (r peers) Closed(c *conn.Conn) { r.forget(c) }

// nodes is what other nodes do at the relay: it implements cluster.Handler.
type nodes struct{ *Relay }

// HandleNotice implements cluster.Handler.
func (r nodes) HandleNotice(n cluster.Notice) {
	_ = r.loop.Do(func() { r.apply(n) }) // a stopped loop has no peers
}

func (r nodes) apply(n cluster.Notice) {
	switch n.Kind {
	case cluster.NoticeBound:
		r.pairings.ApplyBound(n)
		r.dir.ApplyBound(n)
	case cluster.NoticeRevoked:
		r.dir.ApplyRevoked(n)
	case cluster.NoticeSuspended:
		r.dir.ApplySuspended(n)
	case cluster.NoticeLogin:
		r.dir.ApplyLogin(n)
	case cluster.NoticeCancel:
		r.dir.ApplyCancel(n)
	case cluster.NoticePresence:
		r.dir.ApplyPresence(n)
	case cluster.NoticeLeave:
		r.pairings.ApplyLeave(n)
	}
}

// Answer implements cluster.Handler.
func (r nodes) Answer(n cluster.Notice) (a cluster.Reply) {
	err := r.loop.Do(func() {
		switch n.Kind {
		case cluster.NoticeOpen:
			a = r.dir.OpenForNode(n)
		case cluster.NoticeWhere:
			if device, here := r.dir.Device(n.Device.ID); here {
				a = r.cluster.Yes()
				a.Device = device
			}
		case cluster.NoticeTaken:
			a.OK = r.pairings.Taken(n.Slot)
		case cluster.NoticeRedeem:
			a = r.pairings.RedeemForNode(n)
		}
	})
	if err != nil {
		return cluster.Refusal(conn.ErrShuttingDown())
	}
	return a
}

// CompleteOpening implements cluster.Handler.
func (r nodes) CompleteOpening(num uint32, node string) { r.dir.CompleteOpening(num, node) }

// TrunkFrame implements cluster.Handler.
func (r nodes) TrunkFrame(t *cluster.Trunk, f wire.Frame) {
	_ = r.loop.Do(func() { r.pairings.TrunkFrame(t, f) }) // a stopped loop has no pairings
}

// NodeLost implements cluster.Handler.
func (r nodes) NodeLost(node string) { r.pairings.NodeLost(node) }

// NodeGone implements cluster.Handler.
func (r nodes) NodeGone(node string) { r.dir.NodeGone(node) }

// CheckBindings implements cluster.Handler.
func (r nodes) CheckBindings() error { return r.dir.CheckBindings() }

// RefreshPresence implements cluster.Handler.
func (r nodes) RefreshPresence() { r.dir.RefreshPresence() }

// AnnounceLogins implements cluster.Handler.
func (r nodes) AnnounceLogins() { r.dir.AnnounceLogins() }

// CloseChannels implements cluster.Handler.
func (r nodes) CloseChannels() { r.dir.CloseChannels() }
