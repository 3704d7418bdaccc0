package relaytest

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// Raw is a logged-in peer on a bare socket, cheap enough for ten thousand in one
// process and usable without a testing.TB. One goroutine reads at a time; any may
// send. It starts no goroutine.
type Raw struct {
	Net     *net.TCPConn
	ID      ident.ID
	Welcome *wire.Welcome

	reader *bufio.Reader

	mu  sync.Mutex // of the socket's writing half
	buf []byte
}

// The opcodes of the WebSocket frames that a relay sends or understands.
const (
	opText   = 1
	opBinary = 2
	opClose  = 8
	opPing   = 9
	opPong   = 10
)

// loginPatience limits a login. It is shorter than Patience, so that a peer that
// dialed a frozen node returns while others wait for it.
const loginPatience = Patience / 2

// DialRaw connects to host:port and logs in as the owner of keys. dialer may set a
// local address. An error names the step at which the relay refused.
func DialRaw(dialer *net.Dialer, authority string, keys *ident.Private, label string) (*Raw, error) {
	c, err := dialer.Dial("tcp", authority)
	if err != nil {
		return nil, err
	}
	r := &Raw{Net: c.(*net.TCPConn), ID: keys.ID(), reader: bufio.NewReaderSize(c, 1024)}
	err = c.SetDeadline(time.Now().Add(loginPatience))
	if err == nil {
		err = r.login(authority, keys, label)
	}
	if err == nil {
		err = c.SetDeadline(time.Time{})
	}
	if err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

func (r *Raw) login(authority string, keys *ident.Private, label string) error {
	if err := r.upgrade(authority); err != nil {
		return err
	}
	first, err := r.nextFrame()
	if err != nil {
		return fmt.Errorf("reading relay_hello: %w", err)
	}
	greeting, ok := first.(*wire.RelayHello)
	if !ok {
		return fmt.Errorf("got %T before the login", first)
	}
	hello := wire.Hello{Authority: authority, Label: label}
	hello.Sign(keys, greeting.Nonce)
	var frame wire.Frame = &wire.EntryHello{Hello: hello}
	if r.ID.Kind() == ident.KindDevice {
		frame = &wire.HostHello{Hello: hello}
	}
	if err := r.Send(frame); err != nil {
		return err
	}
	answer, err := r.nextFrame()
	if err != nil {
		return fmt.Errorf("reading welcome: %w", err)
	}
	switch f := answer.(type) {
	case *wire.Welcome:
		r.Welcome = f
		return nil
	case *wire.ErrorFrame:
		return &wire.Error{Kind: f.Kind, Message: f.Message}
	}
	return fmt.Errorf("got %T for a login", answer)
}

func (r *Raw) upgrade(authority string) error {
	_, err := fmt.Fprintf(r.Net, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"+
		"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: %s\r\n\r\n", wire.ConnectPath, authority, wire.Subprotocol)
	if err != nil {
		return err
	}
	answer, err := http.ReadResponse(r.reader, nil)
	if err != nil {
		return fmt.Errorf("upgrading: %w", err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusSwitchingProtocols {
		return fmt.Errorf("upgrading: the relay answered %s", answer.Status)
	}
	return nil
}

// Send sends one control frame.
func (r *Raw) Send(f wire.Frame) error {
	data, err := wire.EncodeControl(f)
	if err != nil {
		return err
	}
	return r.write(opText, data)
}

// SendRecords sends one binary message, built with wire.AppendRecord.
func (r *Raw) SendRecords(batch []byte) error { return r.write(opBinary, batch) }

// write sends one frame with a mask of zeroes.
func (r *Raw) write(op byte, payload []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.buf = append(r.buf[:0], 0x80|op)
	switch n := len(payload); {
	case n < 126:
		r.buf = append(r.buf, 0x80|byte(n))
	case n <= 0xFFFF:
		r.buf = binary.BigEndian.AppendUint16(append(r.buf, 0x80|126), uint16(n))
	default:
		r.buf = binary.BigEndian.AppendUint64(append(r.buf, 0x80|127), uint64(n))
	}
	r.buf = append(append(r.buf, 0, 0, 0, 0), payload...)
	_, err := r.Net.Write(r.buf)
	return err
}

// Next returns the next frame or the records of the next message. It answers pings.
// It returns io.EOF for an orderly close.
func (r *Raw) Next() (wire.Frame, []wire.Record, error) {
	for {
		op, data, err := r.read()
		if err != nil {
			return nil, nil, err
		}
		switch op {
		case opText:
			f, err := wire.DecodeControl(data, wire.MaxControl)
			return f, nil, err
		case opBinary:
			records, err := splitRecords(data)
			return nil, records, err
		case opPing:
			if err := r.write(opPong, data); err != nil {
				return nil, nil, err
			}
		case opClose:
			return nil, nil, io.EOF
		}
	}
}

func (r *Raw) nextFrame() (wire.Frame, error) {
	f, records, err := r.Next()
	if err == nil && records != nil {
		return nil, fmt.Errorf("got %d records, want a frame", len(records))
	}
	return f, err
}

func splitRecords(data []byte) (out []wire.Record, err error) {
	for len(data) > 0 {
		rec, rest, err := wire.NextRecord(data)
		if err != nil {
			return nil, err
		}
		out, data = append(out, rec), rest
	}
	return out, nil
}

// read reads one frame: a relay sends no fragments and no masks.
func (r *Raw) read() (op byte, data []byte, err error) {
	var head [8]byte
	if _, err := io.ReadFull(r.reader, head[:2]); err != nil {
		return 0, nil, err
	}
	op = head[0] & 0x0f
	n := uint64(head[1])
	switch n {
	case 126:
		_, err = io.ReadFull(r.reader, head[:2])
		n = uint64(binary.BigEndian.Uint16(head[:]))
	case 127:
		_, err = io.ReadFull(r.reader, head[:])
		n = binary.BigEndian.Uint64(head[:])
	}
	if err != nil || n == 0 {
		return op, nil, err
	}
	if n > wire.MaxMessage {
		return 0, nil, fmt.Errorf("the relay sent a frame of %d bytes", n)
	}
	data = make([]byte, n)
	_, err = io.ReadFull(r.reader, data)
	return op, data, err
}

// Goodbye closes in order: it sends a close frame and hangs up.
func (r *Raw) Goodbye() {
	_ = r.write(opClose, []byte{0x03, 0xe8}) // the relay may have hung up first
	r.Close()
}

// Close hangs up without a close frame. It may be called at any time.
func (r *Raw) Close() { _ = r.Net.Close() } // the relay sees the end either way

// Reset hangs up as a crash does: the relay's kernel gets a TCP reset.
func (r *Raw) Reset() {
	_ = r.Net.SetLinger(0) // fails only when it is closed
	r.Close()
}
