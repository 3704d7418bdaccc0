package tool

import (
	"net/netip"
	"strings"
	"testing"
)

func TestParsePrivateAddress(t *testing.T) {
	for text, want := range map[string]PrivateAddress{
		"127.0.0.1":              {netip.MustParsePrefix("127.0.0.1/32"), 0},
		"127.0.0.1:8080":         {netip.MustParsePrefix("127.0.0.1/32"), 8080},
		"10.0.0.0/8":             {netip.MustParsePrefix("10.0.0.0/8"), 0},
		"10.0.0.0/8:80":          {netip.MustParsePrefix("10.0.0.0/8"), 80},
		"::1":                    {netip.MustParsePrefix("::1/128"), 0},
		"[::1]":                  {netip.MustParsePrefix("::1/128"), 0},
		"[::1]:3000":             {netip.MustParsePrefix("::1/128"), 3000},
		"fd00::/8":               {netip.MustParsePrefix("fd00::/8"), 0},
		"[fd00::/8]:443":         {netip.MustParsePrefix("fd00::/8"), 443},
		"::ffff:192.168.1.7":     {netip.MustParsePrefix("192.168.1.7/32"), 0},
		"[::ffff:192.168.1.7]:1": {netip.MustParsePrefix("192.168.1.7/32"), 1},
	} {
		if got, err := ParsePrivateAddress(text); err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"":                  "is not an address",
		"localhost":         "is not an address",
		"localhost:8080":    "is not an address",
		"*":                 "is not an address",
		"fe80::1%eth0":      "is not an address",
		"http://127.0.0.1/": "no port",
		"127.0.0.1:":        "no port",
		"127.0.0.1:0":       "no port",
		"127.0.0.1:70000":   "no port",
		"[::1]8080":         "such as [::1]:3000",
		"[::1]:":            "no port",
		"[::1":              "is not an address",
		"0.0.0.0/0":         "every address",
		"::/0":              "every address",
		"10.1.2.3/8":        "write 10.0.0.0/8",
	} {
		if got, err := ParsePrivateAddress(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v, %v, want %q", text, got, err, want)
		}
	}
}

// TestFetchReachesWhatIsOpened: a permitted address can be reached on a real listener, but
// no other port, no other spelling of the address, and nothing by a redirect.
func TestFetchReachesWhatIsOpened(t *testing.T) {
	server, other := site(t), site(t)
	address, err := ParsePrivateAddress(strings.TrimPrefix(server.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	set := open(t, Options{FetchPrivate: []PrivateAddress{address}}, Scope{})
	mapped := strings.Replace(server.URL, "127.0.0.1", "[::ffff:127.0.0.1]", 1)
	for url, reached := range map[string]bool{
		server.URL + "/json":                             true,
		mapped + "/json":                                 true,
		server.URL + "/to?url=/json":                     true,
		other.URL + "/json":                              false,
		server.URL + "/to?url=" + other.URL + "/json":    false,
		strings.Replace(server.URL, "0.0.1", "0.0.2", 1): false,
		"http://169.254.169.254/latest":                  false,
	} {
		result := set.call(t, "", "fetch_url", map[string]any{"url": url})
		text := result.Content.Plain()
		if got := !result.IsError && strings.Contains(text, `{"a":1}`); got != reached {
			t.Errorf("%s: %q", url, text)
		}
		if !reached && !strings.Contains(text, "is not a public address") {
			t.Errorf("%s was refused with %q", url, text)
		}
	}
}

func FuzzParsePrivateAddress(f *testing.F) {
	for _, text := range []string{"127.0.0.1:8080", "[::1]:3000", "10.0.0.0/8:1", "]:", "[]:1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParsePrivateAddress(text)
		if err == nil && (!p.Prefix.IsValid() || p.Prefix.Bits() == 0) {
			t.Errorf("%q opens %v", text, p.Prefix)
		}
	})
}
