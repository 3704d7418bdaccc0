package cli

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/apps/cli/internal/devices"
	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/client/link"
	"github.com/scorel/scorel/packages/keyfile"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// target says which host a command speaks to.
type target struct {
	app    *app
	device string // "" is the host on this machine
}

func (a *app) targetFlag(cmd *cobra.Command) *target {
	t := &target{app: a}
	cmd.Flags().StringVar(&t.device, "device", "", "speak to this paired device through its relay instead of the host on this machine")
	return t
}

// local tells whether the host is the one on this machine.
func (t *target) local() bool { return t.device == "" }

// dial connects to the host.
func (t *target) dial(ctx context.Context) (client.Transport, error) {
	home, err := t.app.home()
	if err != nil {
		return nil, err
	}
	if t.local() {
		return host.DialLocal(ctx, home)
	}
	device, err := findDevice(home, t.device)
	if err != nil {
		return nil, err
	}
	entry, err := dialEntry(ctx, home, device.RelayURL, "")
	if err != nil {
		return nil, err
	}
	transport, err := entry.OpenDevice(ctx, device.ID, device.Seal, device.Label)
	if err != nil {
		entry.Close()
		return nil, err
	}
	return &overRelay{transport, entry}, nil
}

// connect is dial with a client on top that takes no events.
func (t *target) connect(ctx context.Context) (*client.Client, error) {
	transport, err := t.dial(ctx)
	if err != nil {
		return nil, err
	}
	return client.New(transport, nil), nil
}

// overRelay is a channel that takes its connection to the relay with it.
type overRelay struct {
	client.Transport
	entry *client.Entry
}

func (o *overRelay) Close() error {
	err := o.Transport.Close()
	o.entry.Close()
	return err
}

// ask connects, sends one request and closes.
func ask[Response any](ctx context.Context, t *target, name string, request any) (response Response, _ error) {
	c, err := t.connect(ctx)
	if err != nil {
		return response, err
	}
	defer func() { _ = c.Close() }() // used to the end: how the other side takes it is of no interest
	return client.Call[Response](ctx, c, name, request)
}

// getHost asks the host on this machine to describe itself.
func getHost(ctx context.Context, c *client.Client) (api.HostInfo, error) {
	response, err := client.Call[api.GetHostResponse](ctx, c, "get_host", api.Empty{})
	return response.Host, err
}

func devicesPath(home string) string { return filepath.Join(home, "devices.json") }

func findDevice(home, name string) (devices.Device, error) {
	list, err := devices.Load(devicesPath(home))
	if err != nil {
		return devices.Device{}, err
	}
	device, err := devices.Find(list, name)
	switch {
	case errors.Is(err, devices.ErrUnknown):
		return device, sayf(err, "this machine is not paired with a device %q: `scorel devices` lists them, `scorel connect` adds one", name)
	case errors.Is(err, devices.ErrAmbiguous):
		return device, sayf(err, "more than one device is named %q: give its id, as `scorel devices` shows it", name)
	}
	return device, err
}

// dialEntry logs this machine in to a relay as an entry. invite may be "".
func dialEntry(ctx context.Context, home, relayURL, invite string) (*client.Entry, error) {
	keys, err := keyfile.LoadOrCreate(filepath.Join(home, "entry.json"), ident.KindClient)
	if err != nil {
		return nil, err
	}
	return client.DialEntry(ctx, link.Config{RelayURL: relayURL, Keys: keys, Label: machineLabel(), Invite: invite})
}

// machineLabel is how this machine names itself to the other side.
func machineLabel() string {
	name, err := os.Hostname()
	if err != nil {
		name = ""
	}
	return cleanLabel(cmp.Or(name, "unnamed") + " (terminal)")
}

// cleanLabel makes a text fit for a label on the wire.
func cleanLabel(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == utf8.RuneError {
			return -1
		}
		return r
	}, text)
	for len(text) > wire.MaxLabel {
		_, size := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-size]
	}
	return text
}
