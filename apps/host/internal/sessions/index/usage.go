package index

import (
	"encoding/json"

	"github.com/scorel/scorel/packages/protocol/session"
)

// UsageAttempt is the kind of a usage entry for an attempt of a turn's model call that was
// retried or whose output was discarded. All other kinds are for calls outside turns.
const UsageAttempt = "attempt"

// Usage is the sum of what model calls used.
type Usage struct {
	Input      int     `json:"input,omitempty"`
	Output     int     `json:"output,omitempty"`
	CacheRead  int     `json:"cacheRead,omitempty"`
	CacheWrite int     `json:"cacheWrite,omitempty"`
	Cost       float64 `json:"cost,omitempty"` // US dollars
}

func (u *Usage) add(more *session.Usage) {
	if more == nil {
		return
	}
	u.Input += more.Input
	u.Output += more.Output
	u.CacheRead += more.CacheRead
	u.CacheWrite += more.CacheWrite
	u.Cost += more.Cost.Total
}

// addUsage adds what was used outside a message.
func (d *Digest) addUsage(e session.Entry) {
	var spent struct {
		Kind  string         `json:"kind"`
		Usage *session.Usage `json:"usage"`
	}
	if json.Unmarshal(e.Raw, &spent) != nil {
		return
	}
	to := &d.Auxiliary
	if spent.Kind == UsageAttempt {
		to = &d.Usage
	}
	d.spend(to, spent.Usage)
}

// spend adds what a call used to its purpose, or to Inherited if the call was made before a
// fork.
func (d *Digest) spend(to *Usage, spent *session.Usage) {
	if d.Begun > 0 {
		d.Inherited.add(spent)
		return
	}
	to.add(spent)
	if spent != nil && spent.Partial {
		d.Uncounted++
	}
}
