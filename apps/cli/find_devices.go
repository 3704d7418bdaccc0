package cli

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/scorel/scorel/apps/cli/internal/devices"
	"github.com/scorel/scorel/packages/client/paths"
	"github.com/scorel/scorel/packages/mdns"
	"github.com/scorel/scorel/packages/protocol/ident"
)

// find looks on the local network for paired devices, and returns the list with the
// paths that were found. A path is stored only after a sealed channel was opened over it.
func (c connector) find(ctx context.Context, home string, list []devices.Device) ([]devices.Device, error) {
	ids := make([]ident.ID, 0, len(list))
	for _, d := range list {
		ids = append(ids, d.ID)
	}
	found, err := mdns.Find(ctx, c.network, ids...)
	if err != nil {
		return nil, err
	}
	var (
		trying sync.WaitGroup
		errs   = make(chan error, len(found))
	)
	for i, path := range paths.Announced(found) {
		device, err := devices.Find(list, found[i].Device.String())
		if err != nil {
			continue
		}
		trying.Go(func() { errs <- c.tryFound(ctx, home, device, path) })
	}
	trying.Wait()
	close(errs)
	for one := range errs {
		err = errors.Join(err, one)
	}
	if err != nil {
		return nil, err
	}
	return devices.Load(devicesPath(home))
}

// tryFound stores a path if it leads to the device. One that does not is no error: anything can
// answer on a local network.
func (c connector) tryFound(ctx context.Context, home string, device devices.Device, path paths.Path) error {
	dialer, err := c.dialer(home, device)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, listenerTimeout)
	defer cancel()
	channel, err := dialer.Dial(ctx, path)
	if err != nil {
		return nil
	}
	_ = channel.Transport.Close() // nothing was sent on it
	return devices.Used(devicesPath(home), device.ID, path, channel.RoundTrip, time.Now())
}
