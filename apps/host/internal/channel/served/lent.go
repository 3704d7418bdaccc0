package served

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/scorel/scorel/apps/host/internal/channel"
	"github.com/scorel/scorel/apps/host/internal/channel/wire"
)

// maxLent is how many files are read, and how many are written, at the same time.
const maxLent = 4

type source = io.ReadCloser

// lent are the files that a client reads or writes in parts. The oldest are given up.
type lent struct {
	mu     sync.Mutex
	reads  []*reading
	writes []*writing
}

type reading struct {
	ref string
	at  int64
	r   source
}

type writing struct {
	name string
	data []byte
}

func newLent() *lent { return &lent{} }

// close closes what is still being read.
func (l *lent) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range l.reads {
		_ = r.r.Close()
	}
	l.reads, l.writes = nil, nil
}

// read reads the part of a file from a position on. A part that follows the one before continues;
// otherwise the file is opened again.
func (l *lent) read(ref string, at int64, open func() (source, error)) (data []byte, last bool, err error) {
	if at < 0 || at > channel.MaxFile {
		return nil, false, fmt.Errorf("a position outside of the file: %w", channel.ErrRejected)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.IndexFunc(l.reads, func(r *reading) bool { return r.ref == ref && r.at == at })
	if i < 0 {
		r, err := open()
		if err != nil {
			return nil, false, err
		}
		if _, err := io.CopyN(io.Discard, r, at); err != nil {
			return nil, false, errors.Join(err, r.Close())
		}
		if len(l.reads) >= maxLent {
			l.end(0)
		}
		l.reads = append(l.reads, &reading{ref, at, r})
		i = len(l.reads) - 1
	}
	one := l.reads[i]
	data = make([]byte, wire.MaxChunk)
	n, err := io.ReadFull(one.r, data)
	one.at += int64(n)
	if last = errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF); last {
		err = nil
	}
	if last || err != nil {
		l.end(i)
	}
	return data[:n], last, err
}

// end closes a file. l.mu is held.
func (l *lent) end(i int) {
	_ = l.reads[i].r.Close() // it was only read
	l.reads = slices.Delete(l.reads, i, i+1)
}

// write adds a part to a file. One at the beginning begins it again.
func (l *lent) write(name string, at int64, data []byte) error {
	if name == "" || len(name) > channel.MaxID {
		return fmt.Errorf("a file without a name: %w", channel.ErrRejected)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.IndexFunc(l.writes, func(w *writing) bool { return w.name == name })
	if i < 0 {
		if len(l.writes) >= maxLent {
			l.writes = l.writes[1:]
		}
		l.writes = append(l.writes, &writing{name: name})
		i = len(l.writes) - 1
	}
	one := l.writes[i]
	if at == 0 {
		one.data = nil
	}
	if at != int64(len(one.data)) || at+int64(len(data)) > channel.MaxFile {
		return fmt.Errorf("a part that does not follow the one before, or a file that is too large: %w", channel.ErrRejected)
	}
	one.data = append(one.data, data...)
	return nil
}

// written returns a file that was written.
func (l *lent) written(name string) ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range l.writes {
		if w.name == name {
			return w.data, nil
		}
	}
	return nil, errors.New("the file was not written, or was given up for another")
}

func (l *lent) forget(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.writes = slices.DeleteFunc(l.writes, func(w *writing) bool { return w.name == name })
}

func opener(data []byte) func() (source, error) {
	return func() (source, error) { return io.NopCloser(bytes.NewReader(data)), nil }
}
