package paths

import (
	"errors"
	"testing"
)

// TestPathsThatFailForOneReason are named together.
func TestPathsThatFailForOneReason(t *testing.T) {
	t.Parallel()
	expired := errors.New("the access has expired")
	err := &FailedError{Attempts: []Attempt{
		{Path: Path{Kind: Machine, URL: "http://127.0.0.1:7430"}, Err: expired},
		{Path: Path{Kind: Relay, URL: "https://relay.example"}, Err: errors.New("no route")},
		{Path: Path{Kind: Relay, URL: "https://relay.example.org"}, Err: expired},
	}}
	const want = "no path reaches the device: this machine, relay.example.org: the access has expired; relay.example: no route"
	if got := err.Error(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	err.Attempts = err.Attempts[:1]
	if got := err.Error(); got != expired.Error() {
		t.Errorf("one path failed: %s", got)
	}
}
