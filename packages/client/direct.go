package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/coder/websocket"

	"github.com/scorel/scorel/packages/protocol/seal"
)

// DirectPath is where a host serves its direct WebSocket.
const DirectPath = "/v1/direct"

// DirectSubprotocol is the WebSocket subprotocol of the direct connection.
const DirectSubprotocol = "scorel.direct.v1"

// ErrDirect is returned if no host answered on this machine.
var ErrDirect = errors.New("the local host cannot be reached")

// DialDirect connects to a host on its own machine. addr is host:port; token is the
// one in the host's state file and is sent in a header, never in a URL.
func DialDirect(ctx context.Context, addr, token string) (Transport, error) {
	ws, response, err := websocket.Dial(ctx, "ws://"+addr+DirectPath, &websocket.DialOptions{
		Subprotocols: []string{DirectSubprotocol},
		HTTPHeader:   http.Header{"Authorization": {"Bearer " + token}},
	})
	if err != nil {
		if response != nil && response.StatusCode == http.StatusUnauthorized {
			return nil, fmt.Errorf("%w: it rejected the token in its state file", ErrDirect)
		}
		return nil, fmt.Errorf("%w at %s: %w", ErrDirect, addr, err)
	}
	ws.SetReadLimit(seal.MaxMessage)
	return direct{ws}, nil
}

// NewDirect returns a transport for an accepted WebSocket.
func NewDirect(ws *websocket.Conn) Transport {
	ws.SetReadLimit(seal.MaxMessage)
	return direct{ws}
}

type direct struct{ ws *websocket.Conn }

func (d direct) Send(ctx context.Context, message []byte) error {
	return d.ws.Write(ctx, websocket.MessageText, message)
}

func (d direct) Receive(ctx context.Context) ([]byte, error) {
	_, message, err := d.ws.Read(ctx)
	if errors.Is(err, io.EOF) {
		err = &endedError{err}
	}
	return message, err
}

// endedError reports in words for people that the other side has closed a connection.
type endedError struct{ cause error }

func (*endedError) Error() string   { return "the other side closed the connection" }
func (e *endedError) Unwrap() error { return e.cause }

func (d direct) Close() error { return d.ws.CloseNow() }
