package cli

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/apps/cli/internal/devices"
	"github.com/scorel/scorel/apps/cli/internal/doctor"
	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/client/paths"
	"github.com/scorel/scorel/packages/keyfile"
	"github.com/scorel/scorel/packages/protocol/ident"
)

// way is a path to probe and the devices behind it.
type way struct {
	path    paths.Path
	devices []doctor.Device
}

func newDoctor(a *app) *cobra.Command {
	var (
		relay, device, bundle string
		asJSON, yes           bool
	)
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Test every path to each paired machine",
		Long: `Test every path to the paired machines step by step: the address of the relay or listener,
name resolution, the connection, proxy and TLS, its answer and login, the clocks, and for
each machine the pairing, its presence, the channel, the seal, and the host. The first
step that fails says what to do. While another path to a machine works, it is a warning.

Without --device, all paired machines are tested; without --relay, all known paths to
them. A machine without pairings tests every path of the host that runs on it. Nothing
is changed.

With --bundle, collect what helps to find a fault: versions, the results of these tests,
the end of the logs, and which settings config.toml has. Names, paths, addresses, keys and
everything that a message quotes are left out. The bundle is shown first, and written to
the file only after you agree.`,
		Example: `  scorel doctor
  scorel doctor --device desk
  scorel doctor --relay https://relay.example --json
  scorel doctor --bundle report.txt`,
		Args: argCount(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if relay != "" {
				if err := checkRelay(relay); err != nil {
					return err
				}
			}
			switch {
			case bundle == "" && yes:
				return usagef("--yes writes a bundle: name its file with --bundle")
			case bundle != "" && asJSON:
				return usagef("a bundle is text: give --bundle without --json")
			case bundle != "":
				return writeBundle(cmd.Context(), a.console, a.env, bundle, yes, relay, device)
			}
			return (&checkup{env: a.env, stdout: a.stdout, relayURL: relay, device: device, asJSON: asJSON}).run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&relay, "relay", "", "relay to test instead of all known paths (SCOREL_RELAY_URL if no machine is paired)")
	cmd.Flags().StringVar(&device, "device", "", "test only the paths to this paired device")
	cmd.Flags().StringVar(&bundle, "bundle", "", "collect what helps to find a fault, show it, and write it to this file")
	cmd.Flags().BoolVar(&yes, "yes", false, "write the bundle without asking")
	addJSON(cmd, &asJSON)
	return cmd
}

// checkup is one run of the doctor.
type checkup struct {
	env      *environment
	stdout   io.Writer
	relayURL string // to test instead of the known paths; "" if none is named
	device   string // to test alone; "" means all
	asJSON   bool
	home     string
	health   *pathHealth
}

func (c *checkup) run(ctx context.Context) (err error) {
	if c.home, err = c.env.home(); err != nil {
		return err
	}
	ways, err := c.ways()
	if err != nil {
		return err
	}
	c.health = newPathHealth(ways)
	for _, w := range ways {
		failure, err := c.probe(ctx, w)
		if err != nil {
			return err
		}
		c.health.ended(w, failure)
	}
	if err := c.sumUp(); err != nil {
		return err
	}
	return c.health.failure()
}

// ways returns what to probe: the selected devices, grouped by path.
func (c *checkup) ways() ([]way, error) {
	list, err := devices.Load(devicesPath(c.home))
	if err != nil {
		return nil, err
	}
	if c.device != "" {
		one, err := findDevice(c.home, c.device)
		if err != nil {
			return nil, err
		}
		list = []devices.Device{one}
	}
	relayURL := c.relayURL
	if relayURL == "" && len(list) == 0 {
		if relayURL = c.env.relayURL(""); relayURL == "" {
			return unpairedWays(c.home)
		}
	}
	if relayURL != "" {
		return []way{relayWay(relayURL, list, c.device != "")}, nil
	}
	var ways []way
	for _, d := range list {
		known := paths.Order(d.Known())
		if isLocal(c.home, d.ID) {
			known = slices.Insert(known, 0, paths.Known{Path: paths.Direct, Bound: true})
		}
		for _, k := range known {
			i := slices.IndexFunc(ways, func(w way) bool { return w.path.Key() == k.Key() })
			if i < 0 {
				ways, i = append(ways, way{path: k.Path}), len(ways)
			}
			ways[i].devices = append(ways[i].devices, probed(d, !k.Bound))
		}
	}
	return ways, nil
}

// relayWay returns a relay that was named, with the devices that it is a path to, or with all.
func relayWay(relayURL string, list []devices.Device, all bool) way {
	w := way{path: paths.Path{Kind: paths.Relay, URL: relayURL}}
	for _, d := range list {
		i := slices.IndexFunc(d.Known(), func(k paths.Known) bool { return k.Key() == w.path.Key() })
		if all || i >= 0 {
			w.devices = append(w.devices, probed(d, false))
		}
	}
	return w
}

func probed(d devices.Device, isNew bool) doctor.Device {
	return doctor.Device{ID: d.ID, Public: d.Public, Label: d.Label, New: isNew}
}

// unpairedWays returns the paths of the host running on this machine, for one that is paired
// with no other.
func unpairedWays(home string) ([]way, error) {
	var ways []way
	for _, relay := range relaysOfHost(home) {
		ways = append(ways, relayWay(relay, nil, false))
	}
	if len(ways) == 0 {
		return nil, usagef("this machine is not paired with any other, no host is running here and no relay is configured: give --relay URL or set SCOREL_RELAY_URL")
	}
	return ways, nil
}

// relaysOfHost returns the relays of the host running on this machine, and its listeners.
func relaysOfHost(home string) []string {
	state, err := host.ReadState(home)
	switch {
	case err != nil:
		return nil // no host is running, or its file cannot be read, which other commands report
	case len(state.Relays) == 0 && state.RelayURL != "": // an older host
		return []string{state.RelayURL}
	}
	return state.Relays
}

func (c *checkup) probe(ctx context.Context, w way) (*doctor.Failure, error) {
	report := &doctorReport{stdout: c.stdout, path: w.path, health: c.health, asJSON: c.asJSON}
	if err := report.begin(nil); err != nil {
		return nil, err
	}
	opts := doctor.Options{
		RelayURL: w.path.URL,
		Keys:     func() (*ident.Private, error) { return entryKeys(c.home) },
		Label:    machineLabel(),
		Devices:  w.devices,
		Report:   report.step,
		Listener: w.path.Kind == paths.Machine || w.path.Kind == paths.Network,
	}
	run := doctor.Run
	if w.path == paths.Direct {
		run = func(ctx context.Context, opts doctor.Options) (*doctor.Failure, error) {
			return doctor.RunDirect(ctx, opts, &w.devices[0], func(ctx context.Context) (client.Transport, error) { return host.DialLocal(ctx, c.home) })
		}
	}
	failure, err := run(ctx, opts)
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
	stdout io.Writer
	path   paths.Path // zero for the sum of all paths
	health *pathHealth
	asJSON bool
	device *doctor.Device // device of the last step
	err    error          // first write error
}

func (r *doctorReport) begin(device *doctor.Device) error {
	r.device = device
	if r.asJSON {
		return nil
	}
	heading := printable(r.path.String())
	if device != nil {
		heading = fmt.Sprintf("\"%s\" (%s)", printable(device.Label), device.ID)
	}
	_, err := fmt.Fprintln(r.stdout, heading)
	return err
}

func (r *doctorReport) step(device *doctor.Device, step doctor.Step) {
	r.health.note(device, r.path, step)
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
	_, err := fmt.Fprintf(r.stdout, "  %-7s  %-8s  %s%s\n", step.Status, step.Name, printable(step.Detail), took)
	if hint := step.Hint(); hint != "" && err == nil {
		_, err = fmt.Fprintf(r.stdout, "%21s%s\n", "", hint)
	}
	r.err = cmp.Or(r.err, err)
}

func (r *doctorReport) printJSON(device *doctor.Device, step doctor.Step) error {
	line := struct {
		RelayURL string `json:"relayUrl,omitempty"` // of the relay or listener
		DeviceID string `json:"deviceId,omitempty"`
		Label    string `json:"label,omitempty"`
		doctor.Report
		Path string `json:"path,omitempty"` // relay, network or machine
	}{RelayURL: r.path.URL, Path: string(r.path.Kind), Report: step.Report()}
	if device != nil {
		line.DeviceID, line.Label = device.ID.String(), device.Label
	}
	return printJSON(r.stdout, line)
}
