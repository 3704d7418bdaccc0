// Package bufpool lends byte buffers of three sizes, so that a connection holds
// memory only while bytes are in transit. A Pool is safe for concurrent use; a
// buffer belongs to the borrower until it is put back and must not be used
// afterwards.
package bufpool

import (
	"sync"
	"sync/atomic"
)

// The sizes in bytes that a Pool lends.
const (
	Small  = 1 << 10   // a control frame, a short record
	Medium = 16 << 10  // a usual batch
	Large  = 128 << 10 // holds any record with its framing, and the batch after it
)

// Pool lends buffers. The zero Pool is ready to use and must not be copied.
type Pool struct {
	small, medium, large sync.Pool
	lent                 atomic.Int64
}

// Lent returns how many bytes are borrowed.
func (p *Pool) Lent() int64 { return p.lent.Load() }

// SizeFor returns the size of the buffer that Get returns for n.
func SizeFor(n int) int {
	switch {
	case n <= Small:
		return Small
	case n <= Medium:
		return Medium
	}
	return Large
}

// Get returns an empty buffer whose capacity is the smallest size that holds n
// bytes; n over Large gets Large.
func (p *Pool) Get(n int) []byte {
	size := SizeFor(n)
	p.lent.Add(int64(size))
	switch size {
	case Small:
		if b, ok := p.small.Get().(*[Small]byte); ok {
			return b[:0]
		}
		return new([Small]byte)[:0]
	case Medium:
		if b, ok := p.medium.Get().(*[Medium]byte); ok {
			return b[:0]
		}
		return new([Medium]byte)[:0]
	default:
		if b, ok := p.large.Get().(*[Large]byte); ok {
			return b[:0]
		}
		return new([Large]byte)[:0]
	}
}

// Put takes a buffer back. A buffer of another capacity is left to the garbage
// collector. Pools hold pointers to arrays because those fit in an interface
// without an allocation.
func (p *Pool) Put(b []byte) {
	switch cap(b) {
	case Small, Medium, Large:
		p.lent.Add(-int64(cap(b)))
	}
	switch cap(b) {
	case Small:
		p.small.Put((*[Small]byte)(b[:Small]))
	case Medium:
		p.medium.Put((*[Medium]byte)(b[:Medium]))
	case Large:
		p.large.Put((*[Large]byte)(b[:Large]))
	}
}
