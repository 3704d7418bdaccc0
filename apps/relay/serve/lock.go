package serve

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"

	"github.com/scorel/scorel/apps/relay/store/storeurl"
)

// errLocked is returned if another process holds a lock.
var errLocked = errors.New("the lock is held by another process")

// storeLock keeps a second relay from using a SQLite file: the peers of one could
// not be reached through the other. It is an advisory lock on a separate file,
// which ends with the process; the file stays, because removing it would let two
// processes hold the lock at once.
type storeLock struct{ file *os.File }

// lockHolder is the content of the lock's file: the relay that holds it.
type lockHolder struct {
	PID     int    `json:"pid"`
	Address string `json:"address"`
}

// lockStore locks a store for the relay at an address. Stores that relays may share
// are not locked.
func lockStore(url string, at net.Addr) (*storeLock, error) {
	path, ok := storeurl.File(url)
	if !ok {
		return nil, nil
	}
	if err := storeurl.MakeFolder(path); err != nil {
		return nil, err
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // a store has one lock, whatever path leads to it
	}
	file, err := os.OpenFile(path+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("locking the store: %w", err)
	}
	switch err := lockFile(file); {
	case errors.Is(err, errLocked):
		return nil, errors.Join(inUse(path, file), file.Close())
	case err != nil:
		return nil, errors.Join(fmt.Errorf("locking the store: %w", err), file.Close())
	}
	l := &storeLock{file}
	if err := l.sign(lockHolder{os.Getpid(), at.String()}); err != nil {
		l.release()
		return nil, fmt.Errorf("locking the store: %w", err)
	}
	return l, nil
}

// sign records who holds the lock.
func (l *storeLock) sign(holder lockHolder) error {
	data, err := json.Marshal(holder)
	if err != nil {
		return err
	}
	if err := l.file.Truncate(0); err != nil {
		return err
	}
	_, err = l.file.WriteAt(append(data, '\n'), 0)
	return err
}

// inUse returns an error that names the relay with the lock, as far as its file
// says.
func inUse(store string, lock *os.File) error {
	var holder lockHolder
	data, err := io.ReadAll(io.LimitReader(lock, 4096))
	if err != nil || json.Unmarshal(data, &holder) != nil || holder.PID == 0 {
		return fmt.Errorf("another relay is already using the store %s: stop it first, or choose another folder with --data-dir", store)
	}
	return fmt.Errorf("the relay on %s (process %d) is already using the store %s: stop it first, or choose another folder with --data-dir",
		holder.Address, holder.PID, store)
}

// release releases the lock. A nil lock does nothing.
func (l *storeLock) release() {
	if l != nil {
		_ = l.file.Close() // the lock ends with the process in any case
	}
}
