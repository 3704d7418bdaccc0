package host

import (
	"os"

	"github.com/scorel/scorel/apps/host/internal/machine"
	"github.com/scorel/scorel/apps/host/internal/transcripts"
)

// foreignTranscripts reads the conversations that other agents keep in the home of this user.
func (w *wiring) foreignTranscripts() *transcripts.Reader {
	return transcripts.New(machine.UserHome(), os.Getenv, func() []string {
		var folders []string
		for _, project := range w.projects.List() {
			folders = append(folders, project.Path)
		}
		return folders
	})
}
