package mdns

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"golang.org/x/net/ipv4"

	"github.com/scorel/scorel/packages/protocol/ident"
)

// Times of an announcement.
const (
	again     = time.Second      // from the first announcement to the second, as RFC 6762 has it
	lookAgain = 30 * time.Second // between looks at the networks of this machine
)

// maxReplies limits the replies in each second.
const maxReplies = 20

// Announcer announces one device. It tells its id, port and addresses, and nothing else.
type Announcer struct {
	network Network
	device  ident.ID
	names   names
	// addresses returns where the device listens now.
	addresses func() []netip.AddrPort
	logger    *slog.Logger
	socket    net.PacketConn
	conn      *ipv4.PacketConn

	// Owned by Run.
	joined    map[int]bool // interfaces by index
	places    []place
	allowance int // replies that may be sent before the next second
}

// place is an address of the device in one network.
type place struct {
	index int // of the interface
	in    netip.Prefix
	at    netip.AddrPort
}

// Open prepares to announce a device at the IPv4 addresses that a function returns. The caller
// must call Run.
func Open(n Network, device ident.ID, addresses func() []netip.AddrPort, logger *slog.Logger) (*Announcer, error) {
	n = n.withDefaults()
	names, err := namesOf(device)
	if err != nil {
		return nil, fmt.Errorf("announcing the device: %w", err)
	}
	// Listening on a multicast address shares the port with other programs.
	socket, err := net.ListenPacket("udp4", n.Group.String())
	if err != nil {
		return nil, fmt.Errorf("announcing the device: %w", err)
	}
	conn := ipv4.NewPacketConn(socket)
	if err := configure(conn); err != nil {
		return nil, errors.Join(err, socket.Close())
	}
	return &Announcer{
		network: n, device: device, names: names, addresses: addresses, logger: logger,
		socket: socket, conn: conn, joined: map[int]bool{},
	}, nil
}

// datagram is a message from the network.
type datagram struct {
	data []byte
	from netip.AddrPort
}

// Run announces the device until ctx ends, and withdraws it then.
func (a *Announcer) Run(ctx context.Context) error {
	received := make(chan datagram)
	done := make(chan struct{})
	var reading sync.WaitGroup
	reading.Go(func() { a.read(received, done) })
	defer func() {
		close(done)
		_ = a.socket.Close() // the reader ends with it
		reading.Wait()
	}()
	a.look()
	repeat, look, second := time.After(again), time.NewTicker(lookAgain), time.NewTicker(time.Second)
	defer look.Stop()
	defer second.Stop()
	a.allowance = maxReplies
	for {
		select {
		case d := <-received:
			a.answer(d)
		case <-repeat:
			a.announce(a.places, recordTTL)
		case <-look.C:
			a.look()
		case <-second.C:
			a.allowance = maxReplies
		case <-ctx.Done():
			a.announce(a.places, 0)
			return nil
		}
	}
}

func (a *Announcer) read(received chan<- datagram, done <-chan struct{}) {
	data := make([]byte, maxMessage)
	for {
		size, _, from, err := a.conn.ReadFrom(data)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // such as a network that went away
			select {
			case <-time.After(again):
				continue
			case <-done:
				return
			}
		}
		select {
		case received <- datagram{slices.Clone(data[:size]), sender(from)}:
		case <-done:
			return
		}
	}
}

// look follows changes of networks and addresses, and announces new places.
func (a *Announcer) look() {
	list, err := a.network.Interfaces()
	if err != nil {
		a.logger.Warn("looking for networks to announce this device in", "error", err)
		return
	}
	var places []place
	for _, at := range a.addresses() {
		for _, one := range list {
			for _, prefix := range one.Networks {
				if prefix.Addr() == at.Addr() {
					places = append(places, place{one.Index, prefix.Masked(), at})
				}
			}
		}
	}
	before := a.places
	a.places = places
	a.join()
	var fresh, gone []place
	for _, p := range places {
		if !slices.Contains(before, p) {
			fresh = append(fresh, p)
		}
	}
	for _, p := range before {
		if !slices.Contains(places, p) {
			gone = append(gone, p)
		}
	}
	a.announce(gone, 0)
	a.announce(fresh, recordTTL)
}

// join receives the questions of the networks in which the device is.
func (a *Announcer) join() {
	group := &net.UDPAddr{IP: a.network.Group.Addr().AsSlice()}
	now := map[int]bool{}
	for _, p := range a.places {
		if now[p.index] {
			continue
		}
		if !a.joined[p.index] {
			if err := a.conn.JoinGroup(&net.Interface{Index: p.index}, group); err != nil {
				a.logger.Warn("joining a network to announce this device in", "address", p.at.Addr(), "error", err)
				continue
			}
		}
		now[p.index] = true
	}
	for index := range a.joined {
		if !now[index] {
			_ = a.conn.LeaveGroup(&net.Interface{Index: index}, group) // the network may be gone
		}
	}
	a.joined = now
}

// announce tells networks unasked. A time to live of 0 withdraws.
func (a *Announcer) announce(places []place, ttl uint32) {
	for _, p := range places {
		a.send(p, reply{names: a.names, device: a.device, at: p.at, ttl: ttl}, a.network.Group)
	}
}

// answer replies to a question about the device that comes from a network in which it is.
func (a *Announcer) answer(d datagram) {
	id, questions, ok := asked(d.data, a.names)
	if !ok {
		return
	}
	for _, p := range a.places {
		if !p.in.Contains(d.from.Addr()) || a.allowance == 0 {
			continue
		}
		a.allowance--
		r, to := reply{names: a.names, device: a.device, at: p.at, ttl: recordTTL}, a.network.Group
		if d.from.Port() != to.Port() {
			r.legacy, r.id, r.questions, r.ttl, to = true, id, slices.Clone(questions), legacyTTL, d.from
		}
		a.send(p, r, to)
	}
}

// send sends from the address that the message is about, which finders insist on.
func (a *Announcer) send(p place, r reply, to netip.AddrPort) {
	data, err := r.pack()
	if err != nil {
		a.logger.Warn("encoding an announcement", "error", err)
		return
	}
	if err := a.conn.SetMulticastInterface(&net.Interface{Index: p.index}); err != nil {
		return // the network is gone
	}
	if _, err := a.conn.WriteTo(data, sourceOf(p.at.Addr()), net.UDPAddrFromAddrPort(to)); err != nil {
		a.logger.Debug("announcing this device", "to", to, "error", err)
	}
}
