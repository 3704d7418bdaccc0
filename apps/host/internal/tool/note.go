package tool

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/scorel/scorel/apps/host/internal/definition"
	"github.com/scorel/scorel/apps/host/internal/skill"
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

// Listen implements agent.Toolset.
func (s *Set) Listen(wake func()) {
	s.notices.mu.Lock()
	defer s.notices.mu.Unlock()
	s.notices.wake = wake
}

// Began implements agent.Toolset.
func (s *Set) Began(shown []string) {
	s.jobs.mu.Lock()
	s.jobs.turn++
	s.jobs.mu.Unlock()
	s.notices.keepShown(shown)
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

// Waking implements agent.Toolset.
func (s *Set) Waking() bool {
	s.notices.mu.Lock()
	defer s.notices.mu.Unlock()
	return slices.ContainsFunc(s.notices.jobs, func(n jobNotice) bool { return n.wakes })
}

// Canceled implements agent.Toolset.
func (s *Set) Canceled() {
	s.endWithTurn()
	s.notices.mu.Lock()
	defer s.notices.mu.Unlock()
	for i := range s.notices.jobs {
		s.notices.jobs[i].wakes = false
	}
}

// Notes implements agent.Toolset. It returns one note for all jobs, and one for each file.
func (s *Set) Notes() []session.Note {
	n := &s.notices
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

// nearFolder is near for a folder that the model has just listed.
func (s *Set) nearFolder(cwd, folder string) { s.near(cwd, filepath.Join(folder, "*")) }

// near looks for instructions that apply to a file that the model has just read.
func (s *Set) near(cwd, file string) { s.concern(cwd, file, "") }

// wrote is near for a file that the model has just changed. Instructions that the model
// wrote itself are not repeated to it.
func (s *Set) wrote(cwd, file string) { s.concern(cwd, file, resolved(file)) }

// concern records the instructions for a file, except those in the file written.
func (s *Set) concern(cwd, file, written string) {
	if s.scope.Nested == nil {
		return
	}
	n := &s.notices
	n.mu.Lock()
	shown := maps.Clone(n.shown) // read files without the lock, because that can take long
	n.mu.Unlock()
	near := s.scope.Nested(cwd, file, func(path string) bool { return shown[path] })
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

// Compacted implements agent.Toolset.
func (s *Set) Compacted(shown []string) []session.Note {
	s.notices.keepShown(shown)
	if text := s.todos.open(); text != "" {
		return []session.Note{{Kind: session.NoteTodos, Text: "Your task list is unchanged. These items are still open:\n" + text}}
	}
	return nil
}

// Activate implements agent.Toolset.
func (s *Set) Activate(name, args string) (session.Note, bool) {
	i := slices.IndexFunc(s.callable(), func(info session.SkillInfo) bool { return info.Name == name })
	if i < 0 {
		return session.Note{}, false
	}
	info := s.callable()[i]
	if skill.IsCommand(info.Path) {
		return s.activateCommand(info, args), true
	}
	folder, err := filepath.EvalSymlinks(filepath.Dir(info.Path))
	text := ""
	if err == nil {
		text, err = readSkill{s}.body(info, folder)
	}
	if err != nil {
		text = fmt.Sprintf("The user called the skill %s, but it can no longer be read: %v. Tell the user.", name, err)
		return session.Note{Kind: session.NoteSkill, Text: text}, true
	}
	text = fmt.Sprintf("The user called the skill %s: follow it now.\n%s", name, text)
	if args = strings.TrimSpace(args); args != "" {
		text += "\nThe user's arguments: " + args
	}
	return session.Note{Kind: session.NoteSkill, Text: text, Paths: []string{info.Path}}, true
}

// activateCommand gives the model the text of a command, with the arguments in it.
func (s *Set) activateCommand(info session.SkillInfo, args string) session.Note {
	var document definition.Document
	path, err := filepath.EvalSymlinks(info.Path)
	if err == nil && s.private.hides(path) {
		err = errors.New("its file is closed to tools")
	}
	if err == nil {
		document, err = skill.ReadCommand(path)
	}
	text := fmt.Sprintf("The user called the command %s: follow it now.\n%s", info.Name, skill.WithArguments(document.Body, args))
	if err != nil {
		text = fmt.Sprintf("The user called the command %s, but it can no longer be read: %v. Tell the user.", info.Name, err)
	}
	return session.Note{Kind: session.NoteSkill, Text: text, Paths: []string{info.Path}}
}

// Mentioned implements agent.Toolset. The built-in tools have no resources.
func (s *Set) Mentioned(context.Context, string) []session.Note { return nil }

// callable returns the skills that a person may invoke, including those that the model is
// not offered.
func (s *Set) callable() []session.SkillInfo { return slices.Concat(s.skills, s.manual, s.later) }
