package peer

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"

	"github.com/scorel/scorel/packages/protocol/wire"
)

// The opcodes that are met here (RFC 6455, section 5.2).
const (
	opText   = 0x1
	opBinary = 0x2
	opClose  = 0x8
	opPing   = 0x9
	opPong   = 0xA
)

// frameRoom is the longest header of a masked frame.
const frameRoom = 14

// socket is a WebSocket client as lean as the other loads: it reads what has
// arrived with one read and writes what is queued with one write. It belongs to one
// goroutine, but for Close.
type socket struct {
	stream
	out []byte // a frame under construction behind frameRoom bytes
}

// dialSocket connects and upgrades.
func dialSocket(ctx context.Context, addr, path, subprotocol string) (*socket, error) {
	c, err := dialTCP(ctx, addr)
	if err != nil {
		return nil, err
	}
	key := make([]byte, 16)
	binary.LittleEndian.PutUint64(key, rand.Uint64())
	request := fmt.Sprintf("GET %s HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"+
		"Sec-WebSocket-Key: %s\r\nSec-WebSocket-Protocol: %s\r\n\r\n", path, addr, base64.StdEncoding.EncodeToString(key), subprotocol)
	if _, err := io.WriteString(c, request); err != nil {
		return nil, errors.Join(fmt.Errorf("upgrading: %w", err), c.Close())
	}
	r := bufio.NewReaderSize(c, 1<<10)
	response, err := http.ReadResponse(r, nil)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("upgrading: %w", err), c.Close())
	}
	if response.StatusCode != http.StatusSwitchingProtocols {
		said, _ := io.ReadAll(io.LimitReader(response.Body, 200)) // for the message only
		return nil, errors.Join(fmt.Errorf("the relay answered %s: %s", response.Status, strings.TrimSpace(string(said))), c.Close())
	}
	s := &socket{stream: newStream(c), out: make([]byte, frameRoom, 256)}
	if n := r.Buffered(); n > 0 { // what came behind the answer
		s.end, err = r.Read(s.buf[:n])
	}
	return s, err
}

// next returns the next frame that is whole in the buffer.
func (s *socket) next() (op byte, payload []byte, ok bool) {
	raw := s.raw()
	if len(raw) < 2 {
		return 0, nil, false
	}
	n, at := uint64(raw[1]&0x7f), 2
	switch {
	case n == 126 && len(raw) >= 4:
		n, at = uint64(binary.BigEndian.Uint16(raw[2:])), 4
	case n == 127 && len(raw) >= 10:
		n, at = binary.BigEndian.Uint64(raw[2:]), 10
	case n >= 126:
		return 0, nil, false
	}
	if uint64(len(raw)-at) < n {
		return 0, nil, false
	}
	s.take(at + int(n))
	return raw[0] & 0x0f, raw[at : at+int(n)], true
}

// await returns the next frame.
func (s *socket) await() (op byte, payload []byte, err error) {
	for {
		if op, payload, ok := s.next(); ok {
			return op, payload, nil
		}
		if err := s.fill(); err != nil {
			return 0, nil, err
		}
	}
}

// record queues a record.
func (s *socket) record(channel uint32, payload []byte) error {
	if len(s.out)-frameRoom+wire.RecordHeaderLen+len(payload) > wire.MaxMessage {
		if err := s.flush(); err != nil {
			return err
		}
	}
	s.out = wire.AppendRecord(s.out, channel, payload)
	return nil
}

// flush sends the queued records in one message.
func (s *socket) flush() error {
	if len(s.out) == frameRoom {
		return nil
	}
	err := s.write(opBinary)
	s.out = s.out[:frameRoom]
	return err
}

// send sends one message of its own. Nothing may be queued.
func (s *socket) send(op byte, payload []byte) error {
	s.out = append(s.out, payload...)
	err := s.write(op)
	s.out = s.out[:frameRoom]
	return err
}

func (s *socket) write(op byte) error {
	n := len(s.out) - frameRoom
	key := rand.Uint32()
	mask(s.out[frameRoom:], key)
	binary.LittleEndian.PutUint32(s.out[frameRoom-4:], key)
	at := frameRoom - 4
	switch {
	case n <= 125:
		at -= 2
		s.out[at+1] = 0x80 | byte(n)
	case n <= 0xffff:
		at -= 4
		s.out[at+1] = 0x80 | 126
		binary.BigEndian.PutUint16(s.out[at+2:], uint16(n))
	default:
		at -= 10
		s.out[at+1] = 0x80 | 127
		binary.BigEndian.PutUint64(s.out[at+2:], uint64(n))
	}
	s.out[at] = 0x80 | op
	_, err := s.conn.Write(s.out[at:])
	return err
}

func mask(b []byte, key uint32) {
	wide := uint64(key)<<32 | uint64(key)
	for ; len(b) >= 8; b = b[8:] {
		binary.LittleEndian.PutUint64(b, binary.LittleEndian.Uint64(b)^wide)
	}
	for i := range b {
		b[i] ^= byte(key >> (8 * (i & 3)))
	}
}
