package uplink

import (
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
