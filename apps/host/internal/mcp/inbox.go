package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Bounds of what waits of a channel server.
const (
	maxNotes     = 256
	maxNote      = 512 << 10 // bytes of one notification; a longer one is dropped
	maxNoteBytes = 4 << 20
)

// The notifications that are kept for the channel of a server, and the tools that belong to it.
const (
	notesOfClaude = "notifications/claude/channel"
	notesOfScorel = "notifications/scorel/channel"
	replyTool     = "reply"
	channelTools  = "scorel_"
)

var errFlood = errors.New("it sent more messages than can be handled")

// inbox holds the notifications of a server until its channel takes them.
type inbox struct {
	arrived chan struct{} // holds one token while there may be something

	mu       sync.Mutex
	notes    []note
	bytes    int
	attached bool
	flooded  bool
}

type note struct {
	method string
	params json.RawMessage
}

// put keeps a notification. A server that sends more than its channel takes is ended; while
// nothing is attached, the oldest is dropped instead.
func (i *inbox) put(n note) error {
	if len(n.params) > maxNote {
		return nil
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	for len(i.notes) >= maxNotes || i.bytes+len(n.params) > maxNoteBytes {
		if i.attached {
			i.flooded = true
			return errFlood
		}
		i.bytes -= len(i.notes[0].params)
		i.notes = i.notes[1:]
	}
	i.notes, i.bytes = append(i.notes, n), i.bytes+len(n.params)
	select {
	case i.arrived <- struct{}{}:
	default: // already known
	}
	return nil
}

// attach reserves the inbox for one link; false if there is one.
func (i *inbox) attach() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	was := i.attached
	i.attached = true
	return !was
}

func (i *inbox) detach() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.attached = false
}

// tap passes on what the SDK knows of a connection, and keeps the notifications of a channel.
type tap struct {
	sdk.Transport
	inbox *inbox
	conn  sdk.Connection // set by Connect
}

// Connect implements sdk.Transport.
func (t *tap) Connect(ctx context.Context) (sdk.Connection, error) {
	conn, err := t.Transport.Connect(ctx)
	t.conn = conn
	return &tapped{conn, t.inbox}, err
}

type tapped struct {
	sdk.Connection
	inbox *inbox
}

// Read implements sdk.Connection.
func (t *tapped) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		m, err := t.Connection.Read(ctx)
		r, ok := m.(*jsonrpc.Request)
		if err != nil || !ok || r.IsCall() || !strings.HasPrefix(r.Method, notesOfClaude) && !strings.HasPrefix(r.Method, notesOfScorel) {
			return m, err
		}
		if err := t.inbox.put(note{r.Method, r.Params}); err != nil {
			return nil, err
		}
	}
}
