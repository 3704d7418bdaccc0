package file

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Log is one session's file, open and locked.
type Log struct {
	provider *Provider
	id, path string
	file     *os.File
	readOnly bool // the file could only be opened for reading
	session  *session.File
	damage   string       // why the file cannot be written to, or ""
	entries  int          // number of entries when the file was opened
	size     atomic.Int64 // bytes of acknowledged lines
	// unsettled: the file may be longer, or a batch may be announced.
	unsettled bool
	closed    bool
}

// openFile opens a session for writing.
func (p *Provider) openFile(id, path string) (store.Log, error) {
	f, readOnly, err := p.lockFile(id, path)
	if err != nil {
		return nil, err
	}
	l := &Log{provider: p, id: id, path: path, file: f, readOnly: readOnly}
	if err := l.load(); err != nil {
		return nil, errors.Join(explain(err, "opening session "+id), state.CloseLocked(l.file))
	}
	p.mu.Lock()
	p.open[path] = &l.size
	p.mu.Unlock()
	writeOwner(path)
	return l, nil
}

// load reads the file and repairs what a crash left: only data that was never acknowledged.
func (l *Log) load() error {
	data, err := readAll(l.file)
	if err != nil {
		return err
	}
	kept := cutUnfinished(l.path, data)
	if l.session, err = session.ReadFile(kept); err != nil {
		return err
	}
	l.damage, l.entries = store.Damage(l.session), len(l.session.Tree.Entries())
	l.size.Store(int64(len(kept)))
	if l.session.Migrated && !l.readOnly {
		return l.migrate(kept)
	}
	if l.damage != "" || l.readOnly {
		return nil
	}
	if l.session.Torn {
		kept = kept[:l.session.Whole]
	}
	l.size.Store(int64(len(kept)))
	if cut := len(data) - len(kept); cut > 0 {
		l.provider.logger.Warn("removed an incomplete line that a crash left at the end", "file", filepath.Base(l.path), "bytes", cut)
		l.unsettled = true
	}
	if _, err := os.Lstat(l.path + endingBatch); err == nil {
		l.unsettled = true
	}
	if l.unsettled {
		if err := l.settle(); err != nil {
			return err
		}
	}
	if len(kept) > l.session.Whole {
		return l.endLine()
	}
	return nil
}

// endLine adds a missing line end to the last line, which another program wrote, so that the
// next entry starts a new line.
func (l *Log) endLine() error {
	if err := l.provider.disk.writeAt(l.file, []byte("\n"), l.size.Load()); err != nil {
		return fmt.Errorf("ending the last line: %w", err)
	}
	l.size.Add(1)
	return nil
}

// File implements store.Log.
func (l *Log) File() *session.File { return l.session }

// Append implements store.Log.
func (l *Log) Append(ctx context.Context, lines ...json.RawMessage) error {
	what := "appending to session " + l.id
	switch err := ctx.Err(); {
	case l.closed:
		return fmt.Errorf("%s: %w", what, store.ErrClosed)
	case err != nil:
		return fmt.Errorf("%s: %w", what, err)
	case l.damage != "":
		return fmt.Errorf("%s: %w", what, &store.DamageError{What: l.damage})
	case len(lines) == 0:
		return nil
	}
	if err := store.CheckLines(lines); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if l.readOnly {
		if err := l.reopen(); err != nil {
			return explain(err, what)
		}
	}
	return explain(l.write(join(lines), len(lines) > 1), what)
}

// write writes bytes after the acknowledged ones and syncs them. After an error the file ends
// as before, or is truncated before the next write.
func (l *Log) write(data []byte, several bool) error {
	disk, size := l.provider.disk, l.size.Load()
	if l.unsettled {
		if err := l.settle(); err != nil {
			return err
		}
	}
	var err error
	if several {
		err = l.announce(size, data)
	}
	if err == nil {
		l.unsettled = true
		err = disk.writeAt(l.file, data, size)
	}
	if err == nil {
		l.provider.syncs <- struct{}{}
		err = disk.sync(l.file)
		<-l.provider.syncs
	}
	if err != nil {
		_ = l.settle() // a failure is retried before the next write
		return err
	}
	l.unsettled = false
	l.size.Add(int64(len(data)))
	if several {
		l.unannounce()
	}
	return nil
}

// reopen checks whether a read-only file has become writable. Its content must be unchanged.
func (l *Log) reopen() error {
	f, err := os.OpenFile(l.path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Close(), state.CloseLocked(l.file)); err != nil { // our own lock would block us
		return errors.Join(store.ErrLost, err)
	}
	fresh, err := l.provider.openFile(l.id, l.path)
	if err != nil {
		l.closed = true
		return errors.Join(store.ErrLost, err)
	}
	log := fresh.(*Log)
	if log.readOnly || log.damage != "" || log.entries != l.entries {
		l.closed = true
		return errors.Join(store.ErrLost, log.Close())
	}
	l.file, l.readOnly, l.unsettled = log.file, false, log.unsettled
	l.size.Store(log.size.Load())
	l.provider.mu.Lock()
	l.provider.open[l.path] = &l.size
	l.provider.mu.Unlock()
	return nil
}

// Close implements store.Log.
func (l *Log) Close() error {
	if l.closed {
		return nil
	}
	l.closed = true
	l.provider.mu.Lock()
	delete(l.provider.open, l.path)
	l.provider.mu.Unlock()
	removeOwner(l.path)
	if err := state.CloseLocked(l.file); err != nil {
		return fmt.Errorf("closing session %s: %w", l.id, err)
	}
	return nil
}
