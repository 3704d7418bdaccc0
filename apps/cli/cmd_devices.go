package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/apps/cli/internal/devices"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/client/paths"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// How long the list waits for a relay, and for a listener of a network that may be another one.
const (
	presenceTimeout = 5 * time.Second
	listenerTimeout = 2 * time.Second
)

// deviceLine is a device of the list. Its state is that of its best path.
type deviceLine struct {
	ID       ident.ID   `json:"id"`
	Label    string     `json:"label"`
	State    string     `json:"state"`
	RelayURL string     `json:"relayUrl"`
	PairedAt int64      `json:"pairedAt"`
	Paths    []pathLine `json:"paths"`
}

// pathLine is a path to a device. State is online, offline, revoked (the relay no longer knows
// the pairing), new (the relay does not know the pairing yet) or unreachable (nothing responds).
type pathLine struct {
	Kind        paths.Kind `json:"kind"`
	URL         string     `json:"url,omitempty"` // absent for the host on this machine
	State       string     `json:"state"`
	RoundTripMs float64    `json:"roundTripMs,omitempty"` // of the last connection
	InUse       bool       `json:"inUse,omitempty"`       // the next connection takes this path
}

func newDevices(a *app) *cobra.Command {
	var asJSON, find bool
	cmd := &cobra.Command{
		Use:     "devices",
		Short:   "List the machines that this one is paired with, and the paths to them",
		Example: "  scorel devices\n  scorel devices --find\n  scorel devices forget dev_...",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return runGroup(cmd, args)
			}
			return listDevices(cmd.Context(), a.stdout, a.connector(), asJSON, find)
		},
	}
	addJSON(cmd, &asJSON)
	cmd.Flags().BoolVar(&find, "find", false, "look on the local network first for machines that announce themselves (mDNS)")
	cmd.AddCommand(newDevicesForget(a))
	return cmd
}

func listDevices(ctx context.Context, stdout io.Writer, via connector, asJSON, find bool) error {
	home, err := via.env.home()
	if err != nil {
		return err
	}
	list, err := devices.Load(devicesPath(home))
	if err != nil {
		return err
	}
	if find && len(list) > 0 {
		if list, err = via.find(ctx, home, list); err != nil {
			return err
		}
	}
	lines := presence(ctx, home, list)
	if asJSON {
		return printEach(stdout, lines)
	}
	return printList(stdout, false, pathRows(lines), listing[[]string]{
		none:   "this machine is not paired with any other: `scorel connect` pairs one",
		header: []string{"ID", "STATE", "PATH", "ROUND TRIP", "PAIRED", "LABEL"},
		row:    func(_ int, row []string) []string { return row },
	})
}

// pathRows returns a row for each path of each device; the path in use has a star.
func pathRows(lines []deviceLine) [][]string {
	var rows [][]string
	for _, l := range lines {
		for i, p := range l.Paths {
			id, paired, label, mark, trip := l.ID.String(), formatMillis(l.PairedAt), l.Label, "", ""
			if i > 0 {
				id, paired, label = "", "", ""
			}
			if p.InUse && len(l.Paths) > 1 {
				mark = " *"
			}
			if p.RoundTripMs > 0 {
				trip = fmt.Sprintf("%.1f ms", p.RoundTripMs)
			}
			rows = append(rows, []string{id, p.State, paths.Path{Kind: p.Kind, URL: p.URL}.String() + mark, trip, paired, label})
		}
	}
	return rows
}

// presence queries every relay and listener once, all at the same time.
func presence(ctx context.Context, home string, list []devices.Device) []deviceLine {
	var (
		wg      sync.WaitGroup
		mu      sync.Mutex
		answers = map[string][]wire.Peer{} // by path; missing if it did not respond
		asked   = map[string]bool{}
	)
	for _, d := range list {
		for _, k := range d.Known() {
			if asked[k.Key()] {
				continue
			}
			asked[k.Key()] = true
			wg.Go(func() {
				timeout := presenceTimeout
				if !k.Remote() {
					timeout = listenerTimeout
				}
				ctx, cancel := context.WithTimeout(ctx, timeout)
				defer cancel()
				entry, err := dialEntry(ctx, home, k.Path, "")
				if err != nil {
					return
				}
				defer entry.Close()
				mu.Lock()
				defer mu.Unlock()
				answers[k.Key()] = entry.Peers()
			})
		}
	}
	wg.Wait()
	lines := make([]deviceLine, 0, len(list))
	for _, d := range list {
		lines = append(lines, lineOf(home, d, answers))
	}
	return lines
}

// lineOf describes a device, with its paths in the order in which they are used.
func lineOf(home string, d devices.Device, answers map[string][]wire.Peer) deviceLine {
	line := deviceLine{ID: d.ID, Label: d.Label, RelayURL: d.RelayURL, PairedAt: d.PairedAt}
	if isLocal(home, d.ID) {
		line.Paths = append(line.Paths, pathLine{Kind: paths.Machine, State: "online"})
	}
	for _, k := range paths.Order(d.Known()) {
		known, answered := answers[k.Key()]
		state := stateOf(d.ID, known, answered)
		if state == "revoked" && !k.Bound {
			state = "new"
		}
		line.Paths = append(line.Paths, pathLine{Kind: k.Kind, URL: k.URL, State: state, RoundTripMs: float64(k.RoundTrip) / float64(time.Millisecond)})
	}
	best := slices.IndexFunc(line.Paths, func(p pathLine) bool { return p.State == "online" })
	if best >= 0 {
		line.Paths[best].InUse = true
	}
	line.State = line.Paths[max(best, 0)].State
	return line
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
	var force, asJSON bool
	cmd := &cobra.Command{
		Use:   "forget ID",
		Short: "Unpair from a machine",
		Long: `Unpair from a machine. The machine itself removes this terminal, on all paths, and so does
each of its relays. Chats that this terminal connected there are disconnected. What could not be
notified is named on standard error.`,
		Example: "  scorel devices forget dev_...\n  scorel devices forget dev_... --force",
		Args:    argCount(1, 1, "the id or the label of one device"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return forgetDevice(cmd.Context(), a.console, a.connector(), args[0], force, asJSON)
		},
	}
	addJSON(cmd, &asJSON)
	cmd.Flags().BoolVar(&force, "force", false, "remove it here even if neither the machine nor a relay can be reached")
	return cmd
}

// forgotten is the result of devices forget.
type forgotten struct {
	ID    ident.ID `json:"id"`
	Label string   `json:"label"`
	// Notified reports that the machine itself removed this terminal.
	Notified bool `json:"notified"`
}

func forgetDevice(ctx context.Context, con console, via connector, name string, force, asJSON bool) error {
	home, err := via.env.home()
	if err != nil {
		return err
	}
	device, err := findDevice(home, name)
	if err != nil {
		return err
	}
	left := via.leave(ctx, home, device) == nil // the device ends the bindings at all relays
	missed, notified, err := revokeAtRelays(ctx, home, device)
	if !left && !notified && !force && err != nil {
		return notForgotten(device.ID, missed, err)
	}
	if err := devices.Remove(devicesPath(home), device.ID); err != nil {
		return err
	}
	if !left {
		warnHalfForgotten(con.stderr, missed)
	}
	return printDone(con.stdout, asJSON, forgotten{device.ID, device.Label, left}, "forgot \"%s\" (%s)", printable(device.Label), device.ID)
}

// warnHalfForgotten says what a machine that was not reached does not know.
func warnHalfForgotten(stderr io.Writer, missed []string) {
	if len(missed) > 0 {
		fmt.Fprintf(stderr, "scorel: could not notify %s: the machine may still list this terminal; remove it there with `scorel host clients revoke`\n", printable(strings.Join(missed, ", ")))
		return
	}
	fmt.Fprintln(stderr, "scorel: the machine itself could not be reached. If it still lists this terminal, remove it there with `scorel host clients revoke`")
}

// leaveTimeout bounds the attempt to reach a machine that is forgotten.
const leaveTimeout = 10 * time.Second

// leave ends this terminal's access on the device itself. Only its sealed answer counts: a
// relay cannot claim that the device knows.
func (c connector) leave(ctx context.Context, home string, device devices.Device) error {
	ctx, cancel := context.WithTimeout(ctx, leaveTimeout)
	defer cancel()
	dialer, err := c.dialer(home, device)
	if err != nil {
		return err
	}
	// Not the direct connection of this machine, which is another client.
	reached := paths.New(paths.Config{Known: func() ([]paths.Known, error) { return device.Known(), nil }, Dial: dialer.Dial})
	defer func() { _ = reached.Close() }() // nothing is kept
	transport, err := reached.Dial(ctx)
	if err != nil {
		return err
	}
	peer := client.New(transport, nil)
	defer func() { _ = peer.Close() }() // the device ends it
	_, err = client.Call(ctx, peer, api.Leave, api.Empty{})
	return err
}

func notForgotten(id ident.ID, missed []string, err error) error {
	why := missed[0] + " could not be notified"
	if len(missed) > 1 {
		why = fmt.Sprintf("none of its %d relays and listeners could be notified", len(missed))
	}
	return sayf(err, "%s was not forgotten, because %s: %s; try again, or add --force to forget it only here", id, why, sentence(err))
}

// revokeAtRelays ends the binding at every path that can be reached. notified reports whether there
// is one; missed are the URLs of the others.
func revokeAtRelays(ctx context.Context, home string, device devices.Device) (missed []string, notified bool, err error) {
	var errs []error
	for _, k := range device.Known() {
		if !k.Bound {
			continue
		}
		if err := revokeAtRelay(ctx, home, device.ID, k.Path); err != nil {
			missed, errs = append(missed, k.URL), append(errs, err)
			continue
		}
		notified = true
	}
	return missed, notified, errors.Join(errs...)
}

// revokeAtRelay ends the binding at one relay. It is not an error if the binding is already gone.
func revokeAtRelay(ctx context.Context, home string, device ident.ID, path paths.Path) error {
	entry, err := dialEntry(ctx, home, path, "")
	if err != nil {
		return err
	}
	defer entry.Close()
	err = entry.Revoke(ctx, device)
	var refused *wire.Error
	if errors.As(err, &refused) && (refused.Kind == wire.KindNotFound || refused.Kind == wire.KindUnauthorized) {
		return nil
	}
	return err
}
