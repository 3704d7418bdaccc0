package mdns

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
	"golang.org/x/net/ipv4"

	"github.com/scorel/scorel/packages/protocol/ident"
)

// liar answers each question on the local network with datagrams, until the test ends.
func liar(t *testing.T, n Network, answers func(query dnsmessage.Message) [][]byte) {
	t.Helper()
	socket, err := net.ListenPacket("udp4", n.Group.String())
	if err != nil {
		t.Fatal(err)
	}
	list, _ := n.Interfaces()
	if err := ipv4.NewPacketConn(socket).JoinGroup(&net.Interface{Index: list[0].Index}, &net.UDPAddr{IP: n.Group.Addr().AsSlice()}); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		data := make([]byte, maxMessage)
		for {
			size, from, err := socket.ReadFrom(data)
			if err != nil {
				return
			}
			var query dnsmessage.Message
			if query.Unpack(data[:size]) != nil || query.Response {
				continue
			}
			for _, answer := range answers(query) {
				_, _ = socket.WriteTo(answer, from)
			}
		}
	}()
	t.Cleanup(func() { _ = socket.Close(); <-done })
}

// lie is an answer about a device that claims any port and address.
func lie(t *testing.T, device ident.ID, port uint16, address string) []byte {
	t.Helper()
	names, err := namesOf(device)
	if err != nil {
		t.Fatal(err)
	}
	data, err := reply{names: names, device: device, at: netip.AddrPortFrom(netip.MustParseAddr(address), port), ttl: recordTTL}.pack()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestAnAnswerNamesNoAddressButItsOwn: whatever address an answer claims, of the internet or
// of another machine, only the one that it came from is tried.
func TestAnAnswerNamesNoAddressButItsOwn(t *testing.T) {
	n, device := loopback(t), newDevice(t)
	liar(t, n, func(dnsmessage.Message) [][]byte {
		return [][]byte{lie(t, device, 443, "8.8.8.8"), lie(t, device, 22, "192.168.1.1")}
	})
	found, err := Find(t.Context(), n, device)
	if err != nil || len(found) != 1 || found[0].Address.Addr() != netip.MustParseAddr("127.0.0.1") {
		t.Errorf("found %v, %v", found, err)
	}
}

// TestAnswersFromOutsideAreIgnored: from the internet, and from networks that this machine is
// not in.
func TestAnswersFromOutsideAreIgnored(t *testing.T) {
	device := newDevice(t)
	n := Network{}.withDefaults()
	s := &search{network: n, devices: []ident.ID{device}, interfaces: []Interface{
		{1, []netip.Prefix{netip.MustParsePrefix("192.168.1.5/24"), netip.MustParsePrefix("203.0.113.5/24")}},
	}}
	for _, from := range []string{"8.8.8.8", "203.0.113.9", "192.168.2.9", "127.0.0.1", "0.0.0.0", "224.0.0.251", "::1"} {
		s.take(lie(t, device, 7430, "192.168.1.9"), netip.MustParseAddr(from))
	}
	if len(s.found) != 0 {
		t.Errorf("found %v", s.found)
	}
	s.take(lie(t, device, 7430, "192.168.1.9"), netip.MustParseAddr("192.168.1.9"))
	if len(s.found) != 1 {
		t.Errorf("an answer from inside: %v", s.found)
	}
}

// TestAFloodOfAnswersIsBounded: one address counts once, a device has few, and reading ends.
func TestAFloodOfAnswersIsBounded(t *testing.T) {
	n, device := loopback(t), newDevice(t)
	flood := make([][]byte, 0, 2*maxAnswers)
	for i := range 2 * maxAnswers {
		flood = append(flood, lie(t, device, uint16(1+i), "127.0.0.1"))
	}
	liar(t, n, func(dnsmessage.Message) [][]byte { return flood })
	if found, err := Find(t.Context(), n, device); err != nil || len(found) != 1 {
		t.Errorf("found %v, %v", found, err)
	}
	s := &search{network: n.withDefaults(), devices: []ident.ID{device}}
	s.interfaces, _ = n.Interfaces()
	for i := range 100 {
		s.take(flood[0], netip.MustParseAddr(fmt.Sprintf("127.0.0.%d", i+1)))
	}
	if len(s.found) != MaxFound {
		t.Errorf("%d addresses were kept", len(s.found))
	}
}

// TestFalseAnswersAreIgnored: of other devices and versions, withdrawn, without a port, or no
// messages at all.
func TestFalseAnswersAreIgnored(t *testing.T) {
	device := newDevice(t)
	names, err := namesOf(device)
	if err != nil {
		t.Fatal(err)
	}
	at := netip.MustParseAddrPort("192.168.1.9:7430")
	edit := func(change func(*dnsmessage.Message)) []byte {
		good, err := reply{names: names, device: device, at: at, ttl: recordTTL}.pack()
		if err != nil {
			t.Fatal(err)
		}
		var m dnsmessage.Message
		if err := m.Unpack(good); err != nil {
			t.Fatal(err)
		}
		change(&m)
		data, err := m.Pack()
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	if got := answered(edit(func(*dnsmessage.Message) {}), device); got != 7430 {
		t.Fatalf("the true answer has port %d", got)
	}
	for name, data := range map[string][]byte{
		"empty": nil, "garbage": []byte(strings.Repeat("\xc0", 512)), "another device": lie(t, newDevice(t), 7430, "192.168.1.9"),
		"a question":      edit(func(m *dnsmessage.Message) { m.Response = false }),
		"withdrawn":       edit(func(m *dnsmessage.Message) { m.Answers[1].Header.TTL = 0 }),
		"without a port":  edit(func(m *dnsmessage.Message) { m.Answers[1].Body.(*dnsmessage.SRVResource).Port = 0 }),
		"without a text":  edit(func(m *dnsmessage.Message) { m.Answers = m.Answers[:2] }),
		"another version": edit(func(m *dnsmessage.Message) { m.Answers[2].Body.(*dnsmessage.TXTResource).TXT[0] = "v=2" }),
		"another id":      edit(func(m *dnsmessage.Message) { m.Answers[2].Body.(*dnsmessage.TXTResource).TXT[1] = "id=dev_x" }),
		"too many records": edit(func(m *dnsmessage.Message) {
			first := m.Answers[0]
			for range maxRecords {
				m.Answers = append([]dnsmessage.Resource{first}, m.Answers...)
			}
		}),
	} {
		if got := answered(data, device); got != 0 {
			t.Errorf("%s: port %d", name, got)
		}
	}
}

// TestASearchEndsWithItsContext, and soon if nothing answers.
func TestASearchEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(context.DeadlineExceeded)
	if _, err := Find(ctx, loopback(t), newDevice(t)); err != context.DeadlineExceeded {
		t.Errorf("it ended with %v", err)
	}
	if found, err := Find(t.Context(), Network{Interfaces: func() ([]Interface, error) { return nil, nil }}, newDevice(t)); err != nil || found != nil {
		t.Errorf("without a network: %v, %v", found, err)
	}
}

func FuzzMessages(f *testing.F) {
	device := ident.NewID(ident.KindDevice, ident.Public{})
	names, err := namesOf(device)
	if err != nil {
		f.Fatal(err)
	}
	good, err := reply{names: names, device: device, at: netip.MustParseAddrPort("192.168.1.9:7430"), ttl: recordTTL}.pack()
	if err != nil {
		f.Fatal(err)
	}
	query, err := question()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add(query)
	f.Fuzz(func(t *testing.T, data []byte) {
		answered(data, device)
		if id, questions, ok := asked(data, names); ok {
			r := reply{names: names, device: device, at: netip.MustParseAddrPort("192.168.1.9:7430"), legacy: true, id: id, questions: questions}
			if _, err := r.pack(); err != nil {
				t.Errorf("a question cannot be answered: %v", err)
			}
		}
	})
}
