package cli

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/apps/host"
)

// restartResult says what a restart has done.
type restartResult struct {
	PID     int    `json:"pid"`
	Version string `json:"version"`
	Before  string `json:"before"` // version of the host before
}

func newHostRestart(a *app) *cobra.Command {
	var (
		wait   time.Duration
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "restart",
		Short: "Restart the local host when its turns have ended",
		Long: `Restart the host of this machine in its process, with its program as it is on disk now.
Turns and background commands that run are waited for; meanwhile prompts are accepted and
queued, and nothing new begins. If they take longer than --wait, nothing is changed.
Approvals, questions and queues wait for the new host, and clients reconnect. Terminals and
MCP servers end.`,
		Example: "  scorel host restart\n  scorel host restart --wait 1h\n  scorel host restart --json",
		Args:    argCount(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkWait(wait); err != nil {
				return err
			}
			home, err := a.env.home()
			if err != nil {
				return err
			}
			before, after, err := restartHost(cmd.Context(), home, wait, nil)
			if errors.Is(err, errNotBack) {
				return sayf(errors.Join(errUnreachable, err), "the host has stopped and did not start again: start it as before, and see its log for why")
			}
			if err != nil {
				return err
			}
			return printDone(a.stdout, asJSON, restartResult{after.PID, after.Version, before.Version}, restartedLine(before, after))
		},
	}
	addWait(cmd, &wait)
	addJSON(cmd, &asJSON)
	return cmd
}

func addWait(cmd *cobra.Command, wait *time.Duration) {
	cmd.Flags().DurationVar(wait, "wait", defaultRestartWait, "how long to wait for turns and background commands that run")
}

func checkWait(wait time.Duration) error {
	if wait < 0 || wait > 24*time.Hour {
		return usagef("--wait %s is not a time to wait: give up to 24h, as in --wait 10m", wait)
	}
	return nil
}

func restartedLine(before, after host.State) string {
	if before.Version == after.Version {
		return fmt.Sprintf("the host was restarted (process %d, version %s)", after.PID, printable(after.Version))
	}
	return fmt.Sprintf("the host was restarted and runs version %s now (process %d)", printable(after.Version), after.PID)
}
