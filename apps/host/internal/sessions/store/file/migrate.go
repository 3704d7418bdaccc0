package file

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/session"
)

// migrate replaces a file of version 1 or 2, whose content is data, by one of version 3 and
// keeps the old one as <file>.bak. At every moment the path names one of the two completely.
// The lock moves to the new file. Lines that cannot be parsed stay at their positions and make
// the new file read-only.
func (l *Log) migrate(data []byte) error {
	if err := l.backup(data); err != nil {
		return fmt.Errorf("saving the old file before its migration: %w", err)
	}
	migrated := l.session.MigratedBytes(data)
	if !renamesOpenFiles {
		if err := state.CloseLocked(l.file); err != nil {
			return err
		}
	}
	if err := l.provider.makeFile(l.path, migrated); err != nil {
		return fmt.Errorf("migrating the file to version %d: %w", session.Version, err)
	}
	locked, _, err := l.provider.lockFile(l.id, l.path)
	if err != nil {
		return err
	}
	if renamesOpenFiles {
		if err := state.CloseLocked(l.file); err != nil {
			return errors.Join(err, state.CloseLocked(locked))
		}
	}
	l.file = locked
	now, err := os.ReadFile(l.path)
	if err != nil {
		return err
	}
	if l.session, err = session.ReadFile(now); err != nil || !bytes.Equal(now, migrated) {
		return errors.Join(fmt.Errorf("the file changed during its migration: open it again"), err)
	}
	l.damage = store.Damage(l.session)
	l.size.Store(int64(len(now)))
	l.provider.logger.Info("migrated a session file", "file", filepath.Base(l.path), "backup", filepath.Base(l.path)+endingBackup)
	return nil
}

// backup keeps the old content. It does not overwrite an earlier backup with other content.
func (l *Log) backup(data []byte) error {
	path := l.path + endingBackup
	for n := 1; ; n++ {
		there, err := os.ReadFile(path)
		switch {
		case errors.Is(err, os.ErrNotExist):
			return l.provider.makeFile(path, data)
		case err != nil:
			return err
		case bytes.Equal(there, data):
			return nil
		}
		path = fmt.Sprintf("%s%s%d", l.path, endingBackup, n)
	}
}
