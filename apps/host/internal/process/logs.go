package process

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/scorel/scorel/packages/protocol/session"
)

// Bounds of stored logs.
const (
	maxLog       = 4 << 20  // bytes of one log, except its last lines
	maxLogs      = 400      // of one session; the oldest are deleted for new ones
	maxLogBytes  = 64 << 20 // of all ended operations of one session; the oldest are deleted
	pruneEvery   = 10       // logs
	logExtension = ".jsonl"
)

// Logs stores the logs of operations in one folder: a subfolder for each session, a file
// for each operation. The first line of a file is a Head, the others are Lines.
type Logs struct{ dir string }

// NewLogs returns the logs in dir, which is created when needed.
func NewLogs(dir string) *Logs { return &Logs{dir} }

// Head is the first line of a log.
type Head struct {
	Type        string `json:"type"` // process_log
	Version     int    `json:"version"`
	SessionID   string `json:"sessionId"`
	OperationID string `json:"operationId"`
	ToolCallID  string `json:"toolCallId,omitempty"`
	TargetType  Target `json:"targetType"`
	Source      string `json:"source"`
	ToolName    string `json:"toolName,omitempty"`
	StartedAt   int64  `json:"startedAt"` // Unix milliseconds
}

const headType = "process_log"

const refPrefix = "plog"

// Names that are safe in a path on every system.
var (
	sessionName   = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}$`)
	operationName = regexp.MustCompile(`^op_[0-9a-f]{16}$`)
)

// Ref returns the reference of an operation's log. It is not a path.
func Ref(sessionID, operationID string) string {
	return refPrefix + ":" + sessionID + ":" + operationID
}

// ErrRef reports an invalid reference.
var ErrRef = errors.New("process: not a reference to a process log")

func parseRef(ref string) (sessionID, operationID string, err error) {
	parts := strings.Split(ref, ":")
	if len(parts) != 3 || parts[0] != refPrefix || !sessionName.MatchString(parts[1]) || !operationName.MatchString(parts[2]) {
		return "", "", ErrRef
	}
	return parts[1], parts[2], nil
}

// SessionOf returns the session that a reference belongs to. The error is ErrRef.
func SessionOf(ref string) (sessionID string, err error) {
	sessionID, _, err = parseRef(ref)
	return sessionID, err
}

// folder opens the folder of a session as a root that no name can escape.
func (l *Logs) folder(sessionID string) (*os.Root, error) {
	if !sessionName.MatchString(sessionID) {
		return nil, ErrRef
	}
	top, err := os.OpenRoot(l.dir)
	if err != nil {
		return nil, err
	}
	defer top.Close()
	return top.OpenRoot(sessionID)
}

// create creates a log with its head.
func (l *Logs) create(head Head) (*logFile, error) {
	if !sessionName.MatchString(head.SessionID) {
		return nil, ErrRef
	}
	if err := os.MkdirAll(filepath.Join(l.dir, head.SessionID), 0o700); err != nil {
		return nil, fmt.Errorf("creating the folder: %w", err)
	}
	root, err := l.folder(head.SessionID)
	if err != nil {
		return nil, fmt.Errorf("opening the folder: %w", err)
	}
	defer root.Close()
	file, err := root.OpenFile(head.OperationID+logExtension, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("creating the log: %w", err)
	}
	log := &logFile{file: file}
	log.line(head)
	return log, nil
}

// Remove deletes the logs of a session.
func (l *Logs) Remove(sessionID string) error {
	if l == nil || !sessionName.MatchString(sessionID) {
		return nil
	}
	top, err := os.OpenRoot(l.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		defer top.Close()
		err = top.RemoveAll(sessionID)
	}
	if err != nil {
		return fmt.Errorf("process: removing the logs of a session: %w", err)
	}
	return nil
}

// prune deletes the oldest logs of a session, except those in keep.
func (l *Logs) prune(sessionID string, keep func(operationID string) bool) {
	type aged struct {
		name     string
		modified int64
		size     int64
	}
	var all []aged
	for _, id := range l.list(sessionID) {
		info, err := os.Lstat(filepath.Join(l.dir, sessionID, id+logExtension))
		if err == nil && !keep(id) {
			all = append(all, aged{id, info.ModTime().UnixNano(), info.Size()})
		}
	}
	slices.SortFunc(all, func(a, b aged) int { return cmp.Or(cmp.Compare(b.modified, a.modified), cmp.Compare(a.name, b.name)) })
	var bytes int64
	for i, old := range all {
		if bytes += old.size; i < maxLogs && bytes <= maxLogBytes {
			continue
		}
		_ = os.Remove(filepath.Join(l.dir, sessionID, old.name+logExtension)) // housekeeping: files that cannot be deleted stay
	}
}

// list returns the operations of a session that have a log.
func (l *Logs) list(sessionID string) []string {
	if l == nil || !sessionName.MatchString(sessionID) {
		return nil
	}
	entries, err := os.ReadDir(filepath.Join(l.dir, sessionID))
	if err != nil {
		return nil // most sessions have none
	}
	var ids []string
	for _, entry := range entries {
		if id, ok := strings.CutSuffix(entry.Name(), logExtension); ok && operationName.MatchString(id) && entry.Type().IsRegular() {
			ids = append(ids, id)
		}
	}
	return ids
}

// logFile is the log of a running operation. A nil logFile stores nothing.
type logFile struct {
	file *os.File
	size int
	full bool
	lost int // events that are missing
}

// add appends a line. A line that does not fit or cannot be written is dropped and counted;
// the operation itself continues. The last line always fits.
func (f *logFile) add(line Line) {
	if f == nil || f.file == nil {
		return
	}
	if !line.Status.Ended() {
		if f.full || f.size > maxLog {
			f.full = true
			f.lost += max(line.Repeats, 1)
			return
		}
	}
	f.line(line)
}

func (f *logFile) line(value any) {
	data, err := session.Encode(value)
	if err != nil {
		return // cannot fail: its parts were encoded before
	}
	n, err := f.file.Write(append(data, '\n'))
	f.size += n
	if err != nil {
		f.full = true
	}
}

func (f *logFile) close() {
	if f != nil && f.file != nil {
		_ = f.file.Close() // whatever could be written is there
		f.file = nil
	}
}

// openLog creates the log of an operation. If that fails, the operation continues without
// one.
func (s *Sink) openLog(o *Operation) *logFile {
	if s.logs == nil {
		return nil
	}
	log, err := s.logs.create(Head{
		Type: headType, Version: session.ProcessVersion, SessionID: s.sessionID, OperationID: o.id,
		ToolCallID: o.call, TargetType: o.start.TargetType, Source: o.start.Source, ToolName: o.start.ToolName, StartedAt: o.began.UnixMilli(),
	})
	if err != nil {
		s.logger.Warn("creating the log of an operation", "session", s.sessionID, "error", err)
		return nil
	}
	if s.logged++; s.logged%pruneEvery == 1 {
		s.logs.prune(s.sessionID, func(id string) bool { return s.running[id] != nil })
	}
	return log
}

// readHead parses the first line of a log.
func readHead(line []byte) (Head, bool) {
	var head Head
	err := json.Unmarshal(line, &head)
	return head, err == nil && head.Type == headType
}
