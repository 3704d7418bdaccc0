package mdns

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"time"

	"golang.org/x/net/ipv4"

	"github.com/scorel/scorel/packages/protocol/ident"
)

// Limits of one search.
const (
	MaxFound   = 8                      // addresses for each device
	maxAnswers = 512                    // datagrams that are read
	rounds     = 2                      // questions, because datagrams get lost
	roundTime  = 500 * time.Millisecond // how long each waits for answers
)

// Found is an address at which something claims to be a device.
type Found struct {
	Device  ident.ID
	Address netip.AddrPort
}

// Find asks the local networks for devices and returns what answered, at most MaxFound
// addresses for each, in the order of their answers. The question names no device, so that it does not tell the
// network which devices this machine knows. It takes half a second, or a second if nothing
// answers.
func Find(ctx context.Context, n Network, devices ...ident.ID) ([]Found, error) {
	n = n.withDefaults()
	list, err := n.Interfaces()
	if err != nil {
		return nil, err
	}
	if len(list) == 0 || len(devices) == 0 {
		return nil, nil
	}
	socket, err := net.ListenPacket("udp4", ":0")
	if err != nil {
		return nil, fmt.Errorf("asking the local network: %w", err)
	}
	defer func() { _ = socket.Close() }() // everything was read
	defer context.AfterFunc(ctx, func() { _ = socket.SetReadDeadline(time.Unix(1, 0)) })()
	s := &search{network: n, interfaces: list, devices: devices, socket: socket}
	for range rounds {
		if err := s.ask(); err != nil {
			return nil, err
		}
		if err := s.collect(ctx, time.Now().Add(roundTime)); err != nil || len(s.found) > 0 {
			return s.found, err
		}
	}
	return nil, nil
}

// search is one search. One goroutine owns it.
type search struct {
	network    Network
	interfaces []Interface
	devices    []ident.ID
	socket     net.PacketConn
	answers    int
	found      []Found
}

// ask sends the question to all networks. One that it cannot be sent to is left out.
func (s *search) ask() error {
	question, err := question()
	if err != nil {
		return fmt.Errorf("encoding the question to the local network: %w", err)
	}
	conn := ipv4.NewPacketConn(s.socket)
	if err := configure(conn); err != nil {
		return err
	}
	for _, one := range s.interfaces {
		if conn.SetMulticastInterface(&net.Interface{Index: one.Index}) != nil {
			continue
		}
		for _, prefix := range one.Networks {
			_, _ = conn.WriteTo(question, sourceOf(prefix.Addr()), net.UDPAddrFromAddrPort(s.network.Group))
		}
	}
	return nil
}

// collect reads answers until a time.
func (s *search) collect(ctx context.Context, until time.Time) error {
	if err := s.socket.SetReadDeadline(until); err != nil {
		return fmt.Errorf("waiting for the local network: %w", err)
	}
	data := make([]byte, maxMessage)
	for ctx.Err() == nil && s.answers < maxAnswers {
		size, from, err := s.socket.ReadFrom(data)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			break
		}
		if err != nil {
			return fmt.Errorf("reading answers of the local network: %w", err)
		}
		s.answers++
		s.take(data[:size], sender(from).Addr())
	}
	return context.Cause(ctx)
}

// take takes an answer if it comes from a local network and is about one of the devices.
func (s *search) take(data []byte, from netip.Addr) {
	if !s.network.Local(from) || of(s.interfaces, from) == nil {
		return
	}
	for _, device := range s.devices {
		at := answered(data, device)
		if at == 0 {
			continue
		}
		same := 0
		for _, f := range s.found {
			if f.Device == device {
				same++
			}
			if f.Device == device && f.Address.Addr() == from {
				same = MaxFound // one address has one answer
			}
		}
		if same < MaxFound {
			s.found = append(s.found, Found{device, netip.AddrPortFrom(from, at)})
		}
	}
}
