package httpapi

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/scorel/scorel/packages/client"
)

// Limits of what direct requests hold in memory, in bytes.
const (
	maxTaken         = 64 << 20 // of all
	maxTakenPerToken = 32 << 20 // of one token
	// smallMessage is the size up to which a message of a WebSocket is not counted, because
	// the number of connections is bounded.
	smallMessage = 64 << 10
	// takeStep is how much is counted at once of a longer one.
	takeStep = 1 << 20
)

// errIntake ends a connection whose message would exceed the memory for requests.
var errIntake = errors.New("too much is being sent to the host at once: wait a moment")

// intake counts the bytes of requests that are being received and handled.
type intake struct {
	mu      sync.Mutex
	all     int
	byToken map[string]int
}

func newIntake() *intake { return &intake{byToken: map[string]int{}} }

// take counts n more bytes of a caller; false if that exceeds a limit.
func (i *intake) take(token string, n int) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.all+n > maxTaken || i.byToken[token]+n > maxTakenPerToken {
		return false
	}
	i.all += n
	i.byToken[token] += n
	return true
}

func (i *intake) give(token string, n int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.all -= n
	if i.byToken[token] -= n; i.byToken[token] == 0 {
		delete(i.byToken, token)
	}
}

// counted is a direct WebSocket whose messages are counted, and must arrive in time once
// they have begun. The bytes of a message are given back with the next one.
type counted struct {
	client.Transport
	ws     *websocket.Conn
	intake *intake
	token  string

	held int // owned by Receive, and by release after it
}

func newCounted(ws *websocket.Conn, i *intake, token string) *counted {
	return &counted{Transport: client.NewDirect(ws), ws: ws, intake: i, token: token}
}

// Receive implements client.Transport.
func (c *counted) Receive(ctx context.Context) ([]byte, error) {
	c.release()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	_, reader, err := c.ws.Reader(ctx)
	if err != nil {
		return nil, err
	}
	late := time.AfterFunc(bodyTimeout, func() { cancel(errors.New("a message did not arrive completely in time")) })
	defer late.Stop()
	message, err := io.ReadAll(io.LimitReader(reader, smallMessage))
	for err == nil && len(message) >= smallMessage {
		if !c.intake.take(c.token, takeStep) {
			return nil, errIntake
		}
		c.held += takeStep
		var more []byte
		more, err = io.ReadAll(io.LimitReader(reader, takeStep))
		message = append(message, more...)
		if len(more) < takeStep {
			break
		}
	}
	return message, err
}

func (c *counted) release() {
	c.intake.give(c.token, c.held)
	c.held = 0
}
