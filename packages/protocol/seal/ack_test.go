package seal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"
)

// sealedAck is the record of an acknowledgement.
func sealedAck(t testing.TB, from *Channel, received uint64) []byte {
	t.Helper()
	record, err := from.AppendPiece(nil, Ack(received))
	if err != nil {
		t.Fatal(err)
	}
	return record
}

func TestAcknowledgements(t *testing.T) {
	ack := func(received uint64) []byte { return binary.BigEndian.AppendUint64([]byte{kindAck}, received) }
	for why, c := range map[string]struct {
		plain  [][]byte
		acked  uint64
		broken bool // at the last of plain
	}{
		"none":                {},
		"one":                 {plain: [][]byte{ack(7)}, acked: 7},
		"of nothing yet":      {plain: [][]byte{ack(0)}},
		"further":             {plain: [][]byte{ack(7), ack(8)}, acked: 8},
		"the same again":      {plain: [][]byte{ack(7), ack(7)}, acked: 7},
		"the largest":         {plain: [][]byte{ack(1<<64 - 1)}, acked: 1<<64 - 1},
		"between chunks":      {plain: [][]byte{{kindChunk, kindJSON}, ack(9), {kindChunk}}, acked: 9},
		"going back":          {plain: [][]byte{ack(7), ack(6)}, acked: 7, broken: true},
		"going back to zero":  {plain: [][]byte{ack(1), ack(0)}, acked: 1, broken: true},
		"going back in chunk": {plain: [][]byte{ack(7), {kindChunk}, ack(6)}, acked: 7, broken: true},
		"without a number":    {plain: [][]byte{{kindAck}}, broken: true},
		"short":               {plain: [][]byte{ack(7)[:ackLen]}, broken: true},
		"long":                {plain: [][]byte{append(ack(7), 0)}, broken: true},
		"made of chunks":      {plain: [][]byte{append([]byte{kindLast}, ack(7)...)}, broken: true},
	} {
		t.Run(why, func(t *testing.T) {
			from, to := benchPair(t)
			for i, plain := range c.plain {
				record, err := encrypt(from, plain)
				if err != nil {
					t.Fatal(err)
				}
				got, err := to.Open(record)
				if wantErr := c.broken && i == len(c.plain)-1; wantErr != errors.Is(err, ErrBroken) || got != nil {
					t.Fatalf("record %d: %q, %v", i, got, err)
				}
			}
			if to.Acked() != c.acked || from.Acked() != 0 {
				t.Errorf("%d acknowledged, want %d; at the sender %d", to.Acked(), c.acked, from.Acked())
			}
			if _, err := to.Open(sealedAck(t, from, 1<<64-1)); c.broken != (err != nil) {
				t.Errorf("after that: %v", err)
			}
		})
	}
}

func TestAcknowledgementsGoBetweenPieces(t *testing.T) {
	from, to := benchPair(t)
	message := random(5 * maxPlaintext)
	pieces, err := Split(nil, message)
	if err != nil || len(pieces) != 6 {
		t.Fatalf("%d pieces, %v", len(pieces), err)
	}
	var got []byte
	for i, piece := range pieces {
		if opened, err := to.Open(sealedAck(t, from, uint64(i))); opened != nil || err != nil {
			t.Fatalf("acknowledgement %d: %q, %v", i, opened, err)
		}
		record, err := from.AppendPiece(nil, piece)
		if err != nil {
			t.Fatal(err)
		}
		if len(record) != piece.RecordLen() {
			t.Errorf("piece %d said %d bytes and is %d", i, piece.RecordLen(), len(record))
		}
		if got, err = to.Open(record); err != nil || (got != nil) != (i == len(pieces)-1) {
			t.Fatalf("piece %d: %d bytes, %v", i, len(got), err)
		}
	}
	if !bytes.Equal(got, message) || to.Acked() != uint64(len(pieces)-1) {
		t.Errorf("%d bytes came, %d acknowledged", len(got), to.Acked())
	}
}

// The window must take at least a record beside what an end may leave
// unacknowledged, or a sender could wait for an acknowledgement that never comes.
func TestWindowCannotStall(t *testing.T) {
	if AckEvery-1+MaxRecord > Window {
		t.Errorf("%d unacknowledged bytes and a record of %d do not fit a window of %d", AckEvery-1, MaxRecord, Window)
	}
}
