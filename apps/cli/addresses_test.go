package cli

import (
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

func TestListenAddresses(t *testing.T) {
	for address, want := range map[string]struct{ local, refused bool }{
		"127.0.0.1:0": {local: true}, "[::1]:7430": {local: true}, "localhost:7430": {local: true},
		"192.168.1.5:7430": {}, "10.0.0.1:1": {}, "172.16.3.4:1": {}, "100.64.1.2:7430": {}, "169.254.1.1:1": {}, "[fd00::1]:1": {},
		"0.0.0.0:7430": {}, ":7430": {}, "[::]:7430": {},
		"8.8.8.8:1": {refused: true}, "[2001:db8::1]:1": {refused: true}, "[fe80::1]:1": {refused: true}, "127.0.0.1": {refused: true},
	} {
		local, err := reachesLocally(address)
		if local != want.local || (err != nil) != want.refused {
			t.Errorf("%s: %v, %v", address, local, err)
		}
	}
}

// TestAddressesAreFollowed: a listener on all addresses names those of local networks that the
// machine has now, and the relay accepts these names and no others.
func TestAddressesAreFollowed(t *testing.T) {
	l := openLocal(t)
	port := netip.MustParseAddrPort(l.Addr().String()).Port()
	named := func(ip string) string {
		return "http://" + netip.AddrPortFrom(netip.MustParseAddr(ip), port).String()
	}
	list := []net.Addr{cidr(t, "127.0.0.1/8"), cidr(t, "192.168.7.7/24"), cidr(t, "8.8.8.8/24"), cidr(t, "fe80::1/64")}
	var mu sync.Mutex
	b := newBeside([]string{"https://desk.example"})
	b.page, b.gate = true, openGate([]net.Listener{l})
	ticks := make(chan time.Time)
	b.reached.ticks = ticks
	b.reached.addresses = func() ([]net.Addr, error) {
		mu.Lock()
		defer mu.Unlock()
		return list, nil
	}
	if err := b.reached.add(&net.TCPAddr{IP: net.IPv6unspecified, Port: int(port)}); err != nil {
		t.Fatal(err)
	}
	at := startListeningWith(t, b, l)
	transport, err := client.DialDirect(t.Context(), at.own, at.host.State().Token)
	if err != nil {
		t.Fatal(err)
	}
	c := client.New(transport, nil)
	defer c.Close()
	status := func(ip string) int {
		return request{to: at.network, method: "GET", path: "/", host: strings.TrimPrefix(named(ip), "http://")}.status(t)
	}
	check := func(want ...string) {
		t.Helper()
		want = append([]string{"http://" + at.own}, append(want, "https://desk.example")...)
		response, err := client.Call(t.Context(), c, api.ListPaths, api.Empty{})
		var got []string
		for _, path := range response.Paths {
			got = append(got, path.URL)
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("the paths are %q, %v, want %q", got, err, want)
		}
	}
	check(named("192.168.7.7"))
	mu.Lock()
	list = []net.Addr{cidr(t, "10.1.2.3/8"), cidr(t, "fd00::5/64")}
	mu.Unlock()
	ticks <- time.Now()
	ticks <- time.Now() // read once the first was handled
	check(named("10.1.2.3"), named("fd00::5"))
	for status("10.1.2.3") == 421 { // the relay reads its names beside
	}
	for ip, want := range map[string]int{"10.1.2.3": 200, "fd00::5": 200, "192.168.7.7": 421} {
		if got := status(ip); got != want {
			t.Errorf("a page of %s: status %d, want %d", ip, got, want)
		}
	}
	mu.Lock()
	list = nil
	mu.Unlock()
	ticks <- time.Now()
	ticks <- time.Now()
	check()
}

func cidr(t *testing.T, text string) net.Addr {
	t.Helper()
	ip, network, err := net.ParseCIDR(text)
	if err != nil {
		t.Fatal(err)
	}
	network.IP = ip
	return network
}
