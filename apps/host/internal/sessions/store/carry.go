package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/scorel/scorel/packages/protocol/session"
)

// Parts is the content of a session file, split for providers to store. Bytes joins it again.
type Parts struct {
	Header session.Header
	First  []byte            // up to the header, without its line end
	Lines  []json.RawMessage // all following lines, whatever they contain
}

// CheckImport makes the checks common to all implementations of Provider.Import.
func CheckImport(ctx context.Context, projectID string, data []byte) (Parts, error) {
	parts, err := Split(data)
	if err == nil {
		err = errors.Join(CheckName(projectID), ctx.Err())
	}
	if err != nil {
		err = fmt.Errorf("importing a session: %w", err)
	}
	return parts, err
}

// Split splits the content of a session file of any version. It keeps lines that cannot be
// parsed. It drops an incomplete last line, and migrates a file of version 1 or 2 as far as it
// can be parsed.
//
// ErrBadLine: not a session file, or one of a newer version. ErrBadName.
func Split(data []byte) (Parts, error) {
	f, err := session.ReadFile(data)
	if err != nil {
		return Parts{}, fmt.Errorf("%w: %w", ErrBadLine, err)
	}
	switch {
	case f.Migrated:
		data = f.MigratedBytes(data)
	case f.Header.Version != session.Version:
		return Parts{}, fmt.Errorf("%w: it has version %d, this program supports up to %d", ErrBadLine, f.Header.Version, session.Version)
	case f.Torn:
		data = data[:f.Whole]
	}
	if err := CheckName(f.Header.ID); err != nil {
		return Parts{}, err
	}
	lines := bytes.Split(bytes.TrimSuffix(data, []byte{'\n'}), []byte{'\n'})
	header, end := 0, len(lines[0])
	for !isHeader(lines[header]) && header+1 < len(lines) { // the lines before it cannot be parsed
		header++
		end += 1 + len(lines[header])
	}
	p := Parts{Header: f.Header, First: data[:end:end], Lines: make([]json.RawMessage, 0, len(lines)-header-1)}
	for _, line := range lines[header+1:] {
		p.Lines = append(p.Lines, line[:len(line):len(line)])
	}
	return p, nil
}

func isHeader(line []byte) bool {
	_, err := session.ReadFile(line)
	return err == nil
}

// Equal reports whether Bytes would return data, without a copy of it.
func (p Parts) Equal(data []byte) bool {
	begins := func(line []byte) (ok bool) {
		if data, ok = bytes.CutPrefix(data, line); ok {
			data, ok = bytes.CutPrefix(data, []byte{'\n'})
		}
		return ok
	}
	ok := begins(p.First)
	for i := 0; ok && i < len(p.Lines); i++ {
		ok = begins(p.Lines[i])
	}
	return ok && len(data) == 0
}

// Bytes joins the parts to a file.
func (p Parts) Bytes() []byte {
	size := len(p.First) + 1
	for _, line := range p.Lines {
		size += len(line) + 1
	}
	out := append(append(make([]byte, 0, size), p.First...), '\n')
	for _, line := range p.Lines {
		out = append(append(out, line...), '\n')
	}
	return out
}
