package uplink

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/protocol/api"
)

// TestWithoutARelay: a host without a relay says so, and does not wait for one.
func TestWithoutARelay(t *testing.T) {
	options := Options{Logger: slog.New(slog.DiscardHandler)}
	u := NewAll(nil, options)
	u.Run(t.Context()) // returns at once
	if url, state := u.Status(); url != "" || state != "off" {
		t.Errorf("status %q %q", url, state)
	}
	if paths := u.Paths(); len(paths) != 0 {
		t.Errorf("paths %v", paths)
	}
	_, err := NewPairings(u, options).create(t.Context(), nil, api.CreatePairingRequest{})
	if err == nil || !strings.Contains(err.Error(), "without a relay") {
		t.Errorf("a pairing: %v", err)
	}
}

// TestRelaysAreLimited: wherever they are listed.
func TestRelaysAreLimited(t *testing.T) {
	var urls []string
	for i := range maxRelays {
		urls = append(urls, fmt.Sprintf("https://relay%d.example", i))
	}
	if err := CheckURLs(urls); err != nil {
		t.Error(err)
	}
	if err := CheckURLs(append(urls, "https://one-more.example")); err == nil || !strings.Contains(err.Error(), "at most 8") {
		t.Errorf("one more: %v", err)
	}
}
