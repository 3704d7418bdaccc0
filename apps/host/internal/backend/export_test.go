package backend

import "github.com/scorel/scorel/apps/host/internal/procgroup"

// KillAgents kills the programs as another process would.
func (b *Backends) KillAgents() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.slots {
		if s.program != nil {
			procgroup.Kill(s.program.cmd)
		}
	}
}
