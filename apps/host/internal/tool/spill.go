package tool

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Bounds of what is kept of long output.
const (
	maxSpill  = 64 << 20 // of one file, in bytes
	spillDays = 7        // older files go when the next one is made
)

// spill keeps in files what is too long to show.
type spill struct {
	dir string // "" keeps nothing

	mu   sync.Mutex
	next int
}

// create makes a file. It is nil when nothing is kept.
func (s *spill) create(name string) (*os.File, error) {
	if s.dir == "" {
		return nil, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	dir := filepath.Join(s.dir, "output")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the folder for long output: %w", err)
	}
	if s.next == 0 {
		removeOld(dir, time.Now().AddDate(0, 0, -spillDays))
	}
	for {
		s.next++
		file, err := os.OpenFile(filepath.Join(dir, fmt.Sprintf("%s-%d.txt", name, s.next)), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if !errors.Is(err, os.ErrExist) {
			return file, err
		}
	}
}

// removeOld is housekeeping: what cannot be removed stays.
func removeOld(dir string, before time.Time) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && info.ModTime().Before(before) {
			_ = os.Remove(filepath.Join(dir, entry.Name()))
		}
	}
}

// save keeps a text and returns the path of its file, or "" when nothing is kept.
func (s *spill) save(name, text string) string {
	file, err := s.create(name)
	if file == nil || err != nil {
		return ""
	}
	_, err = file.WriteString(text[:min(len(text), maxSpill)])
	if errors.Join(err, file.Close()) != nil {
		_ = os.Remove(file.Name())
		return ""
	}
	return file.Name()
}

// firstRows joins rows up to the bounds and limit, and says where the others are.
func (s *Set) firstRows(name string, rows []string, limit int, what, advice string) string {
	var out strings.Builder
	for i, row := range rows {
		row = strings.ToValidUTF8(row, "\uFFFD")
		if i < limit && i < MaxLines && out.Len()+len(row)+1 <= MaxBytes {
			out.WriteString(row + "\n")
			continue
		}
		if path := s.spill.save(name, strings.Join(rows, "\n")+"\n"); path != "" {
			advice = "all of them are in " + path
		}
		fmt.Fprintf(&out, "[%d more %s are not shown; %s.]", len(rows)-i, what, advice)
		break
	}
	return out.String()
}
