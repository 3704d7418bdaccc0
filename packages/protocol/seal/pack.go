package seal

import (
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"sync"
)

// A deflater takes over a megabyte to make and a message only a few kilobytes:
// made anew for each message, they would be nearly all of the host's garbage.
// The pools are caches; nothing depends on what is in them.
var (
	deflaters = sync.Pool{New: func() any {
		w, _ := flate.NewWriter(io.Discard, flate.BestSpeed) // fails for a bad level only
		return w
	}}
	inflaters = sync.Pool{New: func() any { return flate.NewReader(bytes.NewReader(nil)) }}
)

// pack deflates a message where that pays, and returns its kind and what goes behind
// the kind byte: the message itself, or memory of its own.
func pack(message []byte) (kind byte, body []byte) {
	if len(message) < compressFrom {
		return kindJSON, message
	}
	var b bytes.Buffer
	w := deflaters.Get().(*flate.Writer)
	w.Reset(&b)
	// Writing to memory cannot fail.
	_, _ = w.Write(message)
	_ = w.Close()
	deflaters.Put(w)
	if b.Len() >= len(message) {
		return kindJSON, message
	}
	return kindDeflated, b.Bytes()
}

// unpack is the reverse of pack, for a kind byte and what goes behind it. It never
// makes more than MaxMessage bytes.
func unpack(plain []byte) ([]byte, error) {
	if len(plain) == 0 {
		return nil, errors.New("empty message")
	}
	switch body := plain[1:]; plain[0] {
	case kindJSON:
		return body, nil
	case kindDeflated:
		return inflate(body)
	}
	return nil, fmt.Errorf("unknown kind %#02x in a chunked message", plain[0])
}

func inflate(body []byte) ([]byte, error) {
	src := bytes.NewReader(body) // an io.ByteReader, so that flate reads no further than the stream
	r := inflaters.Get().(io.ReadCloser)
	defer inflaters.Put(r)
	if err := r.(flate.Resetter).Reset(src, nil); err != nil {
		return nil, fmt.Errorf("inflating: %w", err)
	}
	out, err := io.ReadAll(io.LimitReader(r, MaxMessage+1))
	switch {
	case err != nil:
		return nil, errors.New("bad deflate data")
	case len(out) > MaxMessage:
		return nil, errors.New("inflated message over the limit")
	case src.Len() > 0: // browsers refuse it, so we do
		return nil, errors.New("bytes behind the deflate data")
	}
	return out, nil
}
