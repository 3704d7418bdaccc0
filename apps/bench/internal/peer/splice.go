package peer

import (
	"context"
	"encoding/binary"
	"errors"
	"io"

	"github.com/scorel/scorel/apps/bench/internal/load"
)

// splice speaks to the TCP splice: records with a length in front, on one
// connection for each link. So a host with many entries is many endpoints.
type splice struct{}

// Connect implements Protocol.
func (splice) Connect(ctx context.Context, t Target, hosts, perHost int) (*load.Fleet, error) {
	n := hosts * perHost
	return connectBoth(n, n,
		func(i int) (load.Endpoint, error) { return dialSplice(ctx, t.HostAddr, uint32(i)) },
		func(i int) (load.Endpoint, error) { return dialSplice(ctx, t.EntryAddr, uint32(i)) })
}

// Idle implements Protocol.
func (splice) Idle(ctx context.Context, t Target, n int) (io.Closer, error) {
	e, err := dialSplice(ctx, t.HostAddr, uint32(n/2)) // a splice without its other half does nothing
	if err != nil {
		return nil, err
	}
	return keepIdle(e), nil
}

const lengthPrefix = 4

type spliceEnd struct {
	stream
	out []byte
}

func dialSplice(ctx context.Context, addr string, id uint32) (load.Endpoint, error) {
	c, err := dialTCP(ctx, addr)
	if err != nil {
		return nil, err
	}
	if _, err := c.Write(binary.BigEndian.AppendUint32(nil, id)); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return &spliceEnd{stream: newStream(c)}, nil
}

// Peers implements load.Endpoint.
func (e *spliceEnd) Peers() int { return 1 }

// Send implements load.Endpoint.
func (e *spliceEnd) Send(_ int, payload []byte) error {
	e.out = binary.BigEndian.AppendUint32(e.out, uint32(len(payload)))
	e.out = append(e.out, payload...)
	return nil
}

// Flush implements load.Endpoint.
func (e *spliceEnd) Flush() error {
	if len(e.out) == 0 {
		return nil
	}
	_, err := e.conn.Write(e.out)
	e.out = e.out[:0]
	return err
}

// Run implements load.Endpoint.
func (e *spliceEnd) Run(handle load.Handler) error {
	err := e.serve(func() error { return e.pending(handle) }, e.Flush)
	if errors.Is(err, io.EOF) { // the other side has closed: the run is over
		return nil
	}
	return err
}

func (e *spliceEnd) pending(handle load.Handler) error {
	for {
		raw := e.raw()
		if len(raw) < lengthPrefix {
			return nil
		}
		n := int(binary.BigEndian.Uint32(raw)) + lengthPrefix
		if len(raw) < n {
			return nil
		}
		e.take(n)
		if err := handle(0, raw[lengthPrefix:n]); err != nil {
			return err
		}
	}
}

// Close implements load.Endpoint.
func (e *spliceEnd) Close() error { return e.close() }
