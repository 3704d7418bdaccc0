package state

import (
	"fmt"
	"slices"
)

// maxRelays bounds the relays of a host: it stays connected to all of them.
const maxRelays = 8

// relays returns relay_url and relay_urls in this order.
func (f configFile) relays() ([]string, error) {
	if f.RelayURL != "" {
		if err := checkURL(f.RelayURL, "http", "https", "ws", "wss"); err != nil {
			return nil, fmt.Errorf("relay_url %w", err)
		}
	}
	all := slices.DeleteFunc([]string{f.RelayURL}, func(url string) bool { return url == "" })
	for i, url := range f.RelayURLs {
		if err := checkURL(url, "http", "https", "ws", "wss"); err != nil {
			return nil, fmt.Errorf("relay_urls[%d] %w", i, err)
		}
		if slices.Contains(all, url) {
			return nil, fmt.Errorf("relay_urls[%d] %q is listed twice: list each relay once, in relay_url or in relay_urls", i, url)
		}
		all = append(all, url)
	}
	if len(all) > maxRelays {
		return nil, fmt.Errorf("relay_urls lists %d relays, and a host uses at most %d: remove some", len(all), maxRelays)
	}
	return all, nil
}
