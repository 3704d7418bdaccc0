package tool

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/scorel/scorel/packages/protocol/session"
)

// maxNested bounds how many nested instruction files a context holds.
const maxNested = 8

// notices are what the model is notified of besides the results of its calls.
type notices struct {
	mu    sync.Mutex
	wake  func()
	jobs  []jobNotice
	files []session.InstructionFile
	shown map[string]bool // files whose text the model has, or will get next
}

type jobNotice struct {
	job, text string
	wakes     bool
}

// ended records the end of a background job.
func (n *notices) ended(job, text string, wakes bool) {
	n.mu.Lock()
	n.jobs = append(n.jobs, jobNotice{job, text, wakes})
	wake := n.wake
	n.mu.Unlock()
	if wakes && wake != nil {
		wake()
	}
}

// forget drops the notice about a job whose end the model has already seen.
func (n *notices) forget(job string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.jobs = slices.DeleteFunc(n.jobs, func(have jobNotice) bool { return have.job == job })
}

// listen has wake called when a notice begins a turn.
func (n *notices) listen(wake func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.wake = wake
}

// waking reports whether a notice is to begin a turn.
func (n *notices) waking() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.ContainsFunc(n.jobs, func(notice jobNotice) bool { return notice.wakes })
}

// sleep keeps the present notices from beginning a turn.
func (n *notices) sleep() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for i := range n.jobs {
		n.jobs[i].wakes = false
	}
}

func (n *notices) keepShown(paths []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.shown = map[string]bool{}
	for _, path := range paths {
		n.shown[path] = true
	}
	for _, file := range n.files { // these come with the next notes
		n.shown[file.Path] = true
	}
}

// known returns the files whose text the model has.
func (n *notices) known() map[string]bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return maps.Clone(n.shown)
}

// add records instructions that the model does not have yet, except those in the file written.
func (n *notices) add(near []session.InstructionFile, written string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, found := range near {
		if n.shown[found.Path] {
			continue
		}
		if len(n.shown) >= maxNested {
			return
		}
		if n.shown == nil {
			n.shown = map[string]bool{}
		}
		n.shown[found.Path] = true
		if written == "" || resolved(found.Path) != written {
			n.files = append(n.files, found)
		}
	}
}

// take returns one note for all jobs, and one for each file, and forgets them.
func (n *notices) take() []session.Note {
	n.mu.Lock()
	defer n.mu.Unlock()
	var notes []session.Note
	if len(n.jobs) > 0 {
		lines, jobs, wakes := make([]string, 0, len(n.jobs)), make([]string, 0, len(n.jobs)), false
		for _, notice := range n.jobs {
			lines, jobs, wakes = append(lines, notice.text), append(jobs, notice.job), wakes || notice.wakes
		}
		text := strings.Join(lines, "\n") + "\nLook at output with bash_job."
		notes = append(notes, session.Note{Kind: session.NoteJobs, Text: text, Jobs: jobs, Wakes: wakes})
	}
	for _, file := range n.files {
		notes = append(notes, instructionsNote(file))
	}
	n.jobs, n.files = nil, nil
	return notes
}

func instructionsNote(file session.InstructionFile) session.Note {
	folder := filepath.Dir(file.Path)
	text := fmt.Sprintf("These are the project's instructions for agents that work in %s. There, they take precedence over the instructions of the folders above it.\n"+
		"<instructions path=%q>\n%s\n</instructions>", folder, file.Path, file.Content)
	if file.Truncated {
		text += "\nThis is only the beginning: read the file for the rest."
	}
	return session.Note{Kind: session.NoteInstructions, Text: text, Paths: []string{file.Path}}
}
