package relay

import (
	"encoding/json"

	"github.com/scorel/scorel/apps/relay/bus"
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
	if n.Node != "" && !isNode(n.Node) {
		r.log.Error("notice of a node that has no name for one", "kind", n.Kind)
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
