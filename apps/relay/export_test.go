package relay

import "github.com/scorel/scorel/apps/relay/bus"

// HearLoss makes the relay believe that the bus dropped messages.
func (r *Relay) HearLoss() { r.heard(bus.Message{Lost: true}) }
