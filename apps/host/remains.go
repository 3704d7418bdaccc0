package host

import "github.com/scorel/scorel/apps/host/internal/procgroup"

// endLeft ends what a host before this one, which was killed, left running, and tells of
// which calls that was. It is called before the sessions are opened, which say of those
// calls how they ended. The lock of the home says that the other host is gone.
func (h *Host) endLeft() (stopped func(sessionID, callID string) bool) {
	calls := map[procgroup.Owner]bool{}
	stopped = func(sessionID, callID string) bool {
		return calls[procgroup.Owner{Session: sessionID, Call: callID}]
	}
	var err error
	if h.ledger, err = procgroup.OpenLedger(h.paths.Commands()); err != nil {
		h.log.Error("commands that run are not noted: should this host be killed, they may run on", "error", err)
		return stopped
	}
	left, err := h.ledger.EndLeft()
	for _, l := range left {
		if calls[l.Owner] = l.Processes > 0; l.Processes > 0 {
			h.log.Warn("ended what a host before this one left running",
				"session", l.Session, "call", l.Call, "server", l.Server, "processes", l.Processes)
		}
	}
	if err != nil {
		h.log.Error("ending what a host before this one left running: look for processes that should not be there", "error", err)
	}
	return stopped
}
