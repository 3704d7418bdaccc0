package authority

import (
	"net/netip"
	"strings"
	"testing"
)

// FuzzClientAddr: whatever a stranger writes into X-Forwarded-For, it counts for itself,
// and behind a proxy what it writes changes nothing that the proxy added.
func FuzzClientAddr(f *testing.F) {
	for _, seed := range []string{"", ",", "10.0.0.1", "203.0.113.9, 10.0.0.2", "[::1]:80", "fe80::1%eth0", "unknown, 1.2.3.4:5", "::ffff:10.0.0.1", strings.Repeat("1,", 100)} {
		f.Add(seed)
	}
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	stranger, proxy, seen := "198.51.100.7:1", "10.0.0.1:1", netip.MustParseAddr("198.51.100.7")
	f.Fuzz(func(t *testing.T, header string) {
		if got := ClientAddr(stranger, []string{header}, trusted); got != seen {
			t.Errorf("a stranger with %q counts as %s", header, got)
		}
		for _, lines := range [][]string{{header + ", 198.51.100.7"}, {header, "198.51.100.7"}, {header, "198.51.100.7, 10.0.0.9"}} {
			if got := ClientAddr(proxy, lines, trusted); got != seen {
				t.Errorf("behind a proxy %q counts as %s", lines, got)
			}
		}
		if got := Key(ClientAddr(proxy, []string{header}, trusted)); !got.IsValid() || got.Zone() != "" {
			t.Errorf("%q counts as %v", header, got)
		}
	})
}
