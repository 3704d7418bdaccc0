package cli

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/apps/cli/internal/devices"
	"github.com/scorel/scorel/apps/cli/internal/doctor"
	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/packages/keyfile"
	"github.com/scorel/scorel/packages/protocol/ident"
)

// relayWay is a relay to probe and the devices behind it.
type relayWay struct {
	relayURL string
	devices  []doctor.Device
}

func newDoctor(a *app) *cobra.Command {
	var (
		relay, device string
		asJSON        bool
	)
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Test the connection to each paired machine",
		Long: `Test the connection to paired machines step by step: the relay's address, name
resolution, the connection, proxy and TLS, the relay's answer and login, the clocks, and
for each machine the pairing, its presence, the channel, the seal, and the host. The
first step that fails says what to do.

Without --device, all paired machines are tested; without --relay, all relays that they
were paired on. A machine without pairings tests the relay that its host uses. Nothing
is changed.`,
		Example: `  scorel doctor
  scorel doctor --device desk
  scorel doctor --relay https://relay.example --json`,
		Args: argCount(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if relay != "" {
				if err := checkRelay(relay); err != nil {
					return err
				}
			}
			return a.doctor(cmd.Context(), relay, device, asJSON)
		},
	}
	cmd.Flags().StringVar(&relay, "relay", "", "relay to test instead of those that machines were paired on (SCOREL_RELAY_URL if none were)")
	cmd.Flags().StringVar(&device, "device", "", "test only the connection to this paired device")
	addJSON(cmd, &asJSON)
	return cmd
}

func (a *app) doctor(ctx context.Context, relayURL, device string, asJSON bool) error {
	home, err := a.home()
	if err != nil {
		return err
	}
	ways, err := a.findWays(home, relayURL, device)
	if err != nil {
		return err
	}
	var first *doctor.Failure
	var stopped string // the relay of the first failure
	for _, way := range ways {
		failure, err := a.probeWay(ctx, home, way, asJSON)
		if err != nil {
			return err
		}
		if first == nil && failure != nil {
			first, stopped = failure, way.relayURL
		}
	}
	if first == nil {
		return nil
	}
	to := "the relay " + stopped
	if first.Device != nil {
		to = fmt.Sprintf("%q", first.Device.Label)
	}
	return sayf(first.Step.Err, "the connection to %s failed at %s: %s", to, first.Step.Name, first.Step.Detail)
}

// findWays returns what to probe: the selected devices, grouped by relay.
func (a *app) findWays(home, relayURL, device string) ([]relayWay, error) {
	list, err := devices.Load(devicesPath(home))
	if err != nil {
		return nil, err
	}
	if device != "" {
		one, err := findDevice(home, device)
		if err != nil {
			return nil, err
		}
		one.RelayURL = cmp.Or(relayURL, one.RelayURL)
		list, relayURL = []devices.Device{one}, one.RelayURL
	}
	relays := relaysOf(list)
	if relayURL == "" && len(relays) == 0 {
		relayURL = cmp.Or(a.relayURL(""), relayOfHost(home))
	}
	if relayURL != "" {
		relays = []string{relayURL}
	}
	if len(relays) == 0 {
		return nil, usagef("this machine is not paired with any other, no host is running here and no relay is configured: give --relay URL or set SCOREL_RELAY_URL")
	}
	var ways []relayWay
	for _, relay := range relays {
		way := relayWay{relayURL: relay}
		for _, d := range list {
			if d.RelayURL == relay || sameRelay(d.RelayURL, relay) {
				way.devices = append(way.devices, doctor.Device{ID: d.ID, Public: d.Public, Label: d.Label})
			}
		}
		ways = append(ways, way)
	}
	return ways, nil
}

// relayOfHost returns the relay of the host running on this machine, or "".
func relayOfHost(home string) string {
	state, err := host.ReadState(home)
	if err != nil {
		return "" // no host is running, or its file cannot be read, which other commands report
	}
	return state.RelayURL
}

func (a *app) probeWay(ctx context.Context, home string, way relayWay, asJSON bool) (*doctor.Failure, error) {
	report := &doctorReport{app: a, way: way, asJSON: asJSON}
	if err := report.begin(nil); err != nil {
		return nil, err
	}
	failure, err := doctor.Run(ctx, doctor.Options{
		RelayURL: way.relayURL,
		Keys:     func() (*ident.Private, error) { return entryKeys(home) },
		Label:    machineLabel(),
		Devices:  way.devices,
		Report:   report.step,
	})
	return failure, cmp.Or(err, report.err)
}

// entryKeys reads this machine's identity as an entry. If there is none it returns a
// temporary one, because the doctor changes nothing.
func entryKeys(home string) (*ident.Private, error) {
	keys, err := keyfile.Load(filepath.Join(home, "entry.json"), ident.KindClient)
	if errors.Is(err, fs.ErrNotExist) {
		return ident.Generate(ident.KindClient, rand.Reader)
	}
	return keys, err
}

// doctorReport prints steps as they end.
type doctorReport struct {
	app    *app
	way    relayWay
	asJSON bool
	device *doctor.Device // device of the last step
	err    error          // first write error
}

func (r *doctorReport) begin(device *doctor.Device) error {
	r.device = device
	if r.asJSON {
		return nil
	}
	heading := r.way.relayURL
	if device != nil {
		heading = fmt.Sprintf("\"%s\" (%s)", printable(device.Label), device.ID)
	}
	_, err := fmt.Fprintln(r.app.stdout, heading)
	return err
}

func (r *doctorReport) step(device *doctor.Device, step doctor.Step) {
	if device != r.device {
		r.err = cmp.Or(r.err, r.begin(device))
	}
	if r.asJSON {
		r.err = cmp.Or(r.err, r.printJSON(device, step))
		return
	}
	took := ""
	if step.Status != doctor.StatusSkipped {
		took = fmt.Sprintf(" (%s)", step.Duration.Round(time.Millisecond))
	}
	_, err := fmt.Fprintf(r.app.stdout, "  %-7s  %-8s  %s%s\n", step.Status, step.Name, printable(step.Detail), took)
	if hint := step.Hint(); hint != "" && err == nil {
		_, err = fmt.Fprintf(r.app.stdout, "%21s%s\n", "", hint)
	}
	r.err = cmp.Or(r.err, err)
}

func (r *doctorReport) printJSON(device *doctor.Device, step doctor.Step) error {
	line := struct {
		RelayURL string `json:"relayUrl"`
		DeviceID string `json:"deviceId,omitempty"`
		Label    string `json:"label,omitempty"`
		doctor.Report
	}{RelayURL: r.way.relayURL, Report: step.Report()}
	if device != nil {
		line.DeviceID, line.Label = device.ID.String(), device.Label
	}
	return printJSON(r.app.stdout, line)
}
