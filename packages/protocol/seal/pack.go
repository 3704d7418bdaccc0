package seal

import (
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"sync"
)

// A deflater takes over a megabyte of memory and a message only a few kilobytes:
// allocated for each message, deflaters would be nearly all of the host's garbage.
// The pools are caches; nothing depends on their contents.
var (
	deflaters = sync.Pool{New: func() any {
		w, _ := flate.NewWriter(io.Discard, flate.BestSpeed) // fails only for an invalid level
		return w
	}}
	inflaters = sync.Pool{New: func() any { return flate.NewReader(bytes.NewReader(nil)) }}
)

// pack deflates a message if that pays, and returns its kind and the body after the
// kind byte: the message itself or newly allocated memory.
func pack(message []byte) (kind byte, body []byte) {
	if len(message) < compressFrom || !compressible(message) {
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

// compressible estimates whether deflating a message pays. Random, encrypted and
// already compressed bytes cost the most to deflate and gain nothing.
//
// It counts how often two sampled bytes are equal. Of n bytes spread evenly over
// 256 values about n(n-1)/512 pairs are equal; JSON, code and prose of any script
// repeat few values and have at least four times as many.
func compressible(message []byte) bool {
	const samples = 256
	var seen [256]uint16
	pairs, step := 0, max(1, len(message)/samples)
	for i := range samples {
		b := message[i*step]
		pairs += int(seen[b])
		seen[b]++
	}
	return pairs > 2*samples*(samples-1)/512
}

// unpack reverses pack for a kind byte and the body after it. It never produces
// more than MaxMessage bytes.
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
	case src.Len() > 0: // browsers reject it, so we do too
		return nil, errors.New("extra bytes after the deflate data")
	}
	return out, nil
}
