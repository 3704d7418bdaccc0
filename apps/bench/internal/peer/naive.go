package peer

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/coder/websocket"

	"github.com/scorel/scorel/apps/bench/internal/load"
	"github.com/scorel/scorel/apps/bench/internal/serve"
)

// naive speaks to the naive relay with the same library: one record, one message.
type naive struct{}

// Connect implements Protocol. Hosts have the ids from 0, entries those behind them.
func (naive) Connect(ctx context.Context, t Target, hosts, perHost int) (*load.Fleet, error) {
	return connectBoth(hosts, hosts*perHost,
		func(i int) (load.Endpoint, error) {
			peers := make([]uint32, perHost)
			for k := range peers {
				peers[k] = uint32(hosts + i*perHost + k)
			}
			return dialNaive(ctx, t.HostAddr, i, peers)
		},
		func(i int) (load.Endpoint, error) {
			return dialNaive(ctx, t.EntryAddr, hosts+i, []uint32{uint32(i / perHost)})
		})
}

// Idle implements Protocol.
func (naive) Idle(ctx context.Context, t Target, n int) (io.Closer, error) {
	e, err := dialNaive(ctx, t.HostAddr, n, nil)
	if err != nil {
		return nil, err
	}
	return keepIdle(e), nil
}

type naiveEnd struct {
	ws     *websocket.Conn
	ids    []uint32
	peers  map[uint32]int
	out    []byte
	closed atomic.Bool
}

func dialNaive(ctx context.Context, addr string, id int, ids []uint32) (load.Endpoint, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	ws, _, err := websocket.Dial(ctx, fmt.Sprintf("ws://%s/?id=%d", addr, id), nil)
	if err != nil {
		return nil, fmt.Errorf("dialing the relay: %w", err)
	}
	ws.SetReadLimit(1 << 20)
	e := &naiveEnd{ws: ws, ids: ids, peers: make(map[uint32]int, len(ids))}
	for i, id := range ids {
		e.peers[id] = i
	}
	return e, nil
}

// Peers implements load.Endpoint.
func (e *naiveEnd) Peers() int { return len(e.ids) }

// Send implements load.Endpoint. It does not wait for Flush.
func (e *naiveEnd) Send(peer int, payload []byte) error {
	e.out = binary.BigEndian.AppendUint32(e.out[:0], e.ids[peer])
	e.out = append(e.out, payload...)
	return e.ended(e.ws.Write(context.Background(), websocket.MessageBinary, e.out))
}

// Flush implements load.Endpoint.
func (e *naiveEnd) Flush() error { return nil }

// Run implements load.Endpoint.
func (e *naiveEnd) Run(handle load.Handler) error {
	for {
		_, message, err := e.ws.Read(context.Background())
		if err != nil {
			return e.ended(err)
		}
		if len(message) < serve.NaiveHeader {
			return errors.New("a message without a sender")
		}
		peer := e.peers[binary.BigEndian.Uint32(message)]
		if err := handle(peer, message[serve.NaiveHeader:]); err != nil {
			return err
		}
	}
}

func (e *naiveEnd) ended(err error) error {
	if e.closed.Load() {
		return nil
	}
	return err
}

// Close implements load.Endpoint.
func (e *naiveEnd) Close() error {
	e.closed.Store(true)
	return e.ws.CloseNow()
}
