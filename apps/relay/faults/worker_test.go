//go:build unix

package faults_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"time"

	"github.com/scorel/scorel/apps/relay/relaytest"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// worker has one host and one entry that are bound.
type worker struct {
	soak        *soak
	host, entry *ident.Private
	dialer      net.Dialer
	mute        []net.Conn // left open without a word, the oldest first
}

// The manners in which a connection ends.
const (
	goodbye = iota // a close frame
	hangUp         // TCP FIN
	reset          // TCP RST
	silence        // nothing: the relay must find out
)

var manners = []int{goodbye, hangUp, reset, silence}

func (w *worker) end(c *relaytest.Raw, manner int) {
	switch manner {
	case goodbye:
		c.Goodbye()
	case hangUp:
		c.Close()
	case reset:
		c.Reset()
	case silence:
		w.bury(c.Net)
	}
}

// bury leaves a socket open without a word, and closes the one that has been so
// for longest.
func (w *worker) bury(c net.Conn) {
	w.mute = append(w.mute, c)
	if len(w.mute) > graves {
		_ = w.mute[0].Close() // the relay has mostly found out
		w.mute = w.mute[1:]
	}
}

// cycle brings a host and an entry together, has one record echoed, and ends both.
func (w *worker) cycle() {
	if rand.N(8) == 0 {
		w.stub()
	}
	h, err := w.dial(w.host)
	if err != nil {
		return
	}
	defer w.end(h, manners[rand.N(len(manners))])
	e, err := w.dial(w.entry)
	if err != nil {
		return
	}
	defer w.end(e, manners[rand.N(len(manners))])
	w.soak.cycles.Add(1)
	if err := talkOnce(h, e); err != nil {
		w.soak.refusal.Store(err.Error())
		return
	}
	w.soak.channels.Add(1)
}

func (w *worker) dial(keys *ident.Private) (*relaytest.Raw, error) {
	node := w.soak.nodes[rand.N(len(w.soak.nodes))]
	w.soak.connects.Add(1)
	c, err := relaytest.DialRaw(&w.dialer, node.Addr(), keys, "soak")
	if err != nil {
		w.soak.refusal.Store(err.Error())
		return nil, err
	}
	return c, c.Net.SetDeadline(time.Now().Add(cycleTimeout))
}

// stub connects and gives up at a stage before the login.
func (w *worker) stub() {
	w.soak.connects.Add(1)
	addr := w.soak.nodes[rand.N(len(w.soak.nodes))].Addr()
	c, err := w.dialer.Dial("tcp", addr)
	if err != nil {
		return
	}
	request := fmt.Sprintf("GET %s HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"+
		"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: %s\r\n\r\n", wire.ConnectPath, addr, wire.Subprotocol)
	halfFrame := "\x81\xfe\x01\x00\x00\x00\x00\x00{"
	stages := []string{"", request[:20], request, request + halfFrame, request + "\x88\x80\x00\x00\x00\x00"}
	_, _ = c.Write([]byte(stages[rand.N(len(stages))])) // what the relay makes of it is its own affair
	switch rand.N(3) {
	case 0:
		_ = c.Close()
	case 1:
		_ = c.(*net.TCPConn).SetLinger(0)
		_ = c.Close()
	default:
		w.bury(c)
	}
}

func talkOnce(h, e *relaytest.Raw) error {
	if err := e.Send(&wire.OpenChannel{RequestID: "soak", DeviceID: h.ID}); err != nil {
		return err
	}
	onEntry, err := awaitOpened(e)
	if err != nil {
		return err
	}
	onHost, err := awaitOpened(h)
	if err != nil {
		return err
	}
	for _, way := range []struct {
		from, to *relaytest.Raw
		num      uint32
	}{{e, h, onEntry}, {h, e, onHost}} {
		if err := way.from.SendRecords(wire.AppendRecord(nil, way.num, []byte("soak"))); err != nil {
			return err
		}
		if err := awaitRecord(way.to); err != nil {
			return err
		}
	}
	return nil
}

func awaitOpened(c *relaytest.Raw) (uint32, error) {
	for {
		f, _, err := c.Next()
		if err != nil {
			return 0, err
		}
		switch f := f.(type) {
		case *wire.ChannelOpened:
			return f.Channel, nil
		case *wire.ErrorFrame:
			return 0, &wire.Error{Kind: f.Kind, Message: f.Message}
		}
	}
}

func awaitRecord(c *relaytest.Raw) error {
	for {
		f, records, err := c.Next()
		if err != nil || len(records) > 0 {
			return err
		}
		if closed, ok := f.(*wire.ChannelClosed); ok {
			return errors.New("the channel was closed: " + string(closed.Reason))
		}
	}
}
