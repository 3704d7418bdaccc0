package model

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Bounds of a stream, in bytes, so that a server cannot exhaust the host's memory.
const (
	maxEvent  = 16 << 20
	maxStream = 64 << 20
)

var errStreamTooLarge = errors.New("the stream is larger than 64 MiB")

// readSSE calls onData with the data of every event until the stream ends, onData returns
// an error, or a bound is exceeded. alive is called for every line, including comments,
// which servers send to keep a connection open. The data is valid until onData returns.
func readSSE(r io.Reader, alive func(), onData func([]byte) error) error {
	lines := bufio.NewScanner(io.LimitReader(r, maxStream+1))
	lines.Buffer(nil, maxEvent)
	var data bytes.Buffer
	total := 0
	for lines.Scan() {
		alive()
		line := lines.Bytes()
		if total += len(line) + 1; total > maxStream {
			return errStreamTooLarge
		}
		if len(line) == 0 {
			if err := flush(&data, onData); err != nil {
				return err
			}
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		if string(field) != "data" {
			continue
		}
		if data.Len() > 0 {
			data.WriteByte('\n')
		}
		data.Write(bytes.TrimPrefix(value, []byte(" ")))
		if data.Len() > maxEvent {
			return bufio.ErrTooLong
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("reading the stream: %w", err)
	}
	// The last event may lack its blank line, because the server omits it or because the
	// connection was cut in the middle of the event.
	if json.Valid(data.Bytes()) || data.String() == "[DONE]" {
		return flush(&data, onData)
	}
	return nil
}

func flush(data *bytes.Buffer, onData func([]byte) error) error {
	if data.Len() == 0 {
		return nil
	}
	defer data.Reset()
	return onData(data.Bytes())
}
