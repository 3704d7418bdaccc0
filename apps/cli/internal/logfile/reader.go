package logfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// Reader reads the lines of a log from the oldest that is kept, and later those that were added.
// It is not safe for concurrent use.
type Reader struct {
	path   string
	before fs.FileInfo // of the older part; nil if there was none
	offset int64       // of the next unread byte
	rest   []byte      // of a line whose end is not written yet
}

// NewReader reads the log at a path. A log that is not there has no lines.
func NewReader(path string) *Reader { return &Reader{path: path} }

// Next returns the complete lines that were not read yet.
func (r *Reader) Next() ([]string, error) {
	var data []byte
	before, err := stat(r.path + older)
	if err != nil {
		return nil, err
	}
	moved := before != nil && (r.before == nil || !os.SameFile(before, r.before))
	if moved { // older lines were moved away since
		part, err := readFrom(r.path+older, r.offset)
		if err != nil {
			return nil, err
		}
		data, r.offset = part, 0
	}
	r.before = before
	part, err := readFrom(r.path, r.offset)
	if err != nil {
		return nil, err
	}
	r.offset += int64(len(part))
	return r.split(append(data, part...)), nil
}

// split returns the complete lines of what was read, and keeps the rest.
func (r *Reader) split(data []byte) []string {
	data = append(r.rest, data...)
	end := bytes.LastIndexByte(data, '\n') + 1
	r.rest = append([]byte(nil), data[end:]...)
	if end == 0 {
		return nil
	}
	return strings.Split(string(data[:end-1]), "\n")
}

func stat(path string) (fs.FileInfo, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the log: %w", err)
	}
	return info, nil
}

// readFrom returns what a file has behind an offset, with a bound.
func readFrom(path string, offset int64) (data []byte, err error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the log: %w", err)
	}
	defer func() { _ = file.Close() }() // it was only read
	if data, err = io.ReadAll(io.NewSectionReader(file, offset, 2*Limit)); err != nil {
		return nil, fmt.Errorf("reading the log: %w", err)
	}
	return data, nil
}
