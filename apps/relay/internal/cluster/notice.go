package cluster

import (
	"encoding/json"
	"strings"

	"github.com/scorel/scorel/apps/relay/bus"
	"github.com/scorel/scorel/packages/protocol/exactjson"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// Subjects of the bus.
const (
	SubjectNodes = "scorel.nodes" // heartbeats of every node
	SubjectNews  = "scorel.news"  // bindings written and ended; for every node
)

// PartySubject is where nodes ask for a device, and where a client's node is
// notified of the presence of its devices. A node with that party subscribes to it.
func PartySubject(id ident.ID) string { return "scorel.party." + id.String() }

// SlotSubject is where a pairing code can be redeemed.
func SlotSubject(slot string) string { return "scorel.slot." + slot }

// NodeSubject is where the trunks to a node end.
func NodeSubject(node string) string { return "scorel.node." + node }

const nodeIDLen = 16

// isNode reports whether a text is the name of a node, which becomes part of a subject.
func isNode(name string) bool {
	return len(name) == nodeIDLen && !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '2' || r > '7')
	})
}

// Notice is a notification or question between nodes. Kind determines which fields
// are set. A node ignores unknown kinds from other versions.
type Notice struct {
	Kind  string `json:"kind"`
	Node  string `json:"node,omitempty"`  // the sender; for NoticeBound, where the device is
	Epoch uint32 `json:"epoch,omitempty"` // of Node
	News  uint32 `json:"news,omitempty"`

	Device wire.Peer `json:"device,omitzero"`
	Client wire.Peer `json:"client,omitzero"`

	Num       uint32 `json:"num,omitempty"`
	Slot      string `json:"slot,omitempty"`
	RequestID string `json:"requestId,omitempty"`
	Stamp     int64  `json:"stamp,omitempty"` // of a login, Unix nanoseconds
	Fresh     bool   `json:"fresh,omitempty"` // the node announces its own login, and does not answer another one
	Age       int64  `json:"age,omitempty"`   // of a login, nanoseconds; absent from nodes of an older version
	Online    bool   `json:"online,omitempty"`
	Claimed   bool   `json:"claimed,omitempty"` // of NoticeBound: the device does not know it yet

	Once bool `json:"-"` // see Ask
}

// Kinds of notices.
const (
	// On SubjectNodes. The cluster handles them.
	NoticeBeat    = "beat"    // Node is there
	NoticeLeaving = "leaving" // Node ends

	// On SubjectNews.
	NoticeBound     = "bound"     // a binding was written
	NoticeRevoked   = "revoked"   // a binding was ended
	NoticeSuspended = "suspended" // the store did not accept a revocation

	// On the subject of a device.
	NoticeLogin  = "login"  // it logged in at Node
	NoticeOpen   = "open"   // asks for a channel Num for Client
	NoticeCancel = "cancel" // cancels that request
	NoticeWhere  = "where"  // asks whether it is there

	// On the subject of a client.
	NoticePresence = "presence" // Device is Online at Node, or no longer

	// On the subject of a pairing code.
	NoticeTaken  = "taken"  // asks whether the code is in use
	NoticeRedeem = "redeem" // asks to be the other side: Client, at Node
	NoticeLeave  = "leave"  // is no longer the other side
)

// Reply is the answer to a question. If it is a refusal, Kind and Message are set.
type Reply struct {
	OK      bool      `json:"ok"`
	Node    string    `json:"node,omitempty"`
	Epoch   uint32    `json:"epoch,omitempty"`
	Kind    wire.Kind `json:"errorKind,omitempty"`
	Message string    `json:"message,omitempty"`
	Device  wire.Peer `json:"device,omitzero"` // answers NoticeWhere
}

// Refusal is a reply that refuses.
func Refusal(err *wire.Error) Reply { return Reply{Kind: err.Kind, Message: err.Message} }

// Yes is a reply of this node.
func (c *Cluster) Yes() Reply { return Reply{OK: true, Node: c.self, Epoch: c.currentEpoch()} }

// Receive handles a message of another node. Only the bus calls it, from one goroutine.
// Receiving a message twice changes nothing.
func (c *Cluster) Receive(msg bus.Message) {
	switch {
	case msg.Lost:
		c.Metrics.BusLosses.Inc()
		c.happened(MessagesLost, nil)
		return
	case msg.Subject == NodeSubject(c.self):
		c.receiveTrunk(msg.Data)
		return
	}
	var n Notice
	if err := exactjson.Unmarshal(msg.Data, &n); err != nil {
		c.Log.Error("another node's notice cannot be read", "error", err)
		return
	}
	if n.Node != "" && !isNode(n.Node) {
		c.Log.Error("a notice has an invalid node id", "kind", n.Kind)
		return
	}
	if n.Epoch != 0 && !c.ObserveNode(n.Node, n.Epoch) {
		return // sent before an outage of that node
	}
	switch {
	case msg.Respond != nil:
		c.answer(msg, n)
	case n.Kind == NoticeBeat || n.Kind == NoticeLeaving:
		c.handleBeat(n)
	default:
		c.Handler.HandleNotice(n)
	}
}

// answer answers another node's question.
func (c *Cluster) answer(msg bus.Message, n Notice) {
	data, err := json.Marshal(c.Handler.Answer(n))
	if err != nil {
		c.Log.Error("encoding an answer", "error", err)
		return
	}
	if err := msg.Respond(data); err != nil {
		c.Metrics.BusErrors.Inc()
		c.Log.Debug("answering another node", "error", err)
	}
}
