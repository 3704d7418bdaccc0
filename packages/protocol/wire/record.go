package wire

import "encoding/binary"

// Record is one payload on one channel. Payload aliases the message it was read
// from.
type Record struct {
	Channel uint32
	Payload []byte
}

// AppendRecord appends a record to a message under construction. The caller keeps
// payload within MaxRecordPayload.
func AppendRecord(message []byte, channel uint32, payload []byte) []byte {
	message = AppendRecordHeader(message, channel, len(payload))
	return append(message, payload...)
}

// AppendRecordHeader appends the 8 bytes in front of a payload of n bytes.
func AppendRecordHeader(message []byte, channel uint32, n int) []byte {
	message = binary.BigEndian.AppendUint32(message, channel)
	return binary.BigEndian.AppendUint32(message, uint32(n))
}

// ErrCutRecord is returned for a binary message that ends inside a record.
var ErrCutRecord = Errorf(KindBadFrame, "binary message ends inside a record")

// NextRecord splits the first record off a binary message and returns the rest. An
// incomplete record and an empty message are ErrCutRecord; a length of 0 or over
// MaxRecordPayload is another *Error of KindBadFrame. NextRecord does not allocate
// for a valid message.
func NextRecord(message []byte) (rec Record, rest []byte, err error) {
	if len(message) < RecordHeaderLen {
		return Record{}, nil, ErrCutRecord
	}
	n := binary.BigEndian.Uint32(message[4:])
	if n == 0 || n > MaxRecordPayload {
		return Record{}, nil, Errorf(KindBadFrame, "record of %d bytes: want 1 to %d", n, MaxRecordPayload)
	}
	body := message[RecordHeaderLen:]
	if uint64(len(body)) < uint64(n) {
		return Record{}, nil, ErrCutRecord
	}
	return Record{Channel: binary.BigEndian.Uint32(message), Payload: body[:n:n]}, body[n:], nil
}
