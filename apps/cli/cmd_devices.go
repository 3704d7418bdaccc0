package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/apps/cli/internal/devices"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// presenceTimeout bounds how long the list waits for a relay.
const presenceTimeout = 5 * time.Second

// deviceLine is a line of the list. State is online, offline, revoked (the relay no longer
// knows the pairing) or unreachable (the relay does not respond).
type deviceLine struct {
	ID       ident.ID `json:"id"`
	Label    string   `json:"label"`
	State    string   `json:"state"`
	RelayURL string   `json:"relayUrl"`
	PairedAt int64    `json:"pairedAt"`
}

func newDevices(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "devices",
		Short:   "List the machines that this one is paired with",
		Example: "  scorel devices\n  scorel devices forget dev_...",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return runGroup(cmd, args)
			}
			return a.listDevices(cmd.Context(), asJSON)
		},
	}
	addJSON(cmd, &asJSON)
	cmd.AddCommand(newDevicesForget(a))
	return cmd
}

func (a *app) listDevices(ctx context.Context, asJSON bool) error {
	home, err := a.home()
	if err != nil {
		return err
	}
	list, err := devices.Load(devicesPath(home))
	if err != nil {
		return err
	}
	return printList(a, asJSON, presence(ctx, home, list), listing[deviceLine]{
		none:   "this machine is not paired with any other: `scorel connect` pairs one",
		header: []string{"ID", "STATE", "PAIRED", "RELAY", "LABEL"},
		row: func(_ int, l deviceLine) []string {
			return []string{l.ID.String(), l.State, formatMillis(l.PairedAt), l.RelayURL, l.Label}
		},
	})
}

// presence queries every relay once, all at the same time.
func presence(ctx context.Context, home string, list []devices.Device) []deviceLine {
	ctx, cancel := context.WithTimeout(ctx, presenceTimeout)
	defer cancel()
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		peers = map[string][]wire.Peer{} // by relay; missing if it did not respond
	)
	for _, relayURL := range relaysOf(list) {
		wg.Go(func() {
			entry, err := dialEntry(ctx, home, relayURL, "")
			if err != nil {
				return
			}
			defer entry.Close()
			mu.Lock()
			defer mu.Unlock()
			peers[relayURL] = entry.Peers()
		})
	}
	wg.Wait()
	lines := make([]deviceLine, 0, len(list))
	for _, d := range list {
		known, answered := peers[d.RelayURL]
		lines = append(lines, deviceLine{d.ID, d.Label, stateOf(d.ID, known, answered), d.RelayURL, d.PairedAt})
	}
	return lines
}

func relaysOf(list []devices.Device) []string {
	var relays []string
	for _, d := range list {
		if !slices.Contains(relays, d.RelayURL) {
			relays = append(relays, d.RelayURL)
		}
	}
	return relays
}

func stateOf(id ident.ID, peers []wire.Peer, answered bool) string {
	if !answered {
		return "unreachable"
	}
	i := slices.IndexFunc(peers, func(p wire.Peer) bool { return p.ID == id })
	switch {
	case i < 0:
		return "revoked"
	case peers[i].Online:
		return "online"
	}
	return "offline"
}

func newDevicesForget(a *app) *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:     "forget ID",
		Short:   "Unpair from a machine, here and on its relay",
		Example: "  scorel devices forget dev_...\n  scorel devices forget dev_... --force",
		Args:    argCount(1, 1, "the id or the label of one device"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.forgetDevice(cmd.Context(), args[0], force)
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "remove it here even if its relay cannot be reached")
	return cmd
}

func (a *app) forgetDevice(ctx context.Context, name string, force bool) error {
	home, err := a.home()
	if err != nil {
		return err
	}
	device, err := findDevice(home, name)
	if err != nil {
		return err
	}
	if err := revokeAtRelay(ctx, home, device); err != nil && !force {
		return sayf(err, "%s was not forgotten, because its relay could not be notified: %s; try again, or add --force to forget it only here", device.ID, sentence(err))
	}
	if err := devices.Remove(devicesPath(home), device.ID); err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.stdout, "forgot \"%s\" (%s)\n", printable(device.Label), device.ID)
	return err
}

// revokeAtRelay ends the binding. It is not an error if the binding is already gone.
func revokeAtRelay(ctx context.Context, home string, device devices.Device) error {
	entry, err := dialEntry(ctx, home, device.RelayURL, "")
	if err != nil {
		return err
	}
	defer entry.Close()
	err = entry.Revoke(ctx, device.ID)
	var refused *wire.Error
	if errors.As(err, &refused) && (refused.Kind == wire.KindNotFound || refused.Kind == wire.KindUnauthorized) {
		return nil
	}
	return err
}
