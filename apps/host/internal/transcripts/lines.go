package transcripts

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/scorel/scorel/packages/protocol/exactjson"
)

// openFile opens a regular file below root for reading. A link is refused.
func openFile(root *os.Root, name string) (*os.File, os.FileInfo, error) {
	before, err := root.Lstat(name)
	if err != nil {
		return nil, nil, err
	}
	if !before.Mode().IsRegular() {
		return nil, nil, ErrNotFound
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !os.SameFile(before, info) {
		err = ErrNotFound
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

// lineReader reads records that are lines, in bounded memory.
type lineReader struct {
	ctx     context.Context
	r       *bufio.Reader
	left    int64 // bytes that may still be read
	damaged int   // lines that were skipped because they are too long or no JSON objects
	torn    bool  // the last line has no end and is no JSON object
	close   func() error
}

// openLines opens a file of lines, which may be compressed. It reads at most limit bytes.
func openLines(ctx context.Context, root *os.Root, name string, limit int64) (*lineReader, os.FileInfo, error) {
	f, info, err := openFile(root, name)
	if err != nil {
		return nil, nil, err
	}
	l := &lineReader{ctx: ctx, left: limit, close: f.Close}
	if strings.HasSuffix(name, ".zst") {
		d, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(128<<20))
		if err != nil {
			return nil, nil, errors.Join(err, f.Close())
		}
		l.r = bufio.NewReaderSize(d, 64<<10)
		l.close = func() error { d.Close(); return f.Close() }
		return l, info, nil
	}
	l.r = bufio.NewReaderSize(f, 64<<10)
	return l, info, nil
}

// next returns the next line that is a JSON object; the caller may keep it. It returns io.EOF at
// the end, and ErrTooLarge at the limit.
func (l *lineReader) next() ([]byte, error) {
	for {
		if err := l.ctx.Err(); err != nil {
			return nil, err
		}
		line, ended, err := l.line()
		if err != nil {
			return nil, err
		}
		line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")))
		switch {
		case len(line) == 0 && ended:
		case isObject(line):
			return bytes.ToValidUTF8(line, []byte("\uFFFD")), nil
		case !ended:
			l.torn = len(line) > 0
		default:
			l.damaged++
		}
		if !ended {
			return nil, io.EOF
		}
	}
}

// line reads one line. ended reports whether it has a line end; one that is too long is nil.
func (l *lineReader) line() (line []byte, ended bool, _ error) {
	long := false
	for {
		part, err := l.r.ReadSlice('\n')
		if l.left -= int64(len(part)); l.left < 0 {
			return nil, false, ErrTooLarge
		}
		if long = long || len(line)+len(part) > maxLine; !long {
			line = append(line, part...)
		}
		switch {
		case err == nil && long:
			return []byte("?"), true, nil
		case err == nil:
			return line, true, nil
		case errors.Is(err, io.EOF) && long:
			return []byte("?"), false, nil
		case errors.Is(err, io.EOF):
			return line, false, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, false, err
		}
	}
}

func isObject(line []byte) bool {
	var object struct{}
	return len(line) > 0 && line[0] == '{' && exactjson.Unmarshal(line, &object) == nil
}

// files calls fn for each regular file below a folder of root whose name is accepted, to a depth.
// Links are not followed.
func files(ctx context.Context, root *os.Root, folder string, depth int, accept func(path string) bool, fn func(path string)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f, err := root.Open(folder)
	if err != nil {
		return nil // it was removed, or is not for us
	}
	entries, err := f.ReadDir(-1)
	_ = f.Close() // only read
	if err != nil {
		return nil
	}
	for _, entry := range entries {
		path := filepath.Join(folder, entry.Name())
		switch {
		case entry.IsDir() && depth > 0:
			if err := files(ctx, root, path, depth-1, accept, fn); err != nil {
				return err
			}
		case entry.Type().IsRegular() && accept(path):
			fn(path)
		}
	}
	return nil
}
