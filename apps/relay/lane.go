package relay

import (
	"sync"

	"github.com/scorel/scorel/apps/relay/internal/ws"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// lane is what channels run on: numbered ports and the queue behind them. A conn
// is the lane of a peer, a trunk the lane to another node.
type lane struct {
	relay *Relay
	owner interface{ cut(reason wire.Reason) }
	out   queue

	portsMu sync.Mutex
	ports   map[uint32]*port
	nextNum uint32 // numbers under it were used; a trunk's ports have numbers of another making
}

// tell queues a control frame.
func (l *lane) tell(f wire.Frame) {
	data, err := wire.EncodeControl(f)
	if err != nil {
		l.relay.log.Error("encoding a control frame", "type", f.FrameType(), "error", err)
		return
	}
	l.put(ws.OpText, data)
}

func (l *lane) put(op ws.Op, data []byte) verdict {
	v := l.out.control(op, data)
	if v == queueFull {
		l.owner.cut(wire.ReasonSlowConsumer) // it does not even take its control frames
	}
	return v
}

func (l *lane) port(num uint32) *port {
	l.portsMu.Lock()
	defer l.portsMu.Unlock()
	return l.ports[num]
}

// addPort makes a port usable. l.portsMu must be held.
func (l *lane) addPort(p *port) {
	if l.ports == nil {
		l.ports = make(map[uint32]*port, 1)
	}
	l.ports[p.num] = p
	l.nextNum = p.num + 1
}

func (l *lane) removePort(num uint32) {
	l.portsMu.Lock()
	defer l.portsMu.Unlock()
	delete(l.ports, num)
}

// tellOpened queues channel_opened and reports whether it was taken. It must not
// cut the lane, whose ports are locked.
func (l *lane) tellOpened(f *wire.ChannelOpened) bool {
	data, err := wire.EncodeControl(f)
	return err == nil && l.out.control(ws.OpText, data) == queued
}

func (l *lane) links() []*link {
	l.portsMu.Lock()
	defer l.portsMu.Unlock()
	out := make([]*link, 0, len(l.ports))
	for _, p := range l.ports {
		out = append(out, p.link)
	}
	return out
}

// closeLinks closes all channels of a lane that ends.
func (l *lane) closeLinks(reason wire.Reason) {
	for _, each := range l.links() {
		each.close(reason, l)
	}
}

// closeLinksWith closes the channels to one peer and tells both ends.
func (l *lane) closeLinksWith(peer ident.ID, reason wire.Reason) {
	for _, each := range l.links() {
		if each.host.id == peer || each.entry.id == peer {
			each.close(reason, nil)
		}
	}
}
