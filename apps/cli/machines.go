package cli

import (
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/scorel/scorel/apps/cli/internal/devices"
	"github.com/scorel/scorel/apps/host"
)

// machine is a host that a command asks together with others.
type machine struct {
	*target
	label string
}

// machines returns the host of --device. Without it, they are the one on this machine, if it
// runs, and every paired one.
func (t *target) machines() ([]machine, error) {
	home, err := t.via.env.home()
	if err != nil {
		return nil, err
	}
	if !t.local() {
		device, err := findDevice(home, t.name())
		return []machine{{t, device.Label}}, err
	}
	paired, err := devices.Load(devicesPath(home))
	if err != nil {
		return nil, err
	}
	var list []machine
	if _, err := host.ReadState(home); err == nil || len(paired) == 0 { // alone, its error says how to start it
		list = append(list, machine{t, "this machine"})
	}
	for _, device := range paired {
		if !isLocal(home, device.ID) {
			list = append(list, machine{t.other(device.ID.String()), device.Label})
		}
	}
	return list, nil
}

// askMachines asks all machines at the same time and returns their results in the order of the
// machines. Those that fail are named on standard error; if all fail, that is an error.
func askMachines[T any](ctx context.Context, stderr io.Writer, list []machine, question func(context.Context, machine) ([]T, error)) ([]T, error) {
	results, errs := make([][]T, len(list)), make([]error, len(list))
	var wg sync.WaitGroup
	for i, m := range list {
		wg.Go(func() { results[i], errs[i] = question(ctx, m) })
	}
	wg.Wait()
	var (
		all    []T
		first  error
		failed int
	)
	for i, err := range errs {
		all = append(all, results[i]...)
		if err == nil {
			continue
		}
		failed++
		if first == nil {
			first = err
		}
	}
	if failed > 0 && failed == len(list) {
		return nil, first
	}
	for i, err := range errs {
		if err != nil {
			fmt.Fprintf(stderr, "scorel: %s is left out: %s\n", printable(list[i].label), sentence(err))
		}
	}
	return all, ctx.Err()
}
