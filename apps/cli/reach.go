package cli

import (
	"context"
	"slices"
	"time"

	"github.com/scorel/scorel/apps/cli/internal/devices"
	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/client/paths"
	"github.com/scorel/scorel/packages/mdns"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
)

// askAgain is how long the known paths of a device count as complete for a short command.
const askAgain = 24 * time.Hour

// connector connects to paired devices.
type connector struct {
	env     *environment
	network mdns.Network
}

func (a *app) connector() connector { return connector{a.env, a.network} }

// reach returns a paired device with its paths. The caller closes it after the last connection.
func (c connector) reach(home string, device devices.Device) (*paths.Device, error) {
	dialer, err := c.dialer(home, device)
	if err != nil {
		return nil, err
	}
	dialer.Standby = client.NewStandby(device.ID)
	file := devicesPath(home)
	return paths.New(paths.Config{
		Known:   func() ([]paths.Known, error) { return knownPaths(home, device.ID) },
		Dial:    dialer.Dial,
		Standby: dialer.Standby,
		Lost:    mayComeBack,
		Find:    c.finder(device.ID),
		Used: func(path paths.Path, roundTrip time.Duration) {
			if path != paths.Direct {
				_ = devices.Used(file, device.ID, path, roundTrip, time.Now()) // only makes the next connection slower
			}
		},
		Stale: func() bool {
			now, err := storedDevice(home, device.ID)
			return err == nil && time.Since(time.UnixMilli(now.AskedAt)) > askAgain && devices.Asked(file, device.ID, time.Now()) == nil
		},
		Learn: paths.Learn(func(reported []paths.Path, proof *api.BindingProof) ([]paths.Path, error) {
			return devices.Learn(file, device.ID, reported, (*devices.Binding)(proof))
		}),
	}), nil
}

func (c connector) dialer(home string, device devices.Device) (*paths.Dialer, error) {
	keys, err := clientKeys(home)
	if err != nil {
		return nil, err
	}
	return &paths.Dialer{
		Keys: keys, Label: machineLabel(), Invite: c.env.invite(""), InviteURL: device.RelayURL, Device: device.ID, Seal: device.Seal, Name: device.Label,
		Proof: func() *api.BindingProof {
			now, err := storedDevice(home, device.ID)
			if err != nil {
				return nil
			}
			return (*api.BindingProof)(now.Binding)
		},
		Local: func(ctx context.Context) (client.Transport, error) { return host.DialLocal(ctx, home) },
	}, nil
}

// storedDevice returns what is known about a device now: other processes learn too.
func storedDevice(home string, id ident.ID) (devices.Device, error) {
	list, err := devices.Load(devicesPath(home))
	if err != nil {
		return devices.Device{}, err
	}
	return devices.Find(list, id.String())
}

// knownPaths returns the paths of a device. If its host runs on this machine, it is used
// directly.
func knownPaths(home string, id ident.ID) ([]paths.Known, error) {
	device, err := storedDevice(home, id)
	if err != nil {
		return nil, err
	}
	known := device.Known()
	if isLocal(home, id) {
		known = slices.Insert(known, 0, paths.Known{Path: paths.Direct, Bound: true})
	}
	return known, nil
}

// isLocal reports whether the host of a device runs on this machine, with the same home.
func isLocal(home string, id ident.ID) bool {
	run, err := host.ReadState(home)
	return err == nil && run.DeviceID == id
}
