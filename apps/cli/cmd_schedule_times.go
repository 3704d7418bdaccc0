package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

func newScheduleTimes(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "times",
		Short: "Print the next times of a cron expression",
		Long: `Print the next five times at which a schedule with this cron expression would run, without adding
one. With --json, they are one object, in Unix milliseconds.`,
		Example: "  scorel schedule times --cron '0 3 * * 1-5' --zone Europe/Berlin",
		Args:    argCount(0, 0, "no arguments"),
	}
	request := api.PreviewScheduleRequest{}
	f := a.scheduleFlags(cmd)
	cmd.Flags().StringVar(&request.Cron, "cron", "", "the cron expression")
	cmd.Flags().StringVar(&request.Zone, "zone", "", "IANA time zone of --cron, such as Europe/Berlin (default: that of the machine)")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if request.Cron == "" {
			return usagef("give a cron expression: --cron '0 3 * * 1-5'")
		}
		zone := time.Local
		if request.Zone != "" {
			// Where this machine does not know the zone, the host says so if it does not exist.
			if known, err := time.LoadLocation(request.Zone); err == nil {
				zone = known
			}
		}
		transport, err := f.dial(cmd.Context())
		if err != nil {
			return err
		}
		c := client.New(transport, f.notice)
		defer c.Close()
		preview, err := client.Call(cmd.Context(), c, api.PreviewSchedule, request)
		if err != nil {
			return err
		}
		if f.asJSON {
			return printJSON(a.stdout, preview)
		}
		for _, at := range preview.Times {
			if _, err := fmt.Fprintln(a.stdout, time.UnixMilli(at).In(zone).Format("2006-01-02 15:04 MST")); err != nil {
				return err
			}
		}
		return nil
	}
	return cmd
}
