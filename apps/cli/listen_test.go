package cli

import (
	"bytes"
	"net"
	"testing"
)

func TestAWarningForARelayWithALocalName(t *testing.T) {
	all := &net.TCPAddr{IP: net.IPv4zero, Port: 7410}
	for _, c := range []struct {
		addr net.Addr
		urls []string
		warn bool
	}{
		{all, nil, true},
		{all, []string{"https://relay.example"}, false},
		{&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7410}, nil, false},
	} {
		var out bytes.Buffer
		warnNameless(&out, c.addr, c.urls)
		if warned := out.Len() > 0; warned != c.warn {
			t.Errorf("%s with %v: said %q", c.addr, c.urls, out.String())
		}
	}
}
