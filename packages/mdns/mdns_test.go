package mdns

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
	"golang.org/x/net/ipv4"

	"github.com/scorel/scorel/packages/protocol/ident"
)

// loopback is a network with real multicast that only this machine is in.
func loopback(t *testing.T) Network {
	t.Helper()
	all, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(all, func(i net.Interface) bool { return i.Flags&net.FlagLoopback != 0 })
	if at < 0 {
		t.Fatal("this machine has no loopback network")
	}
	free, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer free.Close()
	return Network{
		Group: netip.AddrPortFrom(netip.MustParseAddr("224.0.0.251"), sender(free.LocalAddr()).Port()),
		Interfaces: func() ([]Interface, error) {
			return []Interface{{all[at].Index, []netip.Prefix{netip.MustParsePrefix("127.0.0.1/8")}}}, nil
		},
		Local: netip.Addr.IsLoopback,
	}
}

func newDevice(t *testing.T) ident.ID {
	t.Helper()
	keys, err := ident.Generate(ident.KindDevice, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return keys.ID()
}

// announce announces a device until the test, or the returned function, ends it.
func announce(t *testing.T, n Network, device ident.ID, at ...netip.AddrPort) (stop func()) {
	t.Helper()
	a, err := Open(n, device, func() []netip.AddrPort { return at }, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("announcing ended with %v", err)
		}
	}
	t.Cleanup(stop)
	return stop
}

// TestAnAnnouncedDeviceIsFound over real multicast, also beside other devices, and not after it
// was withdrawn.
func TestAnAnnouncedDeviceIsFound(t *testing.T) {
	n, device, other := loopback(t), newDevice(t), newDevice(t)
	at := netip.MustParseAddrPort("127.0.0.1:7430")
	stop := announce(t, n, device, at)
	announce(t, n, other, netip.MustParseAddrPort("127.0.0.1:7431"))
	found, err := Find(t.Context(), n, device)
	if err != nil || len(found) != 1 || found[0] != (Found{device, at}) {
		t.Fatalf("found %v, %v", found, err)
	}
	found, err = Find(t.Context(), n, device, other)
	if err != nil || len(found) != 2 {
		t.Errorf("both: %v, %v", found, err)
	}
	stop()
	if found, err := Find(t.Context(), n, device); err != nil || len(found) != 0 {
		t.Errorf("after its end: %v, %v", found, err)
	}
}

// TestAnnouncementsAreHeardAndWithdrawn: programs that listen learn of the device, and of its
// end, without asking.
func TestAnnouncementsAreHeardAndWithdrawn(t *testing.T) {
	n, device := loopback(t), newDevice(t)
	socket, err := net.ListenPacket("udp4", n.Group.String())
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	list, _ := n.Interfaces()
	if err := ipv4.NewPacketConn(socket).JoinGroup(&net.Interface{Index: list[0].Index}, &net.UDPAddr{IP: n.Group.Addr().AsSlice()}); err != nil {
		t.Fatal(err)
	}
	next := func() (answer dnsmessage.Message) {
		t.Helper()
		data := make([]byte, maxMessage)
		size, from, err := socket.ReadFrom(data)
		if err == nil {
			err = answer.Unpack(data[:size])
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := sender(from); got.Addr() != netip.MustParseAddr("127.0.0.1") || got.Port() != n.Group.Port() {
			t.Errorf("it came from %s", got)
		}
		return answer
	}
	stop := announce(t, n, device, netip.MustParseAddrPort("127.0.0.1:7430"))
	if first := next(); len(first.Answers) != 4 || first.Answers[1].Header.TTL != recordTTL || len(first.Questions) != 0 {
		t.Errorf("the announcement is %+v", first)
	}
	stop()
	for last := next(); last.Answers[1].Header.TTL != 0; last = next() { // the second announcement may come first
	}
}

// TestAnAnnouncementTellsTheIDOnly: no name of the machine or its user.
func TestAnAnnouncementTellsTheIDOnly(t *testing.T) {
	device := newDevice(t)
	n, err := namesOf(device)
	if err != nil {
		t.Fatal(err)
	}
	data, err := reply{names: n, device: device, at: netip.MustParseAddrPort("192.168.1.5:7430"), ttl: recordTTL}.pack()
	if err != nil {
		t.Fatal(err)
	}
	var m dnsmessage.Message
	if err := m.Unpack(data); err != nil {
		t.Fatal(err)
	}
	id := device.String()
	want := []string{service + " " + id + "." + service, id + "." + service + " 7430 " + id + ".local.", id + "." + service + " v=1 id=" + id, id + ".local. 192.168.1.5"}
	var got []string
	for _, r := range m.Answers {
		text := r.Header.Name.String() + " "
		switch body := r.Body.(type) {
		case *dnsmessage.PTRResource:
			text += body.PTR.String()
		case *dnsmessage.SRVResource:
			text += "7430 " + body.Target.String()
		case *dnsmessage.TXTResource:
			text += body.TXT[0] + " " + body.TXT[1]
		case *dnsmessage.AResource:
			text += netip.AddrFrom4(body.A).String()
		}
		got = append(got, text)
	}
	if !slices.Equal(got, want) || len(m.Additionals)+len(m.Authorities) != 0 {
		t.Errorf("it tells %q, want %q", got, want)
	}
	if asked, err := question(); err != nil || len(asked) > 40 {
		t.Errorf("the question has %d bytes, %v: it names more than the service", len(asked), err)
	}
}

// TestAddressesThatChangeAreFollowed: the device is announced where it is now.
func TestAddressesThatChangeAreFollowed(t *testing.T) {
	n, device := loopback(t).withDefaults(), newDevice(t)
	at := []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:1")}
	a, err := Open(n, device, func() []netip.AddrPort { return at }, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer a.socket.Close()
	a.look()
	if len(a.places) != 1 || !a.joined[a.places[0].index] {
		t.Errorf("places %v, joined %v", a.places, a.joined)
	}
	at = []netip.AddrPort{netip.MustParseAddrPort("192.168.7.7:1")} // in no network of this machine
	a.look()
	if len(a.places) != 0 || len(a.joined) != 0 {
		t.Errorf("then places %v, joined %v", a.places, a.joined)
	}
}

// TestRepliesAreLimited, and go to the networks of the device only.
func TestRepliesAreLimited(t *testing.T) {
	n, device := loopback(t), newDevice(t)
	a, err := Open(n, device, func() []netip.AddrPort { return []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:1")} }, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer a.socket.Close()
	a.look()
	query, err := question()
	if err != nil {
		t.Fatal(err)
	}
	a.allowance = 2
	a.answer(datagram{query, netip.MustParseAddrPort("8.8.8.8:53")})
	a.answer(datagram{[]byte("garbage"), netip.MustParseAddrPort("127.0.0.1:9")})
	if a.allowance != 2 {
		t.Error("a stranger's question was answered")
	}
	for range 3 {
		a.answer(datagram{query, netip.MustParseAddrPort("127.0.0.1:9")})
	}
	if a.allowance != 0 {
		t.Errorf("%d replies are left", a.allowance)
	}
}
