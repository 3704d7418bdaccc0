package relayconn

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"syscall"
	"testing"
)

// TestBriefSaysWhy: errors of real requests lose their layers and keep their cause.
func TestBriefSaysWhy(t *testing.T) {
	get := func(url string) error {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		transport := &http.Transport{}
		defer transport.CloseIdleConnections()
		response, err := (&http.Client{Transport: transport}).Do(request)
		if err == nil {
			_ = response.Body.Close()
		}
		return fmt.Errorf("asking: %w", err)
	}
	secured := httptest.NewTLSServer(http.NotFoundHandler())
	defer secured.Close()
	closed := httptest.NewServer(nil)
	closed.Close()
	refused := Brief(get(closed.URL))
	if refused.Error() != "connection refused" || !errors.Is(refused, syscall.ECONNREFUSED) {
		t.Errorf("got %v", refused)
	}
	for want, err := range map[string]error{
		"x509: certificate signed by unknown authority": get(secured.URL),
		"there is no relay.test":                        &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "relay.test", IsNotFound: true}},
		"looking up relay.test failed":                  &net.DNSError{Err: "server misbehaving", Name: "relay.test"},
		"no answer in time":                             fmt.Errorf("dialing: %w", context.DeadlineExceeded),
		"other":                                         errors.New("other"),
	} {
		if got := Brief(err); got.Error() != want || !errors.Is(got, err) {
			t.Errorf("%v became %v, want %s", err, got, want)
		}
	}
	if Brief(nil) != nil {
		t.Error("no error became one")
	}
}
