package cli

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
)

// TestProbesOfARelayFollowNoRedirect: checking whether a relay responds does not follow
// redirects.
func TestProbesOfARelayFollowNoRedirect(t *testing.T) {
	var asked atomic.Int32
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer inside.Close()
	relay := httptest.NewServer(http.RedirectHandler(inside.URL, http.StatusFound))
	defer relay.Close()
	if err := probeRelay(t.Context(), relay.URL); err != nil {
		t.Error(err)
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("the address inside was asked %d times", n)
	}
}
