// Package projectcontext reads what a session needs to know about its folder: instructions,
// skills, and the environment.
package projectcontext

import (
	"path/filepath"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/definition"
	"github.com/scorel/scorel/apps/host/internal/instructions"
	"github.com/scorel/scorel/apps/host/internal/machine"
	"github.com/scorel/scorel/apps/host/internal/skill"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Source reads the context of folders. Paths and Trust are required.
type Source struct {
	Paths    state.Paths
	Trust    *state.Trust
	Switches *state.Switches // skills that people disabled; nil disables none
	// Extensions returns where extensions have definitions for work in a folder; nil has none.
	Extensions func(cwd string) []definition.Extension
}

// Load reads the instructions and skills for a new session in cwd.
func (s *Source) Load(cwd string) agent.ProjectContext {
	return agent.ProjectContext{
		Instructions: instructions.Load(cwd, filepath.Join(s.Paths.Home, "AGENTS.md"), machine.UserHome()),
		Skills:       s.Skills(cwd),
		Off:          func(skill string) bool { return !s.Enabled(cwd, skill) },
	}.WithoutSkillsOff()
}

// Enabled reports whether a skill is used for work in a folder.
func (s *Source) Enabled(cwd, skill string) bool {
	return s.Switches.Enabled(state.SwitchSkill, skill, s.Trust.Subject(cwd))
}

// Nested reads the instructions of a folder below the working folder. It reads them only in
// a trusted folder, because they were not shown when the session began.
func (s *Source) Nested(cwd, file string, has func(path string) bool) []session.InstructionFile {
	if !s.Trust.Has(cwd) {
		return nil
	}
	return instructions.Nested(cwd, file, has)
}

// Skills finds the skills for work in a folder, disabled ones included.
func (s *Source) Skills(cwd string) session.Skills { return skill.Find(s.Places(cwd)) }

// Places are the folders in which people define skills and agents for work in a folder.
func (s *Source) Places(cwd string) definition.Places {
	places := definition.Places{
		Cwd: cwd, Trusted: s.Trust.Has(cwd), UserHome: machine.UserHome(), ScorelHome: s.Paths.Home,
		TrustAdvice: "`scorel project trust " + s.Trust.Subject(cwd) + "` trusts it",
	}
	if s.Extensions != nil {
		places.Extensions = s.Extensions(cwd)
	}
	return places
}

// Skill is a skill of a folder.
type Skill struct {
	session.SkillInfo
	Enabled bool `json:"enabled"`
}

// Skills lists the skills of a folder, with notes on those that are left out. The folder is
// absolute. extensions returns where extensions have skills; nil has none.
func Skills(home, folder string, extensions func(cwd string) []definition.Extension) ([]Skill, []string, error) {
	paths := state.Paths{Home: home}
	trusted, err := state.LoadTrust(paths.Trust())
	if err != nil {
		return nil, nil, err
	}
	switches, err := state.LoadSwitches(paths.Switches())
	if err != nil {
		return nil, nil, err
	}
	if folder, err = state.Canonical(folder); err != nil {
		return nil, nil, err
	}
	source := &Source{Paths: paths, Trust: trusted, Switches: switches, Extensions: extensions}
	found := source.Skills(folder)
	list := make([]Skill, 0, len(found.Skills))
	for _, info := range found.Skills {
		list = append(list, Skill{info, source.Enabled(folder, info.Name)})
	}
	return list, found.Notes, nil
}
