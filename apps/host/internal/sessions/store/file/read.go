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
	stretch  = 4 << 20 // the minimum for which a goroutine pays off, in bytes
	maxReads = 8       // so that one long session does not occupy all processors
)

// readAll reads a file into one block of memory. For a long file most of the time goes to the
// kernel, which allocates the memory page by page, so stretches of the file are read
// concurrently.
func readAll(f *os.File) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	size := info.Size()
	data := make([]byte, size, size+bytes.MinRead)
	if err := readStretches(f, data); err != nil {
		data = data[:0] // it became shorter, or cannot be read this way: read it sequentially
	}
	rest := bytes.NewBuffer(data)
	start := int64(len(data))
	_, err = rest.ReadFrom(io.NewSectionReader(f, start, math.MaxInt64-start))
	return rest.Bytes(), err
}

// readStretches fills data with the beginning of the file.
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
