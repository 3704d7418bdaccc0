package relay_test

import (
	"errors"
	"io"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/relay/relaytest"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// A peer that closes its half and continues to read must not keep a socket of the relay
// in CLOSE_WAIT, at whatever stage it is.
func TestAHalfClosedSocketIsClosed(t *testing.T) {
	s := relaytest.Start(t, nil)
	request := "GET " + wire.ConnectPath + " HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: " + wire.Subprotocol + "\r\n\r\n"
	for name, sends := range map[string]string{
		"before a request":   "",
		"within a request":   request[:60],
		"after the upgrade":  request,
		"within a frame":     request + "\x81\xff\x00\x00\x00",
		"within a long text": request + "\x81\xfe\x01\x00\x00\x00\x00\x00 {",
	} {
		c, err := net.Dial("tcp", s.Authority())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(c, sends); err != nil {
			t.Fatal(err)
		}
		expectClosed(t, name, c.(*net.TCPConn))
	}
	for name, kind := range map[string]ident.Kind{"a host": ident.KindDevice, "an entry": ident.KindClient} {
		peer, err := relaytest.DialRaw(new(net.Dialer), s.Authority(), relaytest.NewKeys(t, kind), name)
		if err != nil {
			t.Fatal(err)
		}
		expectClosed(t, name, peer.Net)
	}
}

func expectClosed(t *testing.T, stage string, c *net.TCPConn) {
	t.Helper()
	defer c.Close()
	_ = c.SetReadDeadline(time.Now().Add(relaytest.Patience))
	if err := c.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, c); err != nil && !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("%s: the relay keeps its side open: %v", stage, err)
	}
}
