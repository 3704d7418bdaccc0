package relay

import (
	"encoding/json"
	"time"

	"github.com/scorel/scorel/apps/relay/bus"
	"github.com/scorel/scorel/apps/relay/internal/cluster"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// ApplyBound makes the relay believe that another node has written a binding.
func (r *Relay) ApplyBound(device, client wire.Peer) error {
	data, err := json.Marshal(cluster.Notice{Kind: cluster.NoticeBound, Device: device, Client: client})
	if err == nil {
		r.cluster.Receive(bus.Message{Subject: cluster.SubjectNews, Data: data})
	}
	return err
}

// ReportLoss makes the relay believe that the bus dropped messages.
func (r *Relay) ReportLoss() { r.cluster.Receive(bus.Message{Lost: true}) }

// FillMemory borrows until a share in percent is used, and returns what gives it back.
func (r *Relay) FillMemory(percent int64) func() { return fillMemory(r, percent) }

// Grants reports whether a holder of so many bytes may have more.
func (r *Relay) Grants(held, more int) bool { return r.memory.Grants(held, more) }

// Lent is how many bytes of buffers are in use.
func (r *Relay) Lent() int64 { return r.conns.Pool.Lent() }

// Used is how much of the memory is in use, in bytes.
func (r *Relay) Used() int64 { return r.memory.Used() }

// AwaitNoConns returns when no connection is open, and reports whether that happened in time.
func (r *Relay) AwaitNoConns(patience time.Duration) bool {
	timeout := time.After(patience)
	for {
		r.mu.Lock()
		n := len(r.open)
		r.mu.Unlock()
		if n == 0 {
			return true
		}
		select {
		case <-r.left:
		case <-timeout:
			return false
		}
	}
}
