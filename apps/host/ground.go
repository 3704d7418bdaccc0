package host

import (
	"path/filepath"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/definition"
	"github.com/scorel/scorel/apps/host/internal/instructions"
	"github.com/scorel/scorel/apps/host/internal/skill"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/session"
)

// ground reads what a new session in cwd is told.
func ground(paths state.Paths, trusted *state.Trust, cwd string) agent.Ground {
	return agent.Ground{
		Instructions: instructions.Load(cwd, filepath.Join(paths.Home, "AGENTS.md")),
		Skills:       findSkills(paths, trusted, cwd),
	}
}

// nested reads what a folder below the working folder is told; only in a folder that
// is trusted, since nobody has looked at it when the session began.
func (h *Host) nested(cwd, file string, has func(path string) bool) []session.InstructionFile {
	if !h.trust.Has(cwd) {
		return nil
	}
	return instructions.Nested(cwd, file, has)
}

func findSkills(paths state.Paths, trusted *state.Trust, cwd string) session.Skills {
	return skill.Find(definitionPlaces(paths, trusted, cwd))
}

// definitionPlaces is where people define skills and agents for work in a folder.
func definitionPlaces(paths state.Paths, trusted *state.Trust, cwd string) definition.Places {
	return definition.Places{
		Cwd: cwd, Trusted: trusted.Has(cwd), UserHome: userHome(), ScorelHome: paths.Home,
		TrustAdvice: "`scorel project trust " + cwd + "` trusts it",
	}
}

// Skills lists the skills that a session in a folder has, with notes on what is
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
	return findSkills(paths, trusted, folder), nil
}
