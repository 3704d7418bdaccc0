package memory

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/scorel/scorel/packages/atomicfile"
	"github.com/scorel/scorel/packages/protocol/visible"
)

// Bounds of a journal.
const (
	maxDay  = 64 << 10 // bytes of one day; later lines are left out
	keepFor = 90       // days that have a file
	maxSaid = 200      // characters of an event's text
)

// Journal is the daily record of what was done in a project: a Markdown file for each day, with
// a line for each turn. Its folder is inside that of the notes.
type Journal struct {
	notes *Notes
	path  string
}

// Journal returns the journal of the folder.
func (f Folder) Journal() Journal { return Journal{f.notes, filepath.Join(f.path, "journal")} }

// Event is a turn that has ended.
type Event struct {
	Session string
	Title   string
	// Said is what the agent answered last, or why the turn failed.
	Said   string
	Failed bool
}

// line is one line of Markdown. Texts of models are in it, so control characters, line breaks and what
// has a meaning for people who read it in a terminal is replaced.
func (e Event) line(now time.Time) string {
	failed := ""
	if e.Failed {
		failed = "failed: "
	}
	title := visible.Shorten(oneLine(e.Title), 80)
	return fmt.Sprintf("- %s %s (%s): %s%s\n", now.Format("15:04"), title, e.Session, failed, visible.Shorten(oneLine(e.Said), maxSaid))
}

func oneLine(text string) string {
	words := strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) })
	return strings.Join(words, " ")
}

// Add appends an event to the file of its day, and removes the files of days that are no longer kept.
func (j Journal) Add(now time.Time, event Event) error {
	j.notes.mu.Lock()
	defer j.notes.mu.Unlock()
	if err := atomicfile.MkdirAll(j.path, 0o700); err != nil {
		return fmt.Errorf("the folder of the journal could not be created: %w", err)
	}
	file := filepath.Join(j.path, now.Format(time.DateOnly)+".md")
	before, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := j.prune(); err != nil {
			return err
		}
		before = []byte("# " + now.Format(time.DateOnly) + "\n\n")
	case err != nil:
		return fmt.Errorf("the journal cannot be read: %w", err)
	}
	line := event.line(now)
	if len(before)+len(line) > maxDay {
		return nil
	}
	if err := atomicfile.Write(file, append(before, line...), 0o600); err != nil {
		return fmt.Errorf("the journal could not be written: %w", err)
	}
	return nil
}

// prune removes the oldest days, so that with a new one there are at most keepFor.
func (j Journal) prune() error {
	days, err := j.days()
	for len(days) >= keepFor && err == nil {
		err = os.Remove(filepath.Join(j.path, days[0]+".md"))
		days = days[1:]
	}
	return err
}

// days lists the days of the journal, the oldest first.
func (j Journal) days() ([]string, error) {
	entries, err := os.ReadDir(j.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the journal cannot be read: %w", err)
	}
	var days []string
	for _, entry := range entries {
		day, ok := strings.CutSuffix(entry.Name(), ".md")
		if _, err := time.Parse(time.DateOnly, day); ok && err == nil && entry.Type().IsRegular() {
			days = append(days, day)
		}
	}
	slices.Sort(days)
	return days, nil
}

// Days lists the days of the journal, the newest first.
func (j Journal) Days() ([]string, error) {
	days, err := j.days()
	slices.Reverse(days)
	return days, err
}

// Day returns the text of a day, YYYY-MM-DD, or ErrMissing.
func (j Journal) Day(day string) (string, error) {
	if _, err := time.Parse(time.DateOnly, day); err != nil {
		return "", ErrMissing
	}
	path := filepath.Join(j.path, day+".md")
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return "", ErrMissing
	}
	var data []byte
	if err == nil {
		data, err = readStart(path, 2*maxDay)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "", ErrMissing
	}
	if err != nil {
		return "", fmt.Errorf("the journal cannot be read: %w", err)
	}
	return strings.ToValidUTF8(string(data), "\uFFFD"), nil
}

// Last returns the last lines of the last days that have any, oldest first, under the names of the days.
func (j Journal) Last(days, lines int) (string, error) {
	all, err := j.days()
	if err != nil {
		return "", err
	}
	var kept []string
	for i := len(all) - 1; i >= max(0, len(all)-days) && len(kept) < lines; i-- {
		text, err := j.Day(all[i])
		if errors.Is(err, ErrMissing) {
			continue // removed a moment ago
		}
		if err != nil {
			return "", err
		}
		events := slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool { return !strings.HasPrefix(line, "- ") })
		events = events[max(0, len(events)-(lines-len(kept))):]
		for k := range events {
			events[k] = visible.Shorten(all[i]+" "+strings.TrimPrefix(events[k], "- "), maxSaid+200)
		}
		kept = append(events, kept...)
	}
	return strings.Join(kept, "\n"), nil
}

// Forget removes the lines of a session.
func (j Journal) Forget(sessionID string) error {
	j.notes.mu.Lock()
	defer j.notes.mu.Unlock()
	days, err := j.days()
	if err != nil {
		return err
	}
	mark := "(" + sessionID + "): "
	for _, day := range days {
		text, err := j.Day(day)
		if err != nil {
			return err
		}
		kept := slices.DeleteFunc(strings.SplitAfter(text, "\n"), func(line string) bool {
			return strings.HasPrefix(line, "- ") && strings.Contains(line, mark)
		})
		if joined := strings.Join(kept, ""); joined != text {
			if err := atomicfile.Write(filepath.Join(j.path, day+".md"), []byte(joined), 0o600); err != nil {
				return fmt.Errorf("the journal could not be written: %w", err)
			}
		}
	}
	return nil
}
