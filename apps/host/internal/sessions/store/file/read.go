package file

import (
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"runtime"
	"sync"
)

const (
	stretch  = 4 << 20 // the least that is worth a goroutine of its own, in bytes
	maxReads = 8       // so that one long session does not take every processor
)

// readAll reads a file in one piece of memory. Most of the time of a long one goes to
// the kernel, which gives the memory out page by page: so it is read in stretches, side
// by side.
func readAll(f *os.File) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	size := info.Size()
	data := make([]byte, size, size+bytes.MinRead)
	if err := readStretches(f, data); err != nil {
		data = data[:0] // it became shorter, or cannot be read so: from the beginning, then
	}
	rest := bytes.NewBuffer(data)
	start := int64(len(data))
	_, err = rest.ReadFrom(io.NewSectionReader(f, start, math.MaxInt64-start))
	return rest.Bytes(), err
}

// readStretches fills data with what the file begins with.
func readStretches(f *os.File, data []byte) error {
	n := max(1, min(runtime.GOMAXPROCS(0), len(data)/stretch, maxReads))
	var reads sync.WaitGroup
	errs := make([]error, n)
	for i := range n {
		start, end := len(data)/n*i, len(data)/n*(i+1)
		if i == n-1 {
			end = len(data)
		}
		reads.Go(func() { _, errs[i] = f.ReadAt(data[start:end], int64(start)) })
	}
	reads.Wait()
	return errors.Join(errs...)
}
