package moves

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/protocol/api"
)

// Records are the records of the moves of a host, in both directions, each with the folder of
// its files. They are all that sessions and requests need to know of moves, and are loaded
// before the sessions. Their methods may be called from any goroutine.
//
// Locks are taken in this order: admission.deciding, move.files, move.changing, driver.mu,
// Records.mu. Whoever holds the files of an incoming move may take those of the outgoing moves
// that it replaces.
type Records struct {
	home string // with a folder for each move
	// changed is called after a record was stored. New sets it, before anything changes.
	changed func(*move)
	added   chan struct{} // holds one token after a move was added

	mu    sync.Mutex
	moves map[string]*move
}

// move is a record with what is only in memory. Its record is replaced as a whole.
type move struct {
	record  record // guarded by Records.mu; replaced only while changing is held
	sent    int64  // guarded by Records.mu
	trouble string // why it waits; guarded by Records.mu
	// wake ends the pause of a move that waits to be tried again.
	wake chan struct{}
	// files is held while its files are written or read.
	files sync.Mutex
	// changing is held while a changed record is stored, which can take long.
	changing sync.Mutex
}

// Load reads the records in a folder, which need not exist. A move that was prepared and not
// started has ended with the host before.
func Load(home string) (*Records, error) {
	l := &Records{home: home, changed: func(*move) {}, added: make(chan struct{}, 1), moves: map[string]*move{}}
	entries, err := os.ReadDir(home)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("moves: reading the records: %w", err)
	}
	for _, entry := range entries {
		if !entry.IsDir() || store.CheckName(entry.Name()) != nil {
			continue
		}
		r, err := readRecord(l.folder(entry.Name()))
		switch {
		case errors.Is(err, os.ErrNotExist): // it ended before it had a record
			if err := os.RemoveAll(l.folder(entry.Name())); err != nil {
				return nil, err
			}
			continue
		case err != nil:
			return nil, err
		}
		if !r.Incoming && r.State == api.MovePrepared {
			r.State, r.Error = api.MoveCanceled, "the host was restarted before the move was started"
		}
		l.moves[r.ID] = newMove(r)
	}
	return l, nil
}

func newMove(r record) *move { return &move{record: r, wake: make(chan struct{}, 1)} }

// folder returns the folder of the files of a move.
func (l *Records) folder(id string) string { return filepath.Join(l.home, id) }

// itemPath returns the file with an item of a move.
func (l *Records) itemPath(id string, i int) string { return filepath.Join(l.folder(id), itemName(i)) }

// of returns the record of a move as it is now.
func (l *Records) of(one *move) record {
	l.mu.Lock()
	defer l.mu.Unlock()
	return one.record
}

// add registers a new move, whose folder exists.
func (l *Records) add(r record) (*move, error) {
	if err := writeRecord(l.folder(r.ID), r); err != nil {
		return nil, err
	}
	one := newMove(r)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.moves[r.ID] = one
	select {
	case l.added <- struct{}{}:
	default:
	}
	return one, nil
}

// change stores a changed record. edit gets a copy; its error stores nothing.
func (l *Records) change(one *move, edit func(*record) error) error {
	one.changing.Lock()
	defer one.changing.Unlock()
	r := l.of(one)
	if err := edit(&r); err != nil {
		return err
	}
	if err := writeRecord(l.folder(r.ID), r); err != nil {
		return err
	}
	l.mu.Lock()
	one.record, one.trouble = r, ""
	l.mu.Unlock()
	l.changed(one)
	return nil
}

// errAlready is the error of an edit that finds nothing to change.
var errAlready = errors.New("moves: it is so already")

// setTrouble notes why a move waits.
func (l *Records) setTrouble(one *move, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	one.trouble = err.Error()
}

// setSent notes how many bytes the target has.
func (l *Records) setSent(one *move, sent int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	one.sent, one.trouble = sent, ""
}

// get returns the move with an id.
func (l *Records) get(id string) (*move, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	one, known := l.moves[id]
	return one, known
}

// find returns a move that the asking connection may know of. Others are unknown.
func (l *Records) find(id string, may func(record) bool) (*move, record, error) {
	if one, known := l.get(id); known {
		if r := l.of(one); may(r) {
			return one, r, nil
		}
	}
	return nil, record{}, unknownMove(id)
}

func unknownMove(id string) error {
	return api.Errorf(api.KindNotFound, "no move %.64q on this host", id)
}

// seen returns a move whose session is, was or will be in a project that the connection sees.
func (l *Records) seen(c *dispatch.Conn, id string) (*move, record, error) {
	return l.find(id, func(r record) bool { return c.SeesProject(r.ProjectID) })
}

// all returns the moves, newest first.
func (l *Records) all() []*move {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := slices.Collect(maps.Values(l.moves))
	slices.SortFunc(list, func(a, b *move) int { return int(b.record.CreatedAt - a.record.CreatedAt) })
	return list
}

// removeItems removes the files of a move, and keeps its record.
func (l *Records) removeItems(one *move) error {
	one.files.Lock()
	defer one.files.Unlock()
	return removeItems(l.folder(l.of(one).ID))
}

// drop forgets a move with all of its files.
func (l *Records) drop(one *move) error {
	one.files.Lock()
	defer one.files.Unlock()
	one.changing.Lock()
	defer one.changing.Unlock()
	id := l.of(one).ID
	if err := removeFolder(l.folder(id)); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.moves, id)
	return nil
}
