package acp

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// readBuffer is how much is read at once; a longer line is put together.
const readBuffer = 64 << 10

// ErrLineTooLong is why a connection ended whose other side sent more than MaxLine bytes
// without a line break.
var ErrLineTooLong = fmt.Errorf("acp: a message is longer than %d MiB", MaxLine>>20)

// lineReader reads lines without their break.
type lineReader struct {
	r    *bufio.Reader
	long []byte // holds a line that is longer than the buffer of r
}

func newLineReader(r io.Reader) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, readBuffer)}
}

// next returns the next line that is not blank. It is valid until the next call. The last line
// counts without a break, too: what follows it is io.EOF.
func (l *lineReader) next(limit int) ([]byte, error) {
	for {
		line, err := l.line(limit)
		if line = bytes.TrimSpace(line); len(line) > 0 && (err == nil || errors.Is(err, io.EOF)) {
			return line, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func (l *lineReader) line(limit int) ([]byte, error) {
	piece, err := l.r.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return piece, err
	}
	l.long = nil // of the line before: it is not kept, so that one picture does not cost its size forever
	for {
		if len(l.long)+len(piece) > limit {
			return nil, ErrLineTooLong
		}
		l.long = append(l.long, piece...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return l.long, err
		}
		piece, err = l.r.ReadSlice('\n')
	}
}
