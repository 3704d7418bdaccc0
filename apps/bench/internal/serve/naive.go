package serve

import (
	"context"
	"encoding/binary"
	"net"
	"net/http"
	"strconv"
	"sync"

	"github.com/coder/websocket"
)

// NaiveHeader is what stands in front of each message of the naive relay: the id of
// the receiver, or, when it arrives, of the sender, big endian.
const NaiveHeader = 4

// naive is the relay that one writes in an afternoon: a map of connections behind
// a mutex, one message in, one message out, written by the reader of the sender.
type naive struct {
	mu    sync.Mutex
	conns map[uint32]*websocket.Conn
}

func serveNaive(ctx context.Context, l net.Listener, _ Options, ready func(string)) error {
	n := &naive{conns: make(map[uint32]*websocket.Conn)}
	ready("")
	return serveHTTP(ctx, l, n)
}

func (n *naive) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.ParseUint(r.URL.Query().Get("id"), 10, 32)
	if err != nil {
		http.Error(w, "no id", http.StatusBadRequest)
		return
	}
	c, err := websocket.Accept(w, r, nil)
	if err != nil {
		return // Accept has answered
	}
	defer c.CloseNow()
	c.SetReadLimit(1 << 20)
	n.set(uint32(id), c)
	defer n.remove(uint32(id), c)
	for {
		_, message, err := c.Read(r.Context())
		if err != nil || len(message) < NaiveHeader {
			return
		}
		n.mu.Lock()
		to := n.conns[binary.BigEndian.Uint32(message)]
		n.mu.Unlock()
		if to == nil {
			continue
		}
		binary.BigEndian.PutUint32(message, uint32(id))
		_ = to.Write(r.Context(), websocket.MessageBinary, message) // the receiver's own reader sees it
	}
}

func (n *naive) set(id uint32, c *websocket.Conn) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.conns[id] = c
}

func (n *naive) remove(id uint32, c *websocket.Conn) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.conns[id] == c {
		delete(n.conns, id)
	}
}
