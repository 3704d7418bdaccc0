package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// maxHostLog bounds the log of a host in the background. What is older is in a second file of
// the same size at most.
const maxHostLog = 1 << 20

// olderLog is added to the name of the log for the older part.
const olderLog = ".1"

// hostLog is the log of a host in the background. It is safe for concurrent use.
type hostLog struct {
	mu    sync.Mutex
	file  *os.File
	limit int64
	owned bool // no other process writes to it for long
}

// openHostLog opens a log to append to it. Several commands may start a host at once, and only
// the one that gets the home moves older lines away: see own.
func openHostLog(path string, limit int64) (*hostLog, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the log of the host: %w", err)
	}
	return &hostLog{file: file, limit: limit}, nil
}

// own has later writes keep the limit.
func (l *hostLog) own() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.owned = true
}

// Write implements io.Writer. A line is in one file, and in both if the program ends while older
// lines are moved away.
func (l *hostLog) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.owned {
		if info, err := l.file.Stat(); err == nil && info.Size() > 0 && info.Size()+int64(len(line)) > l.limit {
			if err := l.turn(); err != nil {
				return 0, err // rather than a log without a limit
			}
		}
	}
	return l.file.Write(line)
}

// turn copies the log to the older one, and empties it. The file stays the same: it is also the
// standard error of the process, where the runtime writes why it crashed.
func (l *hostLog) turn() error {
	path := l.file.Name()
	part := path + olderLog + ".part"
	if err := copyEnd(path, part, l.limit); err != nil {
		return errors.Join(fmt.Errorf("moving older lines of the log away: %w", err), os.RemoveAll(part))
	}
	if err := os.Rename(part, path+olderLog); err != nil {
		return fmt.Errorf("moving older lines of the log away: %w", err)
	}
	return os.Truncate(path, 0)
}

// copyEnd copies at most limit bytes from the end of a file.
func copyEnd(from, to string, limit int64) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	if _, err := in.Seek(max(info.Size()-limit, 0), io.SeekStart); err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Sync(), out.Close())
}

// Close closes the log.
func (l *hostLog) Close() error { return l.file.Close() }
