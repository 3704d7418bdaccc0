package feed

import (
	"time"

	"github.com/scorel/scorel/packages/protocol/api"
)

// Update is something that the reader must know: one of the types below.
type Update interface{ update() }

type (
	// Connected follows every successful connection.
	Connected struct{ Host api.HostInfo }
	// Disconnected says that the connection is down, and when the next attempt begins.
	Disconnected struct {
		Err  error
		Next time.Time
	}
	// Failed says that the host or the session cannot be used. Connection reports that no
	// other attempt follows.
	Failed struct {
		Err        error
		SessionID  string
		Connection bool
	}
	// Followed says that the session was moved to another device, to which the next connection
	// leads.
	Followed struct{ Name string }
	// Loaded replaces the state of the session, or extends it: see its Mode.
	Loaded struct {
		SessionID string
		Response  api.ResyncEventsResponse
	}
	// Happened is an event of the session or of the host.
	Happened struct{ Event api.EventEnvelope }
)

func (Connected) update()    {}
func (Disconnected) update() {}
func (Failed) update()       {}
func (Followed) update()     {}
func (Loaded) update()       {}
func (Happened) update()     {}
