package host

import (
	"path/filepath"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/instructions"
	"github.com/scorel/scorel/apps/host/internal/skill"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/session"
)

// trust tells whether what a folder brings along counts: its skills and the
// servers that it names.
type trust func(path string) bool

// trustProjects trusts the folders that somebody made a project of this host.
func trustProjects(projects *state.Projects) trust {
	return func(path string) bool {
		for _, project := range projects.List() {
			if project.Path == path {
				return true
			}
		}
		return false
	}
}

// ground reads what a new session in cwd is told.
func ground(paths state.Paths, trusted trust, cwd string) agent.Ground {
	return agent.Ground{
		Instructions: instructions.Load(cwd, filepath.Join(paths.Home, "AGENTS.md")),
		Skills:       findSkills(paths, trusted, cwd),
	}
}

func findSkills(paths state.Paths, trusted trust, cwd string) session.Skills {
	return skill.Find(skill.Places{
		Cwd: cwd, Trusted: trusted(cwd), UserHome: userHome(), ScorelHome: paths.Home,
		TrustAdvice: "make it a project with `scorel project add " + cwd + "`",
	})
}

// Skills lists the skills that a session in a folder has, with notes on what is
// left out. The folder is absolute.
func Skills(home, folder string) (session.Skills, error) {
	paths := state.Paths{Home: home}
	projects, err := state.LoadProjects(paths.Projects())
	if err != nil {
		return session.Skills{}, err
	}
	if folder, err = state.Canonical(folder); err != nil {
		return session.Skills{}, err
	}
	return findSkills(paths, trustProjects(projects), folder), nil
}
