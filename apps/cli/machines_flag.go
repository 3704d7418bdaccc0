package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/ident"
)

// everywhere selects one host and a project there or, with --all-machines, all hosts.
type everywhere struct {
	*projectFlag
	all bool
}

func (a *app) everywhere(cmd *cobra.Command) *everywhere {
	e := &everywhere{projectFlag: &projectFlag{target: a.targetFlag(cmd)}}
	cmd.Flags().StringVar(&e.given, "project", "", "only in the project with this id or folder")
	cmd.Flags().BoolVar(&e.all, "all-machines", false, "of the host on this machine and of every paired machine")
	return e
}

// place is the machine that something is on.
type place struct {
	DeviceID ident.ID `json:"deviceId"`
	Machine  string   `json:"machine"`
}

// check returns an error if --all-machines contradicts another flag.
func (e *everywhere) check() error {
	switch {
	case e.all && e.device != "":
		return usagef("--all-machines and --device: give one of them")
	case e.all && e.given != "":
		return usagef("--all-machines and --project: give one of them, because a project is on one machine")
	}
	return nil
}

// askEach asks the hosts of all machines at the same time. One that cannot be reached is named on
// standard error.
func askEach[T any](ctx context.Context, e *everywhere, question func(ctx context.Context, c *client.Client, on place) ([]T, error)) ([]T, error) {
	home, err := e.via.env.home()
	if err != nil {
		return nil, err
	}
	list, err := e.machines()
	if err != nil {
		return nil, err
	}
	return askMachines(ctx, e.con.stderr, list, func(ctx context.Context, m machine) (answers []T, err error) {
		err = m.use(ctx, func(c *client.Client) error {
			id, err := m.deviceID(home)
			if err != nil {
				return err
			}
			answers, err = question(ctx, c, place{id, m.label})
			return err
		})
		return answers, err
	})
}
