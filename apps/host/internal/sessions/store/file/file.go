// Package file keeps sessions as files in Pi's format: <dir>/<project>/<time>_<id>.jsonl,
// a header line and a line per entry (docs/session-format.md). It keeps the
// contract of store.Provider.
//
// An append is one write and one fdatasync. Many sessions sync at once, because the
// file system's journal then takes all of them in one step; how many is bounded.
// An append of several lines is announced in a file beside (batch.go), so that a
// crash leaves all of them or none.
//
// While a session is open its file is locked, and a record beside it
// (<file>.owner) says by whom. The lock is the truth, the record is for people.
package file

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/session"
)

// maxSyncs bounds concurrent fdatasyncs. More of them raise the throughput until the journal is
// saturated; beyond that they only raise the latency.
const maxSyncs = 16

// Provider stores sessions below one folder.
type Provider struct {
	// Static after New.
	dir    string
	logger *slog.Logger
	disk   disk
	syncs  chan struct{} // one slot for each running sync

	mu    sync.Mutex
	paths map[string]string        // id -> path, as last seen
	open  map[string]*atomic.Int64 // path of an open log -> number of acknowledged bytes
}

var _ store.Provider = (*Provider)(nil)

// New returns a provider that stores sessions below dir and creates dir with the first session.
func New(dir string, logger *slog.Logger) *Provider {
	p := &Provider{
		dir: dir, logger: logger, syncs: make(chan struct{}, maxSyncs),
		paths: map[string]string{}, open: map[string]*atomic.Int64{},
	}
	p.removeLeftovers()
	return p
}

// Name endings of the files next to a session file.
const (
	ending       = ".jsonl"
	endingOwner  = ".owner"
	endingBatch  = ".batch"
	endingBackup = ".bak"
	endingTemp   = ".tmp"
)

// removeLeftovers removes files that a crash left incomplete. A recent one may belong to a
// running process.
func (p *Provider) removeLeftovers() {
	temps, _ := filepath.Glob(filepath.Join(p.dir, "*", ".*"+endingTemp)) // the pattern is valid
	for _, path := range temps {
		if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()) > time.Hour {
			_ = os.Remove(path) // retried next time
		}
	}
}

// Create implements store.Provider.
func (p *Provider) Create(ctx context.Context, projectID string, header json.RawMessage, lines ...json.RawMessage) (store.Log, error) {
	h, err := store.CheckCreate(ctx, projectID, header, lines)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(p.dir, projectID, fileName(h))
	switch _, err := p.find(h.ID); {
	case err == nil:
		return nil, fmt.Errorf("creating session %s: %w", h.ID, store.ErrExists)
	case !errors.Is(err, store.ErrNotFound):
		return nil, err
	}
	if err := p.makeNew(path, join(append([]json.RawMessage{header}, lines...))); err != nil {
		return nil, explain(err, "creating session "+h.ID)
	}
	p.mu.Lock()
	p.paths[h.ID] = path
	p.mu.Unlock()
	return p.openFile(h.ID, path)
}

func fileName(h session.Header) string {
	when := strings.NewReplacer(":", "-", ".", "-").Replace(h.Timestamp)
	if store.CheckName(when) != nil {
		when = "undated"
	}
	return when + "_" + h.ID + ending
}

func join(lines []json.RawMessage) []byte {
	var out []byte
	for _, line := range lines {
		out = append(append(out, line...), '\n')
	}
	return out
}

// makeNew creates a whole file at a new path, or nothing: one that stayed after an error would be
// a session that its caller creates again.
func (p *Provider) makeNew(path string, data []byte) error {
	if err := p.placeFile(path, data); err != nil {
		return err
	}
	if err := p.disk.syncDir(filepath.Dir(path)); err != nil {
		return errors.Join(err, removeIfThere(path))
	}
	return nil
}

// makeFile creates a whole file at path, in place of any other. After an error there may be either.
func (p *Provider) makeFile(path string, data []byte) error {
	if err := p.placeFile(path, data); err != nil {
		return err
	}
	return p.disk.syncDir(filepath.Dir(path))
}

// placeFile is makeFile, but the folder is not synced yet. After an error the path is unchanged.
func (p *Provider) placeFile(path string, data []byte) error {
	folder := filepath.Dir(path)
	if err := p.makeFolder(folder); err != nil {
		return err
	}
	temp := filepath.Join(folder, "."+rand.Text()+endingTemp)
	if err := p.writeTemp(temp, data); err != nil {
		return errors.Join(err, removeIfThere(temp))
	}
	if err := p.disk.rename(temp, path); err != nil {
		return errors.Join(err, removeIfThere(temp))
	}
	return nil
}

// makeFolder creates a folder that survives a power failure: without its own entry, the sessions
// in it would be lost.
func (p *Provider) makeFolder(path string) error {
	var parents []string // of folders that do not exist yet
	for at := path; at != filepath.Dir(at); at = filepath.Dir(at) {
		if _, err := os.Lstat(at); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		parents = append(parents, filepath.Dir(at))
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return err
	}
	for _, parent := range parents {
		if err := p.disk.syncDir(parent); err != nil {
			return err
		}
	}
	return nil
}

func (p *Provider) writeTemp(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	err = p.disk.writeAt(f, data, 0)
	if err == nil {
		err = p.disk.sync(f)
	}
	return errors.Join(err, f.Close())
}

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Open implements store.Provider.
func (p *Provider) Open(ctx context.Context, id string) (store.Log, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("opening session %.140q: %w", id, err)
	}
	path, err := p.find(id)
	if err != nil {
		return nil, fmt.Errorf("opening a session: %w", err)
	}
	return p.openFile(id, path)
}

// Read implements store.Provider.
func (p *Provider) Read(ctx context.Context, id string) (*session.File, error) {
	_, data, err := p.readBytes(ctx, id)
	if err != nil {
		return nil, err
	}
	file, err := session.ReadFile(data)
	if err != nil {
		return nil, fmt.Errorf("reading session %s: %w", id, err)
	}
	return file, nil
}

// Delete implements store.Provider. It also deletes the backup of a migration.
func (p *Provider) Delete(ctx context.Context, id string) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("deleting session %.140q: %w", id, err)
	}
	path, err := p.find(id)
	if err != nil {
		return fmt.Errorf("deleting a session: %w", err)
	}
	f, _, err := p.lockFile(id, path)
	if err != nil {
		return err
	}
	if !renamesOpenFiles {
		err = state.CloseLocked(f)
	}
	err = errors.Join(err, os.Remove(path))
	for _, beside := range []string{endingOwner, endingBatch, endingBackup} {
		err = errors.Join(err, removeIfThere(path+beside))
	}
	if renamesOpenFiles {
		err = errors.Join(err, state.CloseLocked(f))
	}
	p.mu.Lock()
	delete(p.paths, id)
	p.mu.Unlock()
	if err == nil {
		err = p.disk.syncDir(filepath.Dir(path))
	}
	return explain(err, "deleting session "+id)
}

// Close implements store.Provider. There is nothing to release.
func (p *Provider) Close() error { return nil }
