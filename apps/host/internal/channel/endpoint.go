package channel

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/scorel/scorel/packages/loopback"
)

// CheckEndpoint returns an error for the address of an API that a token may not be sent to:
// only https, and anything on this machine.
func CheckEndpoint(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil {
		return fmt.Errorf("%.200q is not an address such as https://example.com", address)
	}
	switch u.Scheme {
	case "https", "wss":
		return nil
	case "http", "ws":
		if loopback.Is(u.Host) {
			return nil
		}
		return fmt.Errorf("%s would send the token unencrypted: use %ss", address, strings.ToLower(u.Scheme))
	}
	return fmt.Errorf("%s has an unknown scheme: use https", address)
}
