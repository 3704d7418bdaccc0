package client_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/scorel/scorel/packages/client"
)

// TestADirectConnectionThatEnds is reported in words for people.
func TestADirectConnectionThatEnds(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{client.DirectSubprotocol}})
		if err != nil {
			t.Error(err)
			return
		}
		_ = ws.CloseNow() // as a host whose process ends
	}))
	defer server.Close()
	transport, err := client.DialDirect(t.Context(), strings.TrimPrefix(server.URL, "http://"), "token")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = transport.Close() }() // it is closed already
	_, err = transport.Receive(t.Context())
	if err == nil || err.Error() != "the other side closed the connection" || !errors.Is(err, io.EOF) {
		t.Errorf("got %v", err)
	}
}
