package client_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/coder/websocket"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/client/relayconn"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/seal"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// TestACloseIsSentFromAFullQueue: one that was lost would leave the other end with a channel that
// it believes to be open.
func TestACloseIsSentFromAFullQueue(t *testing.T) {
	frames := make(chan wire.Frame, 2)
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		ws, err := websocket.Accept(rw, r, &websocket.AcceptOptions{Subprotocols: []string{wire.Subprotocol}})
		if err != nil {
			t.Errorf("accepting: %v", err)
			return
		}
		defer func() { _ = ws.CloseNow() }()
		ws.SetReadLimit(wire.MaxMessage + 1)
		if err := welcome(r.Context(), ws); err != nil {
			t.Errorf("logging a peer in: %v", err)
			return
		}
		for {
			kind, data, err := ws.Read(r.Context())
			if err != nil {
				close(frames)
				return
			}
			if kind == websocket.MessageText {
				frame, err := wire.DecodeControl(data, wire.MaxControl)
				if err != nil {
					t.Errorf("a frame: %v", err)
				}
				frames <- frame
			}
		}
	}))
	defer server.Close()
	self, peer := keys(t, ident.KindClient), keys(t, ident.KindDevice)
	conn, err := relayconn.Dial(t.Context(), relayconn.Config{RelayURL: server.URL, Keys: self, Label: "entry"})
	if err != nil {
		t.Fatal(err)
	}
	full := make([][]byte, 65) // more than the queue holds; nothing is written before Run
	for i := range full {
		full[i] = make([]byte, wire.MaxRecordPayload)
	}
	if err := conn.SendRecords(t.Context(), 1, full...); err != nil {
		t.Fatal(err)
	}
	sealed, err := client.NewSealed(conn, testChannel, self, seal.Peer{ID: peer.ID(), Key: peer.Public().Seal}, nil)
	if err != nil {
		t.Fatal(err)
	}
	sealed.CloseWith(wire.ReasonSlowConsumer)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- conn.Run(ctx, deaf{}) }()
	if err := conn.Send(ctx, wire.CloseChannel{Channel: 1}); err != nil { // waits for room
		t.Fatal(err)
	}
	if frame, ok := (<-frames).(*wire.CloseChannel); !ok || frame.Channel != testChannel || frame.Reason != wire.ReasonSlowConsumer {
		t.Errorf("the relay got %+v", frame)
	}
	cancel()
	<-ended
}

// deaf is a handler of nothing.
type deaf struct{}

func (deaf) Control(wire.Frame) {}

func (deaf) Records(uint32, [][]byte) {}
