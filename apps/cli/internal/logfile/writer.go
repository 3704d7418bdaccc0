// Package logfile writes the log of a server to a file of bounded size, and reads it again.
package logfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"sync"
)

// Limit bounds a log, in bytes. What is older is in a second file of the same size at most.
const Limit = 4 << 20

// older is added to the name of the log for the older part.
const older = ".1"

// Writer writes a log. It is safe for concurrent use.
type Writer struct {
	mu    sync.Mutex
	file  *os.File
	limit int64
	owned bool // no other process writes to it for long
}

// Open opens a log to append to it. Several commands may start a host at once, and only the one
// that gets the home moves older lines away: see Own.
func Open(path string, limit int64) (*Writer, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the log: %w", err)
	}
	return &Writer{file: file, limit: limit}, nil
}

// Own has later writes keep the limit.
func (l *Writer) Own() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.owned = true
}

// Write implements io.Writer. A line is in one file, and in both if the program ends while older
// lines are moved away.
func (l *Writer) Write(line []byte) (int, error) {
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
func (l *Writer) turn() error {
	path := l.file.Name()
	part := path + older + ".part"
	if err := copyEnd(path, part, l.limit); err != nil {
		return errors.Join(fmt.Errorf("moving older lines of the log away: %w", err), os.RemoveAll(part))
	}
	if err := os.Rename(part, path+older); err != nil {
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

// CatchCrashes has the runtime write to the log too why the program crashed.
func (l *Writer) CatchCrashes() error {
	if err := debug.SetCrashOutput(l.file, debug.CrashOptions{}); err != nil {
		return fmt.Errorf("writing crashes to the log: %w", err)
	}
	return nil
}

// Close closes the log.
func (l *Writer) Close() error { return l.file.Close() }
