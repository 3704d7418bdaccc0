package relay

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"

	"github.com/scorel/scorel/apps/relay/bus"
	"github.com/scorel/scorel/apps/relay/internal/cluster"
	"github.com/scorel/scorel/apps/relay/internal/ws"
	"github.com/scorel/scorel/apps/relay/store"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// auditOnly is a store in which nothing ever happened.
type auditOnly struct{ silentStore }

func (auditOnly) Audit(context.Context, int) ([]store.Event, error) { return nil, nil }

// What comes over the bus is no reason to fall over.
func FuzzHeard(f *testing.F) {
	const nameLen, headerLen = 16, 16 + 4 + 8 + 1 // of a trunk message
	beat, err := json.Marshal(cluster.Notice{Kind: cluster.NoticeBeat, Node: "aaaaaaaaaaaaaaab", Epoch: 1})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(true, bytes.Repeat([]byte{'a'}, headerLen))
	f.Add(true, append(append(bytes.Repeat([]byte{'a'}, nameLen), make([]byte, headerLen-1-nameLen)...), byte(ws.OpText), '{', '}'))
	f.Add(true, append(append(append(bytes.Repeat([]byte{'a'}, nameLen), make([]byte, headerLen-1-nameLen)...), byte(ws.OpBinary)), wire.AppendRecord(nil, 1, []byte("x"))...))
	f.Add(false, beat)
	f.Add(false, []byte(`{"kind":"open","node":"aaaaaaaaaaaaaaac","num":1}`))
	f.Add(false, []byte(`{"kind":"redeem","slot":"ABCD"}`))
	f.Add(false, []byte(`{"kind":"bound","slot":"ABCD"}`))
	r, err := New(Config{Store: auditOnly{}, Bus: bus.NewLocal()})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		if err := r.Shutdown(context.Background()); err != nil {
			f.Error(err)
		}
	})
	f.Fuzz(func(_ *testing.T, trunk bool, data []byte) {
		msg := bus.Message{Subject: cluster.SubjectNews, Data: data}
		if trunk {
			msg.Subject = cluster.NodeSubject(r.cluster.Self())
		}
		r.cluster.Receive(msg)
		msg.Respond = func([]byte) error { return nil }
		r.cluster.Receive(msg)
	})
}
