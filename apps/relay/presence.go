package relay

import (
	"github.com/scorel/scorel/packages/protocol/wire"
)

// announce tells the connected entries that are bound to a device of its coming
// or going. The directory's goroutine calls it.
func (d *directory) announce(device *party, frame wire.Frame) {
	for id := range device.grants {
		client := d.parties[id]
		if client == nil {
			continue
		}
		if _, bound := client.grants[device.id]; !bound {
			continue // each side's list must name the other
		}
		for _, c := range client.conns {
			c.tell(frame)
		}
	}
}
