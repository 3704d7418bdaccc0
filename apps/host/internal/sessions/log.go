// Package sessions keeps the sessions of a host. A session is one JSONL file; one
// goroutine owns it while it is open, and is the only writer. A line is on disk
// before anybody hears of it.
package sessions

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Log is an open session file. It is not safe for concurrent use.
type Log struct {
	file    *os.File
	size    int64 // bytes that are whole lines on disk
	header  session.Header
	tree    *session.Tree
	damage  string // "" while every line was read
	lastSeq uint64
	digest  digest
}

// ErrInUse says that another process has the file open.
var ErrInUse = errors.New("sessions: the session is open in another process")

// ErrDamaged says that the file holds a line that is no entry. It can be read,
// and is not written to.
var ErrDamaged = errors.New("sessions: the file is damaged")

// CreateLog makes a new session file below dir, with its header on disk.
func CreateLog(dir string, header session.Header) (*Log, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("sessions: %w", err)
	}
	name := strings.NewReplacer(":", "-", ".", "-").Replace(header.Timestamp) + "_" + header.ID + ".jsonl"
	file, err := os.OpenFile(filepath.Join(dir, name), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("sessions: %w", err)
	}
	l := &Log{file: file, header: header, tree: session.NewTree(nil)}
	if err := l.init(header); err != nil {
		return nil, errors.Join(err, file.Close(), os.Remove(file.Name()))
	}
	return l, nil
}

func (l *Log) init(header session.Header) error {
	if err := state.LockFile(l.file); err != nil {
		return fmt.Errorf("sessions: locking a new file: %w", err)
	}
	line, err := session.Encode(header)
	if err != nil {
		return err
	}
	if err := l.write(line); err != nil {
		return err
	}
	return syncDir(filepath.Dir(l.file.Name()))
}

// OpenLog opens a session file. A torn last line, which was never acknowledged,
// is cut off with a note in the log. Any other line that does not read is kept,
// reported by Damage, and closes the file for writing.
func OpenLog(path string, logger *slog.Logger) (*Log, error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("sessions: %w", err)
	}
	l := &Log{file: file}
	if err := l.load(logger); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return l, nil
}

func (l *Log) load(logger *slog.Logger) error {
	if err := state.LockFile(l.file); errors.Is(err, state.ErrLocked) {
		return fmt.Errorf("%w: %s", ErrInUse, l.file.Name())
	} else if err != nil {
		return fmt.Errorf("sessions: %w", err)
	}
	data, err := io.ReadAll(l.file)
	if err != nil {
		return fmt.Errorf("sessions: reading %s: %w", l.file.Name(), err)
	}
	parsed, err := parse(data)
	if err != nil {
		return fmt.Errorf("sessions: %s: %w", l.file.Name(), err)
	}
	l.header, l.damage, l.size = parsed.header, parsed.damage, parsed.whole
	l.tree, l.lastSeq = session.NewTree(parsed.entries), parsed.lastSeq
	for _, entry := range parsed.entries {
		l.digest.add(entry)
	}
	switch torn := int64(len(data)) - parsed.whole; {
	case l.damage != "":
		return nil
	case torn > 0:
		logger.Warn("cut off a torn last line", "file", filepath.Base(l.file.Name()), "bytes", torn)
		return l.truncate()
	case parsed.unended:
		return l.endLine()
	}
	return nil
}

// endLine ends a last line that another program left without its LF, so that the
// next entry is not glued to it.
func (l *Log) endLine() error {
	if _, err := l.file.WriteAt([]byte("\n"), l.size); err != nil {
		return fmt.Errorf("sessions: ending the last line of %s: %w", filepath.Base(l.file.Name()), err)
	}
	l.size++
	return nil
}

// maxSeq is the largest seq that a file may name: a number that JavaScript counts
// exactly, with room for all that follow.
const maxSeq = 1 << 52

type parsedFile struct {
	header  session.Header
	entries []session.Entry
	damage  string
	whole   int64 // bytes of whole lines
	unended bool  // the last of them is whole but has no LF
	lastSeq uint64
}

// parse reads a whole file. Entries get a seq where the file has none, or one
// that does not increase, so that every entry has one.
func parse(data []byte) (parsedFile, error) {
	var p parsedFile
	number := 0
	for !p.unended {
		line, rest, found := bytes.Cut(data[p.whole:], []byte("\n"))
		if !found && !json.Valid(line) {
			break
		}
		p.unended = !found
		p.whole = int64(len(data) - len(rest))
		number++
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		if p.header.ID == "" {
			header, err := session.ParseHeader(line)
			if err != nil {
				return p, err
			}
			p.header = header
			continue
		}
		p.add(line, number)
	}
	if p.header.ID == "" {
		return p, errors.New("the file has no session header")
	}
	return p, nil
}

func (p *parsedFile) add(line []byte, number int) {
	entry, err := session.ParseEntry(line)
	if entry.Type == session.TypeSession {
		return // a second header; no entry
	}
	if err != nil {
		if p.damage == "" {
			p.damage = fmt.Sprintf("line %d is not a session entry", number)
		}
		return
	}
	if entry.Seq > maxSeq {
		entry.Seq = 0
	}
	p.lastSeq = max(p.lastSeq+1, entry.Seq)
	entry.Seq = p.lastSeq
	p.entries = append(p.entries, entry)
}

// Append writes one entry and returns it once it is on disk. After an error the
// file ends as it did before.
func (l *Log) Append(line []byte) (session.Entry, error) {
	if l.damage != "" {
		return session.Entry{}, fmt.Errorf("%w: %s", ErrDamaged, l.damage)
	}
	entry, err := session.ParseEntry(line)
	if err != nil {
		return session.Entry{}, err
	}
	if err := l.write(line); err != nil {
		return session.Entry{}, err
	}
	l.tree.Add(entry)
	l.digest.add(entry)
	l.lastSeq = max(l.lastSeq, entry.Seq)
	return entry, nil
}

func (l *Log) write(line []byte) error {
	whole := append(line[:len(line):len(line)], '\n')
	_, err := l.file.WriteAt(whole, l.size)
	if err == nil {
		err = l.file.Sync()
	}
	if err != nil {
		return errors.Join(fmt.Errorf("sessions: writing to %s: %w", filepath.Base(l.file.Name()), err), l.truncate())
	}
	l.size += int64(len(whole))
	return nil
}

func (l *Log) truncate() error {
	if err := l.file.Truncate(l.size); err != nil {
		return fmt.Errorf("sessions: cutting %s back to its last whole line: %w", filepath.Base(l.file.Name()), err)
	}
	return nil
}

// Close closes the file and gives the lock back.
func (l *Log) Close() error { return l.file.Close() }

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sessions: %w", err)
	}
	syncErr := d.Sync()
	if os.PathSeparator == '\\' {
		syncErr = nil // Windows cannot sync a folder
	}
	return errors.Join(syncErr, d.Close())
}

func nowMillis() int64 { return time.Now().UnixMilli() }
