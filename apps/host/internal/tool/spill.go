package tool

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Bounds of what is kept of long output.
const (
	maxSpill  = 64 << 20 // of one file, in bytes
	spillDays = 7        // older files go when the next one is made
	// maxSpilled bounds all files of a session, in bytes; the oldest go first.
	maxSpilled = 1 << 30
)

// spill keeps in files what is too long to show.
type spill struct {
	dir string // "" keeps nothing

	mu   sync.Mutex
	next int
}

// spillFolder holds the files, below the session's own folder.
const spillFolder = "output"

// create makes a file. It is nil when nothing is kept. Commands of the session can write
// to its folder too, and a link that they put there leads nothing out of it.
func (s *spill) create(name string) (*os.File, error) {
	if s.dir == "" {
		return nil, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the folder for long output: %w", err)
	}
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return nil, fmt.Errorf("opening the folder for long output: %w", err)
	}
	defer root.Close()
	if err := root.Mkdir(spillFolder, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("making the folder for long output: %w", err)
	}
	tidySpill(root, time.Now().AddDate(0, 0, -spillDays))
	for {
		s.next++
		path := filepath.Join(spillFolder, fmt.Sprintf("%s-%d.txt", name, s.next))
		file, err := root.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if !errors.Is(err, os.ErrExist) {
			return file, err
		}
	}
}

// tidySpill takes files away that are old, or of which there are too many newer ones. It
// is housekeeping: what cannot be removed stays.
func tidySpill(root *os.Root, before time.Time) {
	folder, err := root.Open(spillFolder)
	if err != nil {
		return
	}
	defer folder.Close()
	entries, err := folder.Readdir(-1)
	if err != nil {
		return
	}
	slices.SortFunc(entries, func(a, b os.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	kept := int64(0)
	for _, info := range entries {
		if kept += info.Size(); info.ModTime().Before(before) || kept > maxSpilled-maxSpill {
			_ = root.Remove(filepath.Join(spillFolder, info.Name()))
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
