package host_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// knock connects and sends the beginning of a request.
func knock(t *testing.T, h *host.Host, head string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", h.State().Addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if _, err := io.WriteString(conn, head); err != nil {
		t.Fatal(err)
	}
	return conn
}

// unfinished is a request whose body never comes.
func unfinished(name, token string, size int) string {
	return fmt.Sprintf("POST /v1/%s HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n{", name, token, size)
}

// reply reads an answer and then the end of the connection.
func reply(t *testing.T, conn net.Conn) (status int, ended bool) {
	t.Helper()
	reader := bufio.NewReader(conn)
	response, err := http.ReadResponse(reader, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		t.Fatal(err)
	}
	_, err = reader.ReadByte()
	return response.StatusCode, err != nil
}

// TestStrangersAreNotWaitedFor: who shows no token is answered before a body comes, and
// the connection ends at once; and so does one that sends more than its request can have.
func TestStrangersAreNotWaitedFor(t *testing.T) {
	h := start(t, host.Config{})
	for name, c := range map[string]struct {
		head   string
		status int
	}{
		"no token":             {"POST /v1/get_host HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000000\r\n\r\n{", 401},
		"a wrong token":        {unfinished("get_host", "x", 1000), 401},
		"no length":            {"POST /v1/get_host HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n", 401},
		"no token, upgrading":  {"GET /v1/direct HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 9\r\n\r\n", 401},
		"a large small body":   {unfinished("list_sessions", h.State().Token, 15<<20), 413},
		"an unfinished prompt": {unfinished("send_prompt", h.State().Token, 17<<20), 413},
	} {
		t.Run(name, func(t *testing.T) {
			if status, ended := reply(t, knock(t, h, c.head)); status != c.status || !ended {
				t.Errorf("%d, ended %t", status, ended)
			}
		})
	}
}

// TestBytesInFlightAreBounded: a token holds only so many bodies open, and others are
// still served; when they end there is room again.
func TestBytesInFlightAreBounded(t *testing.T) {
	h := start(t, host.Config{})
	addToken(t, h, "greedy", api.GrantPrompt)
	const size = 6 << 20
	var held []net.Conn
	for range 5 {
		held = append(held, knock(t, h, unfinished("send_prompt", "greedy", size)))
	}
	e, greedy := newHTTPEntry(t, h, h.State().Token), newHTTPEntry(t, h, "greedy")
	body := `{"sessionId":"none","clientKey":"k","text":"` + strings.Repeat("x", 4<<20) + `"}`
	for status := 0; status != http.StatusTooManyRequests; { // until the five have come that far
		var answer []byte
		if status, answer = greedy.post("/v1/send_prompt", body); status != http.StatusTooManyRequests {
			wantHTTP(t, status, answer, http.StatusRequestEntityTooLarge, api.KindTooLarge) // the text is too long
		}
	}
	if status, answer := e.post("/v1/send_prompt", `{"sessionId":"none","clientKey":"k","text":"x"}`); status != http.StatusNotFound {
		t.Errorf("another token: %d %s", status, answer)
	}
	for _, conn := range held {
		_ = conn.Close()
	}
	for status := http.StatusTooManyRequests; status == http.StatusTooManyRequests; {
		status, _ = greedy.post("/v1/send_prompt", body)
	}
}

// TestLongMessagesAreCounted: messages of direct WebSockets count as bodies do.
func TestLongMessagesAreCounted(t *testing.T) {
	h := start(t, host.Config{})
	header := http.Header{"Authorization": {"Bearer " + h.State().Token}}
	failed := make(chan error, 8)
	piece := []byte(strings.Repeat(" ", 15<<20))
	for range 4 {
		ws, response, err := websocket.Dial(t.Context(), "ws://"+h.State().Addr+client.DirectPath, &websocket.DialOptions{HTTPHeader: header, Subprotocols: []string{client.DirectSubprotocol}})
		if err != nil {
			t.Fatal(err, response)
		}
		defer func() { _ = ws.CloseNow() }()
		go func() { _, _, err := ws.Read(t.Context()); failed <- err }()
		writer, err := ws.Writer(t.Context(), websocket.MessageText)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = writer.Write(piece) // the message does not end
	}
	select {
	case <-failed: // one of them was too much
	case <-time.After(time.Minute):
		t.Fatal("four unfinished messages of 15 MiB are held")
	}
	if _, err := dialCall(t, h); err != nil {
		t.Errorf("another connection: %v", err)
	}
}

func dialCall(t *testing.T, h *host.Host) (api.GetHostResponse, error) {
	return client.Call(t.Context(), dial(t, h, nil), api.GetHost, api.Empty{})
}
