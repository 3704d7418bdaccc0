package cli

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/apps/cli/internal/devices"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/keyfile"
	"github.com/scorel/scorel/packages/protocol/ident"
)

// A session can move to another device between two commands, or during one. Commands go on
// there if this machine is paired with it.

// targeted is a command and the host it talks to.
type targeted struct {
	cmd *cobra.Command
	to  *target
}

// followMoves has every command with --device run again on the device that its session was
// moved to. A host refuses the first request about such a session, so nothing is done twice.
func (a *app) followMoves() {
	for _, one := range a.targeted {
		run := one.cmd.RunE
		one.cmd.RunE = func(cmd *cobra.Command, args []string) error {
			return one.to.whereItIs(cmd.Context(), func() error { return run(cmd, args) })
		}
	}
	a.targeted = nil
}

// whereItIs runs requests about a session, again on every device that it was moved to.
func (t *target) whereItIs(ctx context.Context, run func() error) error {
	var trail client.Trail
	for {
		err := run()
		device, moved := client.MovedTo(err)
		if !moved || ctx.Err() != nil {
			return err
		}
		if err := trail.Add(device); err != nil {
			return err
		}
		name, err := t.followMove(device)
		if err != nil {
			return err
		}
		fmt.Fprintf(t.con.stderr, "scorel: %s\n", continuing(name))
	}
}

// continuing is the message shown when a command follows a session.
func continuing(name string) string {
	return fmt.Sprintf("the session moved to %s; continuing there", printable(name))
}

// followMove has the next connection lead to the device that the session was moved to, and
// returns its name for people.
func (t *target) followMove(device string) (name string, err error) {
	if t.guest != nil {
		return "", sayf(errRefused, "the session moved to another machine, where this guest link does not work: ask for a new one")
	}
	home, err := t.via.env.home()
	if err != nil {
		return "", err
	}
	if isThisMachine(home, device) {
		t.replace("")
		return "this machine", nil
	}
	list, err := devices.Load(devicesPath(home))
	if err != nil {
		return "", err
	}
	found, err := devices.Find(list, device)
	if err != nil {
		return "", sayf(errUnreachable, "the session moved to %s, and this machine is not paired with it: run `scorel connect` here and `scorel pair CODE` on that machine, then try again", printable(device))
	}
	t.replace(device)
	return found.Label, nil
}

// isThisMachine reports whether a device is the host of this home, which may not run.
func isThisMachine(home, device string) bool {
	keys, err := keyfile.Load(filepath.Join(home, "identity.json"), ident.KindDevice)
	return err == nil && keys.ID().String() == device
}
