package process

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/scorel/scorel/packages/protocol/session"
)

// Bounds of one page.
const (
	// MaxPage is the maximum number of lines of a page.
	MaxPage     = 200
	maxPageSize = 512 << 10 // bytes
)

// ErrNoLog reports that a log does not exist, or no longer exists.
var ErrNoLog = errors.New("process: this process log is no longer kept")

// Page is a part of a log.
type Page struct {
	Lines []Line
	// Next is where the next page begins, also for a log that is still growing.
	Next int64
	// More reports that further lines exist already.
	More bool
}

// Read reads lines of the log that ref names, from the Next of the previous page, or from
// 0. limit 0 means MaxPage. The error is ErrRef, ErrNoLog, or an I/O error.
func (l *Logs) Read(ref string, from int64, limit int) (Page, error) {
	sessionID, operationID, err := parseRef(ref)
	if err != nil {
		return Page{}, err
	}
	file, err := l.open(sessionID, operationID, os.O_RDONLY)
	if err != nil {
		return Page{}, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return Page{}, fmt.Errorf("process: reading a log: %w", err)
	}
	from = min(max(from, 0), info.Size())
	if _, err := file.Seek(from, io.SeekStart); err != nil {
		return Page{}, fmt.Errorf("process: reading a log: %w", err)
	}
	if limit <= 0 || limit > MaxPage {
		limit = MaxPage
	}
	page, err := readPage(bufio.NewReader(file), from, limit)
	page.More = page.Next < info.Size() && page.Next > from
	return page, err
}

func readPage(in *bufio.Reader, from int64, limit int) (Page, error) {
	page := Page{Lines: []Line{}, Next: from}
	for len(page.Lines) < limit && page.Next-from < maxPageSize {
		text, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return page, nil // a line without a line end is still being written
		}
		if err != nil {
			return page, fmt.Errorf("process: reading a log: %w", err)
		}
		page.Next += int64(len(text))
		if line, ok := parseLog(text); ok {
			page.Lines = append(page.Lines, line)
		}
	}
	return page, nil
}

// parseLog parses a line of a log other than the head.
func parseLog(text []byte) (Line, bool) {
	var line Line
	if json.Unmarshal(text, &line) != nil || line.Version == 0 || line.Sequence == 0 {
		return Line{}, false
	}
	return line, true
}

func (l *Logs) open(sessionID, operationID string, flag int) (*os.File, error) {
	if l == nil {
		return nil, ErrNoLog
	}
	root, err := l.folder(sessionID)
	if err == nil {
		defer root.Close()
		var file *os.File
		if file, err = root.OpenFile(operationID+logExtension, flag, 0); err == nil {
			return file, nil
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNoLog
	}
	return nil, fmt.Errorf("process: opening a log: %w", err)
}

// Orphans returns the records of operations that have a log, are not running, and are
// unknown to known: a previous host was killed while they ran. A log without a final line
// gets one first.
func (s *Sink) Orphans(known func(operationID string) bool) []Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.discarded {
		return nil
	}
	waiting := map[string]bool{}
	for _, o := range s.changed {
		waiting[o.id] = true
	}
	var records []Record
	for _, id := range s.logs.list(s.sessionID) {
		if s.running[id] != nil || waiting[id] || known(id) {
			continue
		}
		if record, err := s.logs.settle(s.sessionID, id); err != nil {
			s.logger.Warn("ending the log of an operation", "session", s.sessionID, "error", err)
		} else {
			records = append(records, record)
		}
	}
	return records
}

// settle builds the record of an operation from its log, and adds a final line if it has
// none.
func (l *Logs) settle(sessionID, operationID string) (Record, error) {
	file, err := l.open(sessionID, operationID, os.O_RDWR|os.O_APPEND)
	if err != nil {
		return Record{}, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, 2*maxLog))
	if err != nil {
		return Record{}, fmt.Errorf("process: reading a log: %w", err)
	}
	head, parent, last, kept := survey(data)
	head.OperationID = operationID // also set if the head is torn
	if !last.Status.Ended() {
		last = interruption(head, parent, last)
		kept.add(last)
		if err := finish(file, data, last); err != nil {
			return Record{}, err
		}
	}
	lines, omitted := kept.lines()
	return Record{
		OperationID: operationID, ParentOperationID: parent, ToolCallID: head.ToolCallID,
		TargetType: head.TargetType, Source: head.Source, ToolName: head.ToolName, TaskID: last.TaskID, Status: last.Status,
		StartedAt: head.StartedAt, EndedAt: last.Timestamp, Lines: lines, Omitted: omitted,
		ProcessLogRef: Ref(sessionID, operationID),
	}, nil
}

// survey reads a whole log; invalid lines are skipped.
func survey(data []byte) (head Head, parent string, last Line, kept samples) {
	for i, text := range bytes.SplitAfter(data, []byte("\n")) {
		if i == 0 {
			head, _ = readHead(text)
		}
		if line, ok := parseLog(text); ok {
			parent, last = line.ParentOperationID, line
			kept.add(line)
		}
	}
	return head, parent, last, kept
}

// finish appends the final line to a log whose last line may be torn.
func finish(file *os.File, data []byte, last Line) error {
	text, err := session.Encode(last)
	if err == nil && len(data) > 0 && data[len(data)-1] != '\n' {
		_, err = file.Write([]byte("\n"))
	}
	if err == nil {
		_, err = file.Write(append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("process: ending a log: %w", err)
	}
	return nil
}

// interruption returns the last event of an operation that was still running when the host
// died. Its end time is that of its last known event.
func interruption(head Head, parent string, last Line) Line {
	return Line{ProcessEvent: Event{
		Version: session.ProcessVersion, OperationID: head.OperationID, ParentOperationID: parent,
		TargetType: head.TargetType, Source: head.Source, ToolName: head.ToolName, TaskID: last.TaskID,
		Stage: "interrupted", Status: session.ProcessFailed, Level: session.ProcessError,
		Message:   "The host stopped while this was running.",
		Timestamp: cmp.Or(last.Timestamp, head.StartedAt), Sequence: last.Sequence + 1,
	}}
}
