package cli

import (
	"fmt"

	"github.com/scorel/scorel/apps/cli/internal/doctor"
	"github.com/scorel/scorel/packages/client/paths"
	"github.com/scorel/scorel/packages/protocol/ident"
)

// pathHealth sums up the paths of each device. One goroutine owns it.
type pathHealth struct {
	devices []*deviceHealth
	relay   *doctor.Failure // of a path without devices
	stopped string          // that path
}

// deviceHealth is what the probes found about one device.
type deviceHealth struct {
	device doctor.Device
	all    int
	works  []paths.Path
	failed *doctor.Failure // the first one
	sum    *doctor.Step    // nil if there is one path
}

func newPathHealth(ways []way) *pathHealth {
	h := &pathHealth{}
	for _, w := range ways {
		for _, d := range w.devices {
			one := h.of(d.ID)
			if one == nil {
				one = &deviceHealth{device: d}
				h.devices = append(h.devices, one)
			}
			one.all++
		}
	}
	return h
}

func (h *pathHealth) of(id ident.ID) *deviceHealth {
	for _, d := range h.devices {
		if d.device.ID == id {
			return d
		}
	}
	return nil
}

// note takes a step of a device.
func (h *pathHealth) note(device *doctor.Device, path paths.Path, step doctor.Step) {
	if device == nil || step.Name == doctor.StepPaths {
		return
	}
	one := h.of(device.ID)
	switch {
	case step.Status == doctor.StatusFailed && one.failed == nil:
		one.failed = &doctor.Failure{Device: device, Step: step}
	case step.Name == doctor.StepAPI && (step.Status == doctor.StatusOK || step.Status == doctor.StatusWarn):
		one.works = append(one.works, path)
	}
}

// ended takes the end of a path's probe. A failure before any device is one of all of them.
func (h *pathHealth) ended(w way, failure *doctor.Failure) {
	if failure == nil || failure.Device != nil {
		return
	}
	for _, d := range w.devices {
		if one := h.of(d.ID); one.failed == nil {
			one.failed = failure
		}
	}
	if len(w.devices) == 0 {
		h.relay, h.stopped = failure, w.path.String()
	}
}

// sumUp reports on each device with several paths.
func (c *checkup) sumUp() error {
	report := &doctorReport{stdout: c.stdout, health: c.health, asJSON: c.asJSON}
	for _, d := range c.health.devices {
		if d.all < 2 {
			continue
		}
		used := ""
		if len(d.works) > 0 {
			used = d.works[0].String()
		}
		var cause error
		if d.failed != nil {
			cause = d.failed.Step.Err
		}
		step := doctor.Paths(len(d.works), d.all, used, cause)
		d.sum = &step
		report.step(&d.device, step)
	}
	return report.err
}

// failure returns the error of the first device that no path reaches.
func (h *pathHealth) failure() error {
	if h.relay != nil {
		return sayf(h.relay.Step.Err, "the connection to the relay %s failed at %s: %s", h.stopped, h.relay.Step.Name, h.relay.Step.Detail)
	}
	for _, d := range h.devices {
		if len(d.works) > 0 || d.failed == nil {
			continue
		}
		step := d.failed.Step
		if d.sum != nil {
			step = *d.sum
		}
		return sayf(step.Err, "the connection to %s failed at %s: %s", fmt.Sprintf("%q", d.device.Label), step.Name, step.Detail)
	}
	return nil
}
