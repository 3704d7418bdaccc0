package loopback_test

import (
	"testing"

	"github.com/scorel/scorel/packages/loopback"
)

func TestIs(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": true, "localhost:7410": true, "LocalHost": true,
		"127.0.0.1": true, "127.0.0.1:80": true, "127.9.8.7": true,
		"::1": true, "[::1]": true, "[::1]:80": true, "::ffff:127.0.0.1": true,
		"": false, ":80": false, "0.0.0.0": false, "::": false, "192.168.1.5": false, "[fe80::1]:80": false,
		"localhost.example": false, "a.localhost": false, "127.0.0.1.example": false, "127.1": false, "2130706433": false,
	} {
		if got := loopback.Is(host); got != want {
			t.Errorf("%q: %t", host, got)
		}
	}
}
