package relay

import (
	"encoding/json"
	"time"

	"github.com/scorel/scorel/apps/relay/bus"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// notice is what nodes tell and ask each other. Kind says which fields count. A
// node of another version that does not know a kind ignores it.
type notice struct {
	Kind  string `json:"kind"`
	Node  string `json:"node,omitempty"`  // who tells; for noticeBound, where the device is
	Epoch uint32 `json:"epoch,omitempty"` // of Node
	News  uint32 `json:"news,omitempty"`

	Device wire.Peer `json:"device,omitzero"`
	Client wire.Peer `json:"client,omitzero"`

	Num       uint32 `json:"num,omitempty"`
	Slot      string `json:"slot,omitempty"`
	RequestID string `json:"requestId,omitempty"`
	Stamp     int64  `json:"stamp,omitempty"` // of a login, Unix nanoseconds
	Fresh     bool   `json:"fresh,omitempty"` // the login was just now
	Online    bool   `json:"online,omitempty"`

	Once bool `json:"-"` // see ask
}

const (
	// On subjectNodes.
	noticeBeat    = "beat"    // Node is there
	noticeLeaving = "leaving" // Node ends

	// On subjectNews.
	noticeBound     = "bound"     // a binding was written
	noticeRevoked   = "revoked"   // a binding was ended
	noticeSuspended = "suspended" // a revocation that the store did not take

	// On the subject of a device.
	noticeLogin  = "login"  // it logged in at Node
	noticeOpen   = "open"   // asks for a channel Num for Client
	noticeCancel = "cancel" // no longer wants it
	noticeWhere  = "where"  // asks whether it is there

	// On the subject of a client.
	noticePresence = "presence" // Device is Online at Node, or not any more

	// On the subject of a pairing code.
	noticeTaken  = "taken"  // asks whether somebody has it
	noticeRedeem = "redeem" // asks to be the other side: Device or Client, at Node
	noticeLeave  = "leave"  // is not the other side any more
)

// reply is what a question gets. Kind and Message are set when it is a no.
type reply struct {
	OK      bool      `json:"ok"`
	Node    string    `json:"node,omitempty"`
	Epoch   uint32    `json:"epoch,omitempty"`
	Kind    wire.Kind `json:"errorKind,omitempty"`
	Message string    `json:"message,omitempty"`
}

func refusal(err *wire.Error) reply { return reply{Kind: err.Kind, Message: err.Message} }

// yes is the answer of this node.
func (d *directory) yes() reply {
	return reply{OK: true, Node: d.relay.cluster.self, Epoch: d.relay.cluster.currentEpoch()}
}

// heard handles what other nodes tell. Only the bus calls it, from one goroutine.
// Hearing something twice changes nothing.
func (r *Relay) heard(msg bus.Message) {
	switch {
	case msg.Lost:
		r.cluster.heardLoss()
		return
	case msg.Subject == nodeSubject(r.cluster.self):
		r.cluster.hearTrunk(msg.Data)
		return
	}
	var n notice
	if err := json.Unmarshal(msg.Data, &n); err != nil {
		r.log.Error("notice of another node cannot be read", "error", err)
		return
	}
	if n.Epoch != 0 && !r.cluster.hearNode(n.Node, n.Epoch) {
		return // from before an outage of that node
	}
	if msg.Respond != nil {
		r.answer(msg, n)
		return
	}
	if n.Kind == noticeBeat || n.Kind == noticeLeaving {
		r.cluster.heardBeat(n)
		return
	}
	_ = r.dir.do(func() { r.dir.heard(n) }) // a stopped directory has nobody to tell
}

// heard handles one notice.
func (d *directory) heard(n notice) {
	switch n.Kind {
	case noticeBound:
		d.heardBound(n)
	case noticeRevoked:
		if d.knows(n.Device.ID, n.Client.ID) {
			d.revoked(n.Device.ID, n.Client.ID, nil, "")
		}
	case noticeSuspended:
		d.suspend(n.Device.ID, n.Client.ID)
	case noticeLogin:
		d.heardLogin(n)
	case noticeCancel:
		d.cancelRemote(n)
	case noticePresence:
		d.heardPresence(n)
	case noticeLeave:
		d.heardLeave(n)
	}
}

// answer answers another node's question.
func (r *Relay) answer(msg bus.Message, n notice) {
	var a reply
	err := r.dir.do(func() {
		switch n.Kind {
		case noticeOpen:
			a = r.dir.openForRemote(n)
		case noticeWhere:
			if r.dir.host(n.Device.ID) != nil {
				a = r.dir.yes()
			}
		case noticeTaken:
			a.OK = r.dir.slots[n.Slot] != nil
		case noticeRedeem:
			a = r.dir.redeemFar(n)
		}
	})
	if err != nil {
		a = refusal(errClosingDown())
	}
	data, err := json.Marshal(a)
	if err != nil {
		r.log.Error("encoding an answer", "error", err)
		return
	}
	if err := msg.Respond(data); err != nil {
		r.metrics.busErrors.Inc()
		r.log.Debug("answering another node", "error", err)
	}
}

// heardLoss acts on lost messages: the store is asked what was missed, and so are
// the other nodes, both here and, for what we told, there.
func (c *cluster) heardLoss() {
	c.relay.metrics.busLosses.Inc()
	c.unsure.Store(true)
	c.stale.Store(true)
	c.news.Add(1)
	poke(c.kick)
	poke(c.check)
}

// heardBeat notes a sign of life. hearNode has done most of it.
func (c *cluster) heardBeat(n notice) {
	c.mu.Lock()
	p := c.nodes[n.Node]
	fresh := p != nil && (p.news != n.News+1)
	if p != nil {
		p.news = n.News + 1 // 0 is a node that was never heard
	}
	c.mu.Unlock()
	switch {
	case p == nil:
	case n.Kind == noticeLeaving:
		c.relay.log.Info("a node leaves", "node", n.Node)
		c.forget(p)
	case fresh:
		c.relay.log.Info("a node has news", "node", n.Node)
		c.stale.Store(true)
		poke(c.check)
	}
}

// tellLogin tells the node that has an older connection of a device.
func (d *directory) tellLogin(c *conn, fresh bool) {
	d.relay.cluster.outbox.publish(partySubject(c.id), notice{
		Kind: noticeLogin, Node: d.relay.cluster.self, Device: wire.Peer{ID: c.id}, Stamp: c.stamp.UnixNano(), Fresh: fresh,
	})
}

// loginWindow is how close two logins may be for their clocks to decide. Beyond
// it the order in which they are heard does, so that a wrong clock keeps no host out.
const loginWindow = 2 * time.Second

// heardLogin lets the newer connection of a device win, wherever it is. Of two at
// the same time both nodes must choose the same one.
func (d *directory) heardLogin(n notice) {
	p := d.parties[n.Device.ID]
	if p == nil || len(p.conns) == 0 {
		return
	}
	mine := p.conns[0]
	at := mine.stamp.UnixNano()
	newer := n.Stamp > at || n.Stamp == at && n.Node > d.relay.cluster.self
	if n.Fresh && time.Since(mine.stamp) > loginWindow {
		newer = true
	}
	if !newer {
		d.tellLogin(mine, false)
		return
	}
	d.eachBound(p, func(client *party) { client.away[p.id] = n.Node })
	d.replace(p)
	d.wentOffline(p)
}

// eachBound visits the connected clients that are bound to a device.
func (d *directory) eachBound(device *party, do func(client *party)) {
	for id := range device.grants {
		client := d.parties[id]
		if client == nil {
			continue
		}
		if _, bound := client.grants[device.id]; bound { // each side's list must name the other
			do(client)
		}
	}
}

func errClosingDown() *wire.Error {
	return wire.Errorf(wire.KindShuttingDown, "the relay is shutting down; come back")
}

// tellNews tells every node of a binding. The one that a node may have missed is
// found in the store.
func (r *Relay) tellNews(kind string, device, client ident.ID) {
	r.cluster.outbox.publish(subjectNews, notice{Kind: kind, Device: wire.Peer{ID: device}, Client: wire.Peer{ID: client}})
}
