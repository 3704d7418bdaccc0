package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/scorel/scorel/packages/protocol/api"
)

// TestLinkEnded: nobody typed the code of a link, so an expired one is not called mistyped.
func TestLinkEnded(t *testing.T) {
	err := api.Errorf(api.KindPairing, "this code is not valid: it was mistyped")
	end := time.Now()
	if got := linkEnded(err, end, end.Add(time.Second)); !strings.HasPrefix(got, "nobody opened the link in time") {
		t.Errorf("after the end: %s", got)
	}
	if got := linkEnded(err, end, end.Add(-time.Minute)); !strings.Contains(got, "mistyped; create a new one") {
		t.Errorf("before the end: %s", got)
	}
}
