package publicnet

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
)

func TestIs(t *testing.T) {
	for _, addr := range []string{
		"127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "255.255.255.255", "224.0.0.1", "198.18.0.1",
		"::1", "::", "fe80::1", "fd00::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "ff02::1", "::7f00:1", "2001:2::1", "192.88.99.1",
	} {
		if Is(netip.MustParseAddr(addr)) {
			t.Errorf("%s counts as public", addr)
		}
		if err := Control("tcp", netip.AddrPortFrom(netip.MustParseAddr(addr), 443).String(), nil); !errors.Is(err, ErrPrivate) {
			t.Errorf("%s is dialed", addr)
		}
	}
	for _, addr := range []string{"93.184.216.34", "2606:2800:220:1::1", "::ffff:93.184.216.34"} {
		if !Is(netip.MustParseAddr(addr)) {
			t.Errorf("%s does not count as public", addr)
		}
	}
}

func TestCheckHost(t *testing.T) {
	for host, private := range map[string]bool{
		"localhost": true, "app.localhost.": true, "nas": true, "NAS.local": true, "printer.lan.": true, "db.internal": true, "x.home.arpa": true,
		"192.168.1.1": true, "::1": true, "fe80::1%eth0": true,
		"example.com": false, "local.example.com": false, "my-lan.example": false, "93.184.216.34": false,
	} {
		if err := CheckHost(host); errors.Is(err, ErrPrivate) != private {
			t.Errorf("%s: %v", host, err)
		}
	}
}

// TestTransport: neither a server of this machine is reached, nor one through a proxy there.
func TestTransport(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a server of this machine was reached") }))
	defer server.Close()
	t.Setenv("HTTP_PROXY", server.URL)
	client := &http.Client{Transport: Transport()}
	for _, url := range []string{server.URL, "http://127.0.0.2:9"} {
		response, err := client.Get(url)
		if !errors.Is(err, ErrPrivate) {
			t.Errorf("%s: %v", url, err)
		}
		if err == nil {
			_ = response.Body.Close()
		}
	}
}
