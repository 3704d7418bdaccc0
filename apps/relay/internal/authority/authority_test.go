package authority

import (
	"net/netip"
	"testing"
)

func TestClientAddr(t *testing.T) {
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	for _, tc := range []struct {
		remote    string
		forwarded []string
		want      string
	}{
		{"203.0.113.9:1", nil, "203.0.113.9"},
		{"203.0.113.9:1", []string{"1.2.3.4"}, "203.0.113.9"}, // not from a proxy of ours
		{"10.0.0.1:1", []string{"1.2.3.4"}, "1.2.3.4"},
		{"10.0.0.1:1", []string{"6.6.6.6, 1.2.3.4"}, "1.2.3.4"}, // the first is made up
		{"10.0.0.1:1", []string{"6.6.6.6", "1.2.3.4, 10.0.0.2"}, "1.2.3.4"},
		{"10.0.0.1:1", []string{"rubbish"}, "10.0.0.1"},
		{"10.0.0.1:1", []string{"1.2.3.4, unknown"}, "10.0.0.1"},
		{"10.0.0.1:1", []string{"1.2.3.4:5678"}, "1.2.3.4"}, // some proxies add the port
		{"10.0.0.1:1", []string{"[2001:db8::1]:5678"}, "2001:db8::"},
		{"10.0.0.1:1", []string{"[2001:db8::1]"}, "2001:db8::"},
		{"10.0.0.1:1", []string{"1.2.3.4, , 10.0.0.2,"}, "1.2.3.4"}, // empty elements are none
		{"10.0.0.1:1", []string{"", "1.2.3.4"}, "1.2.3.4"},
		{"10.0.0.1:1", []string{""}, "10.0.0.1"},
		{"10.0.0.1:1", []string{"10.0.0.3, ::ffff:10.0.0.2"}, "10.0.0.3"}, // made on our own network
		{"10.0.0.1:1", []string{"fe80::1%eth0"}, "fe80::"},
		{"[::ffff:10.0.0.1]:1", []string{"1.2.3.4"}, "1.2.3.4"},
		{"@", []string{"1.2.3.4"}, "invalid IP"}, // no address: no proxy is trusted
		{"[2001:db8:1:2:3::4]:1", nil, "2001:db8:1:2::"},
		{"[::ffff:203.0.113.9]:1", nil, "203.0.113.9"},
	} {
		if got := Key(ClientAddr(tc.remote, tc.forwarded, proxies)).String(); got != tc.want {
			t.Errorf("%s %v: %s, want %s", tc.remote, tc.forwarded, got, tc.want)
		}
	}
}
