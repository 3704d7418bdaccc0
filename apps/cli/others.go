package cli

import (
	"github.com/scorel/scorel/apps/cli/internal/chat"
	"github.com/scorel/scorel/apps/cli/internal/devices"
	"github.com/scorel/scorel/apps/host"
)

// otherHosts are the hosts that the chat searches besides the open one. One goroutine uses it.
type otherHosts struct {
	from   *target
	home   string
	paired map[string]*target // by device: each keeps what it knows about the paths
}

// list returns the hosts besides the open one, which open names: that of this machine, if it
// runs, and the paired ones.
func (o *otherHosts) list(open string) []chat.Host {
	list, err := devices.Load(devicesPath(o.home))
	if err != nil {
		list = nil // the chat works without them
	}
	shown, _ := devices.Find(list, open) // none if it is this machine
	var hosts []chat.Host
	if _, err := host.ReadState(o.home); err == nil && open != "" && !isLocal(o.home, shown.ID) {
		hosts = append(hosts, o.from.other("").chatHost("this machine"))
	}
	for _, device := range list {
		if device.ID != shown.ID && !isLocal(o.home, device.ID) {
			hosts = append(hosts, o.target(device.ID.String()).chatHost(device.Label))
		}
	}
	return hosts
}

// target returns what leads to a device. One that has followed a session to another device is
// replaced.
func (o *otherHosts) target(device string) *target {
	if known := o.paired[device]; known != nil && known.name() == device {
		return known
	}
	o.paired[device] = o.from.other(device)
	return o.paired[device]
}
