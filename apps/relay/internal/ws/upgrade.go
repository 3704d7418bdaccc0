package ws

import (
	"bufio"
	"crypto/sha1"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"
)

const acceptGUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

// answerTimeout is how long sending the answer to a handshake may take.
const answerTimeout = 10 * time.Second

// Upgraded is a connection that has switched to WebSocket.
type Upgraded struct {
	net.Conn
	Early []byte // bytes that arrived after the request
}

// HandshakeError is returned for a request that is not a valid WebSocket handshake.
// Status is the HTTP status of the response.
type HandshakeError struct {
	Status int
	Text   string
}

func (e *HandshakeError) Error() string { return "ws: " + e.Text }

// Upgrade answers a handshake with 101 and takes the connection over from the HTTP
// server. The peer must offer the subprotocol. On a *HandshakeError nothing has
// been written yet; after any other error the connection is closed. Checking Origin
// and Host is left to the caller.
func Upgrade(w http.ResponseWriter, r *http.Request, subprotocol string) (*Upgraded, error) {
	key, err := checkHandshake(r, subprotocol)
	if err != nil {
		return nil, err
	}
	netConn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return nil, &HandshakeError{http.StatusNotImplemented, "this connection cannot be upgraded"}
	}
	// Hijacking the connection has removed the server's deadlines.
	_ = netConn.SetWriteDeadline(time.Now().Add(answerTimeout)) // fails only when it is closed
	early, err := readEarly(buffered.Reader)
	if err == nil {
		_, err = fmt.Fprintf(netConn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"+
			"Sec-WebSocket-Accept: %s\r\nSec-WebSocket-Protocol: %s\r\n\r\n", acceptKey(key), subprotocol)
	}
	if err != nil {
		_ = netConn.Close() // the first error is returned
		return nil, fmt.Errorf("ws: answering the handshake: %w", err)
	}
	return &Upgraded{Conn: netConn, Early: early}, nil
}

// readEarly copies what the HTTP server has already read, so that its buffer can be
// freed.
func readEarly(r *bufio.Reader) ([]byte, error) {
	n := r.Buffered()
	if n == 0 {
		return nil, nil
	}
	if n > IdleBuffer {
		return nil, fmt.Errorf("%d bytes arrived before the handshake was complete", n)
	}
	early := make([]byte, n)
	_, err := r.Read(early)
	return early, err
}

func checkHandshake(r *http.Request, subprotocol string) (key string, err error) {
	switch {
	case r.Method != http.MethodGet:
		return "", &HandshakeError{http.StatusMethodNotAllowed, "a WebSocket handshake needs GET"}
	case r.ProtoMajor != 1 || r.ProtoMinor < 1:
		return "", &HandshakeError{http.StatusUpgradeRequired, "a WebSocket handshake needs HTTP/1.1"}
	case !hasToken(r.Header, "Connection", "upgrade") || !hasToken(r.Header, "Upgrade", "websocket"):
		return "", &HandshakeError{http.StatusUpgradeRequired, "this address accepts WebSocket connections only"}
	case r.Header.Get("Sec-WebSocket-Version") != "13":
		return "", &HandshakeError{http.StatusBadRequest, "only WebSocket version 13 is supported"}
	case !hasToken(r.Header, "Sec-WebSocket-Protocol", subprotocol):
		return "", &HandshakeError{http.StatusBadRequest, "the handshake must offer the subprotocol " + subprotocol}
	}
	keys := r.Header.Values("Sec-WebSocket-Key")
	if len(keys) == 1 {
		key = strings.TrimSpace(keys[0])
		if raw, err := base64.StdEncoding.DecodeString(key); err == nil && len(raw) == 16 {
			return key, nil
		}
	}
	return "", &HandshakeError{http.StatusBadRequest, "Sec-WebSocket-Key must be 16 bytes in base64"}
}

func hasToken(h http.Header, name, token string) bool {
	return slices.ContainsFunc(h.Values(name), func(line string) bool {
		return slices.ContainsFunc(strings.Split(line, ","), func(part string) bool {
			return strings.EqualFold(strings.TrimSpace(part), token)
		})
	})
}

func acceptKey(key string) string {
	sum := sha1.Sum([]byte(key + acceptGUID))
	return base64.StdEncoding.EncodeToString(sum[:])
}
