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

// Bounds of stored long output.
const (
	maxSpill  = 64 << 20 // of one file, in bytes
	spillDays = 7        // older files are deleted when the next one is created
	// maxSpilled bounds all files of a session, in bytes; the oldest are deleted first.
	maxSpilled = 1 << 30
)

// spill stores output that is too long to show in files.
type spill struct {
	dir string // "" stores nothing

	mu   sync.Mutex
	next int
}

// spillFolder is the folder of the files, inside the session's folder.
const spillFolder = "output"

// create creates a file. It returns nil if nothing is stored. Commands of the session can
// write to the same folder, so links in it are not followed out of it.
func (s *spill) create(name string) (*os.File, error) {
	if s.dir == "" {
		return nil, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, fmt.Errorf("creating the folder for long output: %w", err)
	}
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return nil, fmt.Errorf("opening the folder for long output: %w", err)
	}
	defer root.Close()
	if err := root.Mkdir(spillFolder, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("creating the folder for long output: %w", err)
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

// tidySpill deletes files that are old, or older than enough newer ones. It is
// housekeeping: files that cannot be deleted stay.
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

// save stores a text and returns the path of its file, or "" if nothing is stored.
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

// firstRows joins rows up to limit and the general bounds, and says where to find the rest.
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
