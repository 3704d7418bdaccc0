package cli

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/apps/cli/internal/devices"
	"github.com/scorel/scorel/apps/cli/internal/shortid"
	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/client/paths"
	"github.com/scorel/scorel/packages/client/relayconn"
	"github.com/scorel/scorel/packages/keyfile"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// target selects the host that a command talks to.
type target struct {
	con    console
	via    connector
	ends   *ends
	device string     // as the command names it; "" means the host on this machine
	given  string     // the guest link that the command names, or ""
	guest  *guestLink // of given; set before the first connection

	mu      sync.Mutex
	moved   *string       // replaces device once the session was moved
	reached *paths.Device // nil until the first connection to a paired device
}

// target returns what leads to a device, or with "" to the host on this machine.
func (a *app) target(device string) *target {
	return &target{con: a.console, via: a.connector(), ends: &a.ends, device: device}
}

// other returns what leads to another device in the same way.
func (t *target) other(device string) *target {
	return &target{con: t.con, via: t.via, ends: t.ends, device: device}
}

func (a *app) targetFlag(cmd *cobra.Command) *target {
	t := a.target("")
	a.targeted = append(a.targeted, targeted{cmd, t})
	cmd.Flags().StringVar(&t.device, "device", "", "use this paired device instead of the host on this machine")
	return t
}

// local reports whether the host is the one on this machine.
func (t *target) local() bool { return t.guest == nil && t.name() == "" }

// name returns the device in use, or "" for the host on this machine.
func (t *target) name() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.nameLocked()
}

func (t *target) nameLocked() string {
	if t.moved != nil {
		return *t.moved
	}
	return t.device
}

// replace has the next connection lead to another device.
func (t *target) replace(device string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.moved, t.reached = &device, nil
}

// dial connects to the host for a short time.
func (t *target) dial(ctx context.Context) (client.Transport, error) {
	return t.open(ctx, (*paths.Device).Dial)
}

// keep connects to the host. The connection may move to a better path: it ends with
// client.ErrMoved, and the next one is over that path.
func (t *target) keep(ctx context.Context) (client.Transport, error) {
	return t.open(ctx, (*paths.Device).Keep)
}

func (t *target) open(ctx context.Context, how func(*paths.Device, context.Context) (client.Transport, error)) (client.Transport, error) {
	if t.guest != nil {
		return t.guest.dial(ctx)
	}
	home, err := t.via.env.home()
	if err != nil {
		return nil, err
	}
	if t.local() {
		return host.DialLocal(ctx, home)
	}
	device, err := t.reach(home)
	if err != nil {
		return nil, err
	}
	return how(device, ctx)
}

// localPause is the first pause before another attempt to reach the host on this machine, and
// later ones are a fifth of those of a relay: an attempt costs little there, and nothing reports
// that the host is back.
const localPause = 200 * time.Millisecond

// wait waits before another attempt to connect, less if the device may be back.
func (t *target) wait(ctx context.Context, most time.Duration) error {
	if t.guest != nil {
		return t.guest.standby.Wait(ctx, most)
	}
	if t.local() {
		most = min(most, max(localPause, most/5))
	}
	t.mu.Lock()
	reached := t.reached
	t.mu.Unlock()
	if reached == nil {
		return (*client.Standby)(nil).Wait(ctx, most)
	}
	return reached.Wait(ctx, most)
}

func (t *target) reach(home string) (*paths.Device, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.reached != nil {
		return t.reached, nil
	}
	device, err := findDevice(home, t.nameLocked())
	if err != nil {
		return nil, err
	}
	if t.reached, err = t.via.reach(home, device); err != nil {
		return nil, err
	}
	t.ends.add(t.reached.Close)
	return t.reached, nil
}

// pathName names the path of the last connection, or returns "".
func (t *target) pathName() string {
	switch {
	case t.guest != nil:
		return t.guest.pathName()
	case t.local():
		return paths.Direct.Name()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.reached == nil {
		return ""
	}
	used, ok := t.reached.Used()
	if !ok {
		return ""
	}
	return used.Name()
}

// connect is dial with a client that ignores events.
func (t *target) connect(ctx context.Context) (*client.Client, error) {
	transport, err := t.dial(ctx)
	if err != nil {
		return nil, err
	}
	return client.New(transport, nil), nil
}

// use connects, runs requests and closes.
func (t *target) use(ctx context.Context, run func(c *client.Client) error) error {
	c, err := t.connect(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }() // everything was received; an error of closing does not matter
	return run(c)
}

// ask connects, sends one request and closes.
func ask[Request, Response any](ctx context.Context, t *target, to api.Definition[Request, Response], request Request) (response Response, _ error) {
	err := t.use(ctx, func(c *client.Client) (err error) {
		response, err = client.Call(ctx, c, to, request)
		return err
	})
	return response, err
}

// connectLocal connects to the host of a home on this machine, with a client that ignores events.
func connectLocal(ctx context.Context, home string) (*client.Client, error) {
	transport, err := host.DialLocal(ctx, home)
	if err != nil {
		return nil, err
	}
	return client.New(transport, nil), nil
}

// useLocal connects to the host of a home on this machine, runs requests and closes.
func useLocal(ctx context.Context, home string, run func(c *client.Client) error) error {
	c, err := connectLocal(ctx, home)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }() // everything was received; an error of closing does not matter
	return run(c)
}

// getHost returns what a host says of itself.
func getHost(ctx context.Context, c *client.Client) (api.HostInfo, error) {
	response, err := client.Call(ctx, c, api.GetHost, api.Empty{})
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
	case errors.Is(err, shortid.ErrUnknown):
		return device, sayf(err, "this machine is not paired with a device %q: `scorel devices` lists devices, `scorel connect` pairs one", name)
	case errors.Is(err, shortid.ErrAmbiguous):
		return device, sayf(err, "more than one device is named %q: give its id, as `scorel devices` shows it", name)
	}
	return device, err
}

// dialEntry logs this machine in to a relay or listener as an entry. invite may be "".
func dialEntry(ctx context.Context, home string, path paths.Path, invite string) (*client.Entry, error) {
	keys, err := clientKeys(home)
	if err != nil {
		return nil, err
	}
	return client.DialEntry(ctx, relayconn.Config{
		RelayURL: path.URL, Keys: keys, Label: machineLabel(), Invite: invite, NoProxy: !path.Remote(),
	})
}

// clientKeys returns the keys of this machine's command line.
func clientKeys(home string) (*ident.Private, error) {
	return keyfile.LoadOrCreate(filepath.Join(home, "entry.json"), ident.KindClient)
}

// machineLabel returns this machine's name for the other side.
func machineLabel() string {
	name, err := os.Hostname()
	if err != nil {
		name = ""
	}
	return cleanLabel(cmp.Or(name, "unnamed") + " (terminal)")
}

// cleanLabel makes a text a valid label on the wire.
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
