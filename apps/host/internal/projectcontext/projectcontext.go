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

// Source reads the context of folders. Its zero value is not usable: set both fields.
type Source struct {
	Paths state.Paths
	Trust *state.Trust
}

// Load reads the instructions and skills for a new session in cwd.
func (s *Source) Load(cwd string) agent.ProjectContext {
	return agent.ProjectContext{
		Instructions: instructions.Load(cwd, filepath.Join(s.Paths.Home, "AGENTS.md"), machine.UserHome()),
		Skills:       s.Skills(cwd),
	}
}

// Nested reads the instructions of a folder below the working folder. It reads them only in
// a trusted folder, because they were not shown when the session began.
func (s *Source) Nested(cwd, file string, has func(path string) bool) []session.InstructionFile {
	if !s.Trust.Has(cwd) {
		return nil
	}
	return instructions.Nested(cwd, file, has)
}

// Skills finds the skills for work in a folder.
func (s *Source) Skills(cwd string) session.Skills { return skill.Find(s.Places(cwd)) }

// Places are the folders in which people define skills and agents for work in a folder.
func (s *Source) Places(cwd string) definition.Places {
	return definition.Places{
		Cwd: cwd, Trusted: s.Trust.Has(cwd), UserHome: machine.UserHome(), ScorelHome: s.Paths.Home,
		TrustAdvice: "`scorel project trust " + s.Trust.Subject(cwd) + "` trusts it",
	}
}

// Skills lists the skills that a session in a folder has, with notes on those that are
// left out. The folder is absolute.
func Skills(home, folder string) (session.Skills, error) {
	paths := state.Paths{Home: home}
	trusted, err := state.LoadTrust(paths.Trust())
	if err != nil {
		return session.Skills{}, err
	}
	if folder, err = state.Canonical(folder); err != nil {
		return session.Skills{}, err
	}
	return (&Source{Paths: paths, Trust: trusted}).Skills(folder), nil
}
