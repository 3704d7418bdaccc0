package host

import "github.com/scorel/scorel/packages/protocol/api"

// Tell broadcasts an event of the host.
func (h *Host) Tell(event api.Event) { h.tell(event) }
