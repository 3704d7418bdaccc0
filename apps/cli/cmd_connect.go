package cli

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/apps/cli/internal/devices"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/client/paths"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/pair"
	"github.com/scorel/scorel/packages/protocol/wire"
)

func newConnect(a *app) *cobra.Command {
	var (
		relay, invite string
		asJSON        bool
	)
	cmd := &cobra.Command{
		Use:   "connect [CODE]",
		Short: "Pair this machine as a client of another one",
		Long: `Pair this machine with another one that runs a host, so that commands with --device can
reach it. Enter the CODE that the other machine shows; without CODE, this machine shows
one, and the command to run there.`,
		Example: `  scorel connect 7K3M-9QXR-2BTD --relay https://relay.example
  scorel connect --relay https://relay.example`,
		Args: argCount(0, 1, "at most one pairing code"),
		RunE: func(cmd *cobra.Command, args []string) error {
			url := a.env.relayURL(relay)
			if url == "" {
				return usagef("no relay is configured: give --relay URL or set SCOREL_RELAY_URL")
			}
			if err := checkRelay(url); err != nil {
				return err
			}
			var code *pair.Code
			if len(args) == 1 {
				parsed, err := pair.ParseCode(args[0])
				if err != nil {
					return err
				}
				code = &parsed
			}
			return connectTo(cmd.Context(), a.stdout, a.connector(), code, url, a.env.invite(invite), asJSON)
		},
	}
	cmd.Flags().StringVar(&relay, "relay", "", "relay that the other machine uses (SCOREL_RELAY_URL)")
	addInvite(cmd, &invite)
	addJSON(cmd, &asJSON)
	return cmd
}

func connectTo(ctx context.Context, stdout io.Writer, via connector, code *pair.Code, relayURL, invite string, asJSON bool) error {
	home, err := via.env.home()
	if err != nil {
		return err
	}
	entry, err := dialEntry(ctx, home, paths.Path{Kind: paths.Relay, URL: relayURL}, invite)
	if err != nil {
		return err
	}
	defer entry.Close()
	pairing, err := beginConnect(ctx, stdout, entry, code, relayURL, asJSON)
	if err != nil {
		return err
	}
	waiting, cancel := context.WithTimeoutCause(ctx, wire.PairTimeout,
		&client.PairError{Kind: wire.KindPairUnknown, Message: "the code has expired: run the command again"})
	defer cancel()
	if _, err := pairing.Await(waiting); err != nil {
		pairing.Reject()
		return err
	}
	// The other machine has proved that it knows the code, so it is the one that the person
	// carried the code to. Its own person is asked there.
	peer, err := pairing.Accept(waiting)
	if err != nil {
		pairing.Reject()
		return err
	}
	device := devices.Device{ID: peer.ID, Public: peer.Public, Label: peer.Label, RelayURL: relayURL, PairedAt: time.Now().UnixMilli()}
	if err := devices.Add(devicesPath(home), device); err != nil {
		return err
	}
	if err := printConnected(stdout, device, asJSON); err != nil {
		return err
	}
	entry.Close()
	via.learnPaths(ctx, home, device)
	return nil
}

// learnTimeout bounds how long a new device is asked for its paths.
const learnTimeout = 10 * time.Second

// learnPaths asks a device that was just paired for its paths, and binds this client there. A
// later connection does what this one does not.
func (c connector) learnPaths(ctx context.Context, home string, device devices.Device) {
	ctx, cancel := context.WithTimeout(ctx, learnTimeout)
	defer cancel()
	reached, err := c.reach(home, device)
	if err != nil {
		return
	}
	defer func() { _ = reached.Close() }() // nothing is kept
	if transport, err := reached.Dial(ctx); err == nil {
		_ = transport.Close() // waits until the paths are known
	}
}

func beginConnect(ctx context.Context, stdout io.Writer, entry *client.Entry, code *pair.Code, relayURL string, asJSON bool) (*client.Pairing, error) {
	if code != nil {
		return entry.Pairings().Redeem(ctx, *code)
	}
	pairing, err := entry.Pairings().Create(ctx)
	if err != nil {
		return nil, err
	}
	shown := pairing.Code.Reveal()
	return pairing, showCode(stdout, shown, "", pairing.ExpiresAt.UnixMilli(), asJSON, "scorel pair "+shown+" --relay "+relayURL)
}

func printConnected(stdout io.Writer, device devices.Device, asJSON bool) error {
	if asJSON {
		return printJSON(stdout, struct {
			Paired   bool     `json:"paired"`
			DeviceID ident.ID `json:"deviceId"`
			Label    string   `json:"label"`
		}{true, device.ID, device.Label})
	}
	_, err := fmt.Fprintf(stdout, "connected with \"%s\" (%s): try `scorel project list --device %s`\n", printable(device.Label), device.ID, device.ID)
	return err
}
