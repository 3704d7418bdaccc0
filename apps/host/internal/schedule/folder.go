package schedule

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/scorel/scorel/packages/protocol/api"
)

// maxFiles bounds the files of a watched folder.
const maxFiles = 2000

// localPath reports whether a path with slashes stays below where it begins.
func localPath(path string) bool { return filepath.IsLocal(filepath.FromSlash(path)) }

// openFolder opens a folder of a project. No part of the path below the project may be a
// symbolic link that leads out of it.
func openFolder(project, path string) (*os.Root, error) {
	root, err := os.OpenRoot(project)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.OpenRoot(filepath.FromSlash(path))
}

// reason is the part of an error that a person needs.
func reason(err error) string {
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	return err.Error()
}

// seenFile is what tells whether a file is still being written.
type seenFile struct {
	size  int64
	mtime int64
}

// watch looks into the folder of a schedule. A file counts when it is the same in two looks.
func (s *Scheduler) watch(id string) {
	r := s.records[id]
	folder, before := *r.Spec.When.Folder, s.settling[id]
	known := r.Files
	s.goTo(func(context.Context) func() {
		found, texts, err := s.lookInto(r, folder, known, before)
		return func() { s.lookedInto(id, r, found, texts, err) }
	})
}

// lookInto lists a folder and reads the new files in it that are complete.
func (s *Scheduler) lookInto(r record, folder api.ScheduleFolder, known map[string]int64, before map[string]seenFile) (map[string]seenFile, map[string]string, error) {
	project, err := s.Project(r.ProjectID)
	if err != nil {
		return nil, nil, err
	}
	root, err := openFolder(project, folder.Path)
	if err != nil {
		return nil, nil, fmt.Errorf("the folder %s cannot be read: %s", folder.Path, reason(err))
	}
	defer root.Close()
	found, err := list(root, folder.Pattern)
	if err != nil {
		return nil, nil, err
	}
	texts := map[string]string{}
	for _, name := range keysOf(found) {
		if _, old := known[name]; old || !r.Looked || before[name] != found[name] {
			continue
		}
		if len(texts) > maxQueue { // one may run, and the others wait
			break
		}
		texts[name] = readText(root, name)
	}
	return found, texts, nil
}

// list returns the regular files in a folder that are not hidden.
func list(root *os.Root, pattern string) (map[string]seenFile, error) {
	dir, err := root.Open(".")
	if err != nil {
		return nil, fmt.Errorf("the folder cannot be read: %s", reason(err))
	}
	defer dir.Close()
	entries, err := dir.ReadDir(2*maxFiles + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("the folder cannot be read: %s", reason(err))
	}
	found := map[string]seenFile{}
	for _, entry := range entries {
		name := entry.Name()
		if matches, _ := path.Match(pattern, name); pattern != "" && !matches || strings.HasPrefix(name, ".") || !entry.Type().IsRegular() || !utf8.ValidString(name) {
			continue
		}
		if info, err := entry.Info(); err == nil {
			found[name] = seenFile{info.Size(), info.ModTime().UnixNano()}
		}
	}
	if len(found) > maxFiles || len(entries) > 2*maxFiles {
		return nil, fmt.Errorf("the folder has more than %d files: move old ones away", maxFiles)
	}
	return found, nil
}

// readText returns the text of a file, or what is said of one that has none.
func readText(root *os.Root, name string) string {
	file, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it may have become a pipe
	if err != nil {
		return "(it cannot be read)"
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return "(it cannot be read)"
	}
	data, err := io.ReadAll(io.LimitReader(file, MaxDelivery+1))
	switch {
	case err != nil:
		return "(it cannot be read)"
	case len(data) > MaxDelivery || !utf8.Valid(data):
		return "(it is long or not text: read it with a tool)"
	}
	return string(data)
}

// lookedInto runs the schedule for new files. looking is the schedule as it was when the look
// began.
func (s *Scheduler) lookedInto(id string, looking record, found map[string]seenFile, texts map[string]string, err error) {
	delete(s.polling, id)
	if !s.looksOn(id, looking) {
		return
	}
	r, folder := s.records[id], *looking.Spec.When.Folder
	s.polls[id] = s.Now().Add(watchEvery)
	if s.problem(id, err); err != nil {
		return
	}
	if !r.Looked {
		s.change(id, func(r *record) {
			r.Looked, r.Files = true, map[string]int64{}
			for name, info := range found {
				r.Files[name] = info.mtime
			}
		})
		return
	}
	s.settling[id] = found
	gone := slices.ContainsFunc(keysOf(r.Files), func(name string) bool { _, there := found[name]; return !there })
	if gone {
		s.change(id, func(r *record) {
			for name := range r.Files {
				if _, there := found[name]; !there {
					delete(r.Files, name)
				}
			}
		})
	}
	for _, name := range keysOf(texts) {
		if r := s.records[id]; r.full() {
			return // the next look finds it again
		}
		one := newRun(api.CauseFolder, fmt.Sprintf("file:%d:%s", found[name].mtime, name), s.Now().UnixMilli())
		one.Source = "a new file in " + folder.Path
		one.Text = fmt.Sprintf("File: %s\n\n%s", path.Join(folder.Path, name), texts[name])
		if !s.fire(id, one) || !s.change(id, func(r *record) {
			if r.Files == nil {
				r.Files = map[string]int64{}
			}
			r.Files[name] = found[name].mtime
		}) {
			return
		}
	}
}

// looksOn reports whether what a look found still counts: not if the schedule was changed,
// disabled or enabled meanwhile, because then it starts over.
func (s *Scheduler) looksOn(id string, looking record) bool {
	r, known := s.records[id]
	return known && r.Enabled && r.Handled == looking.Handled && sameWhen(r.Spec.When, looking.Spec.When)
}

func keysOf[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// watchEvery is the time between two looks into a folder.
const watchEvery = 5 * time.Second

// problem notes why a schedule cannot look for events; nil is none.
func (s *Scheduler) problem(id string, err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	if s.problems[id] == text {
		return
	}
	if s.problems[id] = text; text == "" {
		delete(s.problems, id)
	} else {
		s.Logger.Warn("a schedule cannot look for events", "schedule", id, "error", err)
	}
	s.Changed(s.records[id].ProjectID)
}

// poll looks for events from outside where it is time, and returns how long it is not.
func (s *Scheduler) poll(id string, now time.Time) (time.Duration, bool) {
	r := s.records[id]
	when := r.Spec.When
	if !r.Enabled || when.Folder == nil && when.GitHub == nil {
		return 0, false
	}
	if s.polling[id] {
		return lookEvery, true
	}
	if next := s.polls[id]; next.After(now) && next.Sub(now) <= maxPause {
		return next.Sub(now), true
	}
	s.polling[id] = true
	if when.Folder != nil {
		s.watch(id)
	} else {
		s.ask(id)
	}
	return lookEvery, true
}
