package host

import "github.com/scorel/scorel/apps/host/internal/procgroup"

// endLeft ends the processes that a killed host left running. stopped then reports whether a
// call was among them, for the sessions, which say how those calls ended. The lock of the
// home proves that the other host is gone.
func (w *wiring) endLeft() {
	calls := map[procgroup.Owner]bool{}
	w.stopped = func(sessionID, callID string) bool {
		return calls[procgroup.Owner{Session: sessionID, Call: callID}]
	}
	var err error
	if w.ledger, err = procgroup.OpenLedger(w.paths.Commands()); err != nil {
		w.log.Error("running commands cannot be recorded; if this host is killed, they may keep running", "error", err)
		return
	}
	left, err := w.ledger.EndLeft()
	for _, l := range left {
		if calls[l.Owner] = l.Processes > 0; l.Processes > 0 {
			w.log.Warn("ended processes that a previous host left running",
				"session", l.Session, "call", l.Call, "server", l.Server, "processes", l.Processes)
		}
	}
	if err != nil {
		w.log.Error("ending processes that a previous host left running: look for unexpected processes", "error", err)
	}
}
