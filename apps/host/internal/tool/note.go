package tool

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/definition"
	"github.com/scorel/scorel/apps/host/internal/skill"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Listen implements agent.Toolset.
func (s *Set) Listen(wake func()) { s.notices.listen(wake) }

// Began implements agent.Toolset.
func (s *Set) Began(shown []string) {
	s.jobs.begin()
	s.notices.keepShown(shown)
}

// Waking implements agent.Toolset.
func (s *Set) Waking() bool { return s.notices.waking() }

// Canceled implements agent.Toolset.
func (s *Set) Canceled() {
	s.jobs.endWithTurn()
	s.notices.sleep()
}

// StopJobs implements agent.Toolset.
func (s *Set) StopJobs() { s.jobs.stop() }

// Notes implements agent.Toolset.
func (s *Set) Notes() []session.Note { return s.notices.take() }

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
	shown := s.notices.known() // files are read without the lock, because that can take long
	near := s.scope.Nested(cwd, file, func(path string) bool { return shown[path] })
	s.notices.add(near, written)
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
func (s *Set) Mentioned(context.Context, string, agent.Mentions) []session.Note { return nil }

// callable returns the skills that a person may invoke, including those that the model is
// not offered.
func (s *Set) callable() []session.SkillInfo { return slices.Concat(s.skills, s.manual, s.later) }
