package file

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/protocol/session"
)

var _ store.Tailer = (*Provider)(nil)

// seamBytes is how much of a file before a mark is compared, so that a replaced file is read
// again from the beginning.
const seamBytes = 4 << 10

// mark names a position after a line end, and the bytes before it.
type mark struct {
	offset int64
	seam   string
}

func markAt(data []byte, offset int64) mark {
	sum := sha256.Sum256(data[max(0, len(data)-seamBytes):])
	return mark{offset, hex.EncodeToString(sum[:8])}
}

func (m mark) String() string { return fmt.Sprintf("%d.%s", m.offset, m.seam) }

func parseMark(text string) (m mark, ok bool) {
	n, err := fmt.Sscanf(text, "%d.%s", &m.offset, &m.seam)
	return m, err == nil && n == 2 && m.offset > 0
}

func revision(info os.FileInfo) string {
	return fmt.Sprintf("%d.%d", info.Size(), info.ModTime().UnixNano())
}

// Tail implements store.Tailer.
func (p *Provider) Tail(ctx context.Context, id, from string) (tail store.Tail, err error) {
	if err := ctx.Err(); err != nil {
		return tail, fmt.Errorf("reading the end of session %.140q: %w", id, err)
	}
	path, err := p.find(id)
	if err != nil {
		return tail, fmt.Errorf("reading the end of a session: %w", err)
	}
	f, err := os.Open(path)
	if err != nil {
		return tail, explain(err, "reading the end of session "+id)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	// The revision is older than the data: lines that are appended in the meantime are read again.
	info, err := f.Stat()
	if err != nil {
		return tail, explain(err, "reading the end of session "+id)
	}
	size, open := info.Size(), p.acknowledged(path)
	if open >= 0 {
		size = min(size, open)
	}
	_, batch := os.Lstat(path + endingBatch)
	if place, ok := parseMark(from); ok && place.offset <= size && (open >= 0 || batch != nil) {
		tail, ok, err = readTail(f, place, size)
		if ok || err != nil {
			tail.Revision = revision(info)
			return tail, explain(err, "reading the end of session "+id)
		}
	}
	tail, err = readWhole(f, path, size)
	tail.Revision = revision(info)
	return tail, explain(err, "reading session "+id)
}

// acknowledged returns the number of acknowledged bytes of an open log; -1 if the log is not
// open here.
func (p *Provider) acknowledged(path string) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if size := p.open[path]; size != nil {
		return size.Load()
	}
	return -1
}

// readTail reads the lines between a position and size. ok is false if the content before the
// position changed, or a line is not an entry of the newest version.
func readTail(r io.ReaderAt, place mark, size int64) (tail store.Tail, ok bool, err error) {
	start := max(0, place.offset-seamBytes)
	data := make([]byte, size-start)
	if _, err := r.ReadAt(data, start); err != nil && !errors.Is(err, io.EOF) {
		return tail, false, err
	}
	seam := data[:place.offset-start]
	if markAt(seam, place.offset) != place || seam[len(seam)-1] != '\n' {
		return tail, false, nil
	}
	for rest := data[len(seam):]; len(rest) > 0; {
		line, after, ended := bytes.Cut(rest, []byte{'\n'})
		entry, err := session.ParseEntry(line[:len(line):len(line)])
		if err != nil || !ended || entry.Type == session.TypeSession {
			return store.Tail{}, false, nil
		}
		tail.Entries, rest = append(tail.Entries, entry), after
	}
	tail.Mark = markAt(data, size).String()
	return tail, true, nil
}

// readWhole reads a file from its beginning to size.
func readWhole(r io.ReaderAt, path string, size int64) (tail store.Tail, err error) {
	data := make([]byte, size)
	n, err := r.ReadAt(data, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return tail, err
	}
	data = cutUnfinished(path, data[:n])
	if tail.File, err = session.ReadFile(data); err != nil {
		return tail, err
	}
	f := tail.File
	if !f.Migrated && f.Header.Version == session.Version && len(f.Damage) == 0 && f.Whole == len(data) {
		tail.Mark = markAt(data, int64(len(data))).String()
	}
	return tail, nil
}
