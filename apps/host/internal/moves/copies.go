package moves

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/scorel/scorel/packages/atomicfile"
	"github.com/scorel/scorel/packages/protocol/api"
)

// copies is the folder in which files of moves are kept for people: logs of sessions that are
// elsewhere, and bundles that could not be unpacked.
type copies string

// keptFor is how long a copy is kept.
const keptFor = 30 * 24 * time.Hour

// keepLogs makes the logs in the folder of a move copies. Repeating it completes what a crash
// cut off.
func (c copies) keepLogs(r record, folder string) error {
	var logs []kept
	for i, item := range r.Offer.Items {
		if item.Kind == api.MoveLog {
			logs = append(logs, kept{filepath.Join(folder, itemName(i)), item.SessionID + ".jsonl"})
		}
	}
	if err := c.keep(logs...); err != nil {
		return fmt.Errorf("moves: keeping the log of a moved session: %w", err)
	}
	return nil
}

// keepBundle makes a bundle a copy.
func (c copies) keepBundle(path, sessionID string) error {
	if err := c.keep(kept{path, bundleName(sessionID)}); err != nil {
		return fmt.Errorf("moves: keeping a bundle: %w", err)
	}
	return nil
}

// bundle returns the path of the bundle of a session that is kept.
func (c copies) bundle(sessionID string) string {
	return filepath.Join(string(c), bundleName(sessionID))
}

func bundleName(sessionID string) string { return sessionID + ".bundle" }

// kept is a file that becomes a copy of that name.
type kept struct{ from, name string }

// keep moves files here, on disk before it returns. Those that are not there were kept before a
// crash.
func (c copies) keep(files ...kept) error {
	if err := atomicfile.MkdirAll(string(c), 0o700); err != nil {
		return err
	}
	for _, file := range files {
		if err := os.Rename(file.from, filepath.Join(string(c), file.name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return atomicfile.SyncDir(string(c))
}

// dropOld deletes what was kept long enough. What it cannot delete is tried again.
func (c copies) dropOld(logger *slog.Logger) {
	entries, _ := os.ReadDir(string(c)) // none, or it is tried again
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) > keptFor {
			if err := os.Remove(filepath.Join(string(c), entry.Name())); err != nil {
				logger.Warn("deleting the copy of a moved session", "error", err)
			}
		}
	}
}
