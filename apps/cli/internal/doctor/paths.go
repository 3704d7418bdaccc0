package doctor

import (
	"context"
	"errors"
	"fmt"

	"github.com/scorel/scorel/packages/client"
)

// RunDirect tests the direct connection to the host on this machine, which has one step.
func RunDirect(ctx context.Context, opts Options, device *Device, dial func(context.Context) (client.Transport, error)) (*Failure, error) {
	d := &deviceProbe{probe: &probe{opts: opts.withDefaults()}, device: device}
	defer d.close()
	failure := d.chain(ctx, device, []check{{name: StepAPI, run: func(ctx context.Context) outcome {
		transport, err := dial(ctx)
		if err != nil {
			return failed(APISilent, unreachable(err), "%s", reason(err))
		}
		d.direct = transport
		return d.api(ctx)
	}}})
	return failure, ctx.Err()
}

// Paths sums up the tests of all paths to a machine. A path that fails is a warning while
// another works. cause is the first failure.
func Paths(working, all int, used string, cause error) Step {
	step := Step{Name: StepPaths, Status: StatusOK, Detail: fmt.Sprintf("%d of %d work; in use: %s", working, all, used)}
	switch {
	case working == 0:
		step.Status, step.Finding, step.Err = StatusFailed, PathsNone, errors.Join(errors.New("no path works"), cause)
		step.Detail = fmt.Sprintf("none of %d works", all)
	case working < all:
		step.Status, step.Finding = StatusWarn, PathsPartly
	}
	return step
}
