package cli

import (
	"log/slog"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/cli/internal/devices"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/client/paths"
	"github.com/scorel/scorel/packages/mdns/mdnstest"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
)

// away is a machine of the local network with a device that is known at an old address only.
type away struct {
	connector
	home   string
	device devices.Device
}

// pairedAway pairs a client with a host, and moves the host to where the client does not know it.
func pairedAway(t *testing.T, l listening) away {
	t.Helper()
	via := connector{&environment{getenv: func(string) string { return "" }}, mdnstest.Loopback(t)}
	home := t.TempDir()
	keys, err := clientKeys(home)
	if err != nil {
		t.Fatal(err)
	}
	transport, err := client.DialDirect(t.Context(), l.own, l.host.State().Token)
	if err != nil {
		t.Fatal(err)
	}
	local := client.New(transport, nil)
	defer local.Close()
	public := pairBoth(t, local, "http://"+l.own, keys)
	device := devices.Device{
		ID: l.host.DeviceID(), Public: public, Label: "desk",
		RelayURL: "http://127.0.0.1:1", PairedAt: time.Now().UnixMilli(),
	}
	if err := devices.Add(filepath.Join(home, "devices.json"), device); err != nil {
		t.Fatal(err)
	}
	return away{via, home, device}
}

// announceAt announces an address of the host on the network of a client.
func (w away) announceAt(t *testing.T, l listening) {
	t.Helper()
	at := netip.MustParseAddrPort(l.own)
	p, err := startAnnouncing(t.Context(), w.network, l.host.DeviceID(), func() []netip.AddrPort { return []netip.AddrPort{at} }, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.stop(); err != nil {
			t.Errorf("announcing ended with %v", err)
		}
	})
}

// TestADeviceIsFoundWhenNoKnownPathAnswers, over real multicast, and is known from then on.
func TestADeviceIsFoundWhenNoKnownPathAnswers(t *testing.T) {
	l := startListening(t)
	w := pairedAway(t, l)
	w.announceAt(t, l)
	reached, err := w.reach(w.home, w.device)
	if err != nil {
		t.Fatal(err)
	}
	defer reached.Close()
	transport, err := reached.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c := client.New(transport, nil)
	defer c.Close()
	if info, err := client.Call(t.Context(), c, api.GetHost, api.Empty{}); err != nil || info.Host.DeviceID != w.device.ID {
		t.Errorf("found %+v, %v", info, err)
	}
	if used, _ := reached.Used(); used.Kind != paths.Network || used.URL != "http://"+l.own {
		t.Errorf("the path is %+v", used)
	}
	if now, err := storedDevice(w.home, w.device.ID); err != nil || len(now.Paths) == 0 {
		t.Errorf("stored %+v, %v", now.Paths, err)
	}
}

// TestSearchesCanBeTurnedOff: nothing is asked on the local network then.
func TestSearchesCanBeTurnedOff(t *testing.T) {
	via := connector{env: &environment{getenv: func(name string) string { return map[string]string{"SCOREL_MDNS": "off"}[name] }}}
	if via.finder(ident.ID{}) != nil {
		t.Error("it searches")
	}
}

// TestDevicesAreFoundOnRequest: `scorel devices --find` stores the path of a device that
// announces itself, and not that of another host that claims to be it.
func TestDevicesAreFoundOnRequest(t *testing.T) {
	l, other := startListening(t), startListening(t)
	w := pairedAway(t, l)
	at := netip.MustParseAddrPort(other.own)
	liar, err := startAnnouncing(t.Context(), w.network, l.host.DeviceID(), func() []netip.AddrPort { return []netip.AddrPort{at} }, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	list, err := w.find(t.Context(), w.home, []devices.Device{w.device})
	if err != nil || len(list) != 1 || len(list[0].Paths) != 0 {
		t.Errorf("with a liar: %+v, %v", list, err)
	}
	if err := liar.stop(); err != nil {
		t.Fatal(err)
	}
	w.announceAt(t, l)
	list, err = w.find(t.Context(), w.home, list)
	if err != nil || len(list[0].Paths) != 1 || list[0].Paths[0].URL != "http://"+l.own {
		t.Errorf("found %+v, %v", list, err)
	}
}

func TestAnnounceNeedsAListener(t *testing.T) {
	for text, ok := range map[string]bool{
		"192.168.1.5:7430": true, "0.0.0.0:7430": true, "[::]:7430": true, "127.0.0.1:7430": false, "[fd00::1]:7430": false, "": false,
	} {
		var listens []netip.AddrPort
		if text != "" {
			listens = append(listens, netip.MustParseAddrPort(text))
		}
		if err := checkAnnounce(true, listens); (err == nil) != ok || err != nil && !strings.Contains(err.Error(), "--listen") {
			t.Errorf("%q: %v", text, err)
		}
		if err := checkAnnounce(false, listens); err != nil {
			t.Errorf("%q without --announce: %v", text, err)
		}
	}
}
