package host

import "github.com/scorel/scorel/packages/protocol/api"

// Tell broadcasts an event of the host.
func (h *Host) Tell(event api.Event) { h.tell(event) }

// Online tells whether anybody of this machine has a connection.
func (h *Host) Online() bool { return h.hub.online(localID) }
