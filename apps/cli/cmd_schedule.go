package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

func newSchedule(a *app) *cobra.Command {
	return group("schedule", "Start sessions at times, after events and for text from outside",
		"  scorel schedule add nightly --cron '0 3 * * *' --prompt 'Run the tests and fix what fails.'\n  scorel schedule list\n  scorel schedule run nightly",
		newScheduleAdd(a), newScheduleList(a), newScheduleShow(a), newScheduleRun(a), newScheduleTimes(a),
		newScheduleEnable(a, "enable", true), newScheduleEnable(a, "disable", false), newScheduleRemove(a))
}

// scheduleFlags select the machine and how to print.
type scheduleFlags struct {
	*target
	asJSON  bool
	changed chan struct{} // gets a value after a change of schedules; nil if no one waits for one
}

func (a *app) scheduleFlags(cmd *cobra.Command) *scheduleFlags {
	f := &scheduleFlags{target: a.targetFlag(cmd)}
	addJSON(cmd, &f.asJSON)
	return f
}

// on connects and lists the schedules.
func (f *scheduleFlags) on(ctx context.Context, run func(c *client.Client, schedules []api.Schedule) error) error {
	transport, err := f.dial(ctx)
	if err != nil {
		return err
	}
	c := client.New(transport, f.notice)
	defer c.Close()
	listed, err := client.Call(ctx, c, api.ListSchedules, api.ListSchedulesRequest{})
	if err != nil {
		return err
	}
	return run(c, listed.Schedules)
}

// notice notes a change of schedules.
func (f *scheduleFlags) notice(e api.EventEnvelope) {
	if _, ok := e.Event.(api.SchedulesChanged); ok && f.changed != nil {
		select {
		case f.changed <- struct{}{}:
		default:
		}
	}
}

// one is on for the schedule with an id, the beginning of one, or a name.
func (f *scheduleFlags) one(ctx context.Context, id string, run func(c *client.Client, s api.Schedule) error) error {
	return f.on(ctx, func(c *client.Client, schedules []api.Schedule) error {
		s, err := findSchedule(schedules, id)
		if err != nil {
			return err
		}
		return run(c, s)
	})
}

func findSchedule(schedules []api.Schedule, id string) (api.Schedule, error) {
	return named[api.Schedule]{
		what: "schedule", kind: "sch_", list: "scorel schedule list",
		ids: func(s api.Schedule) (id, name string) { return s.ID, s.Spec.Name },
	}.find(schedules, id)
}

func newScheduleList(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the schedules with their next and last runs",
		Long: `List the schedules of all projects: when each runs next, how its last run ended, and why it does
not run if something is wrong. With --json, each line is one schedule.`,
		Example: "  scorel schedule list\n  scorel schedule list --device laptop --json",
		Args:    argCount(0, 0, "no arguments"),
	}
	f := a.scheduleFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return f.on(cmd.Context(), func(_ *client.Client, schedules []api.Schedule) error {
			return printList(a.stdout, f.asJSON, schedules, listing[api.Schedule]{
				none:   "there are no schedules: `scorel schedule add` adds one",
				header: []string{"ID", "NAME", "WHEN", "NEXT RUN", "LAST RUN", "RESULT"}, row: scheduleRow,
			})
		})
	}
	return cmd
}

func scheduleRow(_ int, s api.Schedule) []string {
	last, result := "-", "-"
	if len(s.Runs) > 0 {
		last, result = timeOf(s.Runs[0].DueAt), string(s.Runs[0].State)
		if s.Runs[0].Reason != "" {
			result += ": " + clip(s.Runs[0].Reason, 80)
		}
	}
	if s.Problem != "" {
		result = "problem: " + clip(s.Problem, 80)
	}
	return []string{s.ID, clip(s.Spec.Name, 40), clip(whenOf(s.Spec.When), 60), nextRun(s), last, result}
}

func nextRun(s api.Schedule) string {
	switch {
	case !s.Enabled:
		return "disabled"
	case s.NextAt != 0:
		return timeOf(s.NextAt)
	}
	return "-"
}

func timeOf(ms int64) string { return time.UnixMilli(ms).Local().Format("2006-01-02 15:04") }

// whenOf describes when a schedule runs.
func whenOf(w api.ScheduleWhen) string {
	switch {
	case w.Cron != "" && w.Zone != "":
		return w.Cron + " in " + w.Zone
	case w.Cron != "":
		return w.Cron
	case w.At != 0:
		return "at " + timeOf(w.At)
	case w.After != nil && w.After.SessionID != "":
		return "after each turn of " + w.After.SessionID
	case w.After != nil:
		outcome := w.After.Outcome
		if outcome == "" {
			outcome = api.OutcomeSucceeded
		}
		return fmt.Sprintf("after %s %s", w.After.ScheduleID, outcome)
	case w.Webhook != nil:
		return "webhook"
	case w.Folder != nil:
		return "files in " + w.Folder.Path
	case w.GitHub != nil:
		return "mentions in " + w.GitHub.Repository
	}
	return "-"
}

func newScheduleShow(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "show SCHEDULE",
		Short:   "Show a schedule and its last runs",
		Long:    "Show a schedule and its last 20 runs with their sessions. The schedule is given by id or name.\nWith --json, the schedule is one object.",
		Example: "  scorel schedule show nightly\n  scorel schedule show nightly --json",
		Args:    argCount(1, 1, "the id or name of a schedule"),
	}
	f := a.scheduleFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return f.one(cmd.Context(), args[0], func(_ *client.Client, s api.Schedule) error {
			if f.asJSON {
				return printJSON(a.stdout, s)
			}
			return showSchedule(a.stdout, s)
		})
	}
	return cmd
}

func showSchedule(stdout io.Writer, s api.Schedule) error {
	mode, on := s.Spec.Mode, s.Spec.OnApproval
	if mode == "" {
		mode = api.ModeAsk
	}
	if on == "" {
		on = api.ScheduleWait
	}
	lines := [][]string{
		{"name", s.Spec.Name}, {"id", s.ID}, {"project", s.ProjectID}, {"when", whenOf(s.Spec.When)}, {"next run", nextRun(s)},
		{"mode", string(mode)}, {"on approval", string(on)}, {"saved by", s.Author}, {"prompt", clip(strings.Join(strings.Fields(s.Spec.Prompt), " "), 200)},
	}
	if s.Problem != "" {
		lines = append(lines, []string{"problem", s.Problem})
	}
	for _, line := range lines {
		if _, err := fmt.Fprintf(stdout, "%-12s %s\n", line[0], printable(line[1])); err != nil {
			return err
		}
	}
	if len(s.Runs) == 0 {
		return nil
	}
	if _, err := fmt.Fprintln(stdout); err != nil {
		return err
	}
	rows := make([][]string, 0, len(s.Runs))
	for _, run := range s.Runs {
		session := run.SessionID
		if session == "" {
			session = "-"
		}
		rows = append(rows, []string{timeOf(run.DueAt), string(run.Cause), string(run.State), session, clip(run.Reason, 100)})
	}
	return printTable(stdout, []string{"DUE", "CAUSE", "STATE", "SESSION", "REASON"}, rows)
}

func newScheduleRun(a *app) *cobra.Command {
	wait := false
	cmd := &cobra.Command{
		Use:   "run SCHEDULE",
		Short: "Run a schedule now",
		Long: `Run a schedule now, whether it is enabled or not. With --wait, the command ends when the run
does, and fails unless the run succeeded; interrupting it does not end the run. With --json,
the run is one object.`,
		Example: "  scorel schedule run nightly\n  scorel schedule run nightly --wait",
		Args:    argCount(1, 1, "the id or name of a schedule"),
	}
	f := a.scheduleFlags(cmd)
	cmd.Flags().BoolVar(&wait, "wait", false, "wait for the end of the run")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		f.changed = make(chan struct{}, 1)
		return f.one(cmd.Context(), args[0], func(c *client.Client, s api.Schedule) error {
			started, err := client.Call(cmd.Context(), c, api.RunSchedule, api.RunScheduleRequest{ProjectID: s.ProjectID, ID: s.ID, ClientKey: rand.Text()})
			if err != nil {
				return err
			}
			run := started.Run
			if !wait {
				return printDone(a.stdout, f.asJSON, run, "started %s: `scorel schedule show %s` shows its session", s.Spec.Name, s.ID)
			}
			if run, err = f.untilEnded(cmd.Context(), c, s, run); err != nil {
				return err
			}
			if err := printDone(a.stdout, f.asJSON, run, "%s: %s", s.Spec.Name, run.State); err != nil || run.State == api.RunSucceeded {
				return err
			}
			return fmt.Errorf("the run of %s %s: %s", s.Spec.Name, run.State, run.Reason)
		})
	}
	return cmd
}

// untilEnded waits for the end of a run.
func (f *scheduleFlags) untilEnded(ctx context.Context, c *client.Client, s api.Schedule, run api.ScheduleRun) (api.ScheduleRun, error) {
	for {
		listed, err := client.Call(ctx, c, api.ListSchedules, api.ListSchedulesRequest{ProjectID: s.ProjectID})
		if err != nil {
			return run, err
		}
		now, err := findSchedule(listed.Schedules, s.ID)
		if err != nil {
			return run, err
		}
		if i := slices.IndexFunc(now.Runs, func(r api.ScheduleRun) bool { return r.ID == run.ID }); i >= 0 && now.Runs[i].State.Ended() {
			return now.Runs[i], nil
		}
		select {
		case <-f.changed:
		case <-c.Done():
			return run, errors.New("the connection to the host ended: the run continues, `scorel schedule show` shows how it ends")
		case <-ctx.Done():
			return run, context.Cause(ctx)
		}
	}
}

func newScheduleEnable(a *app, verb string, enabled bool) *cobra.Command {
	long := "Enable a schedule. What was due while it was disabled is not made up."
	if !enabled {
		long = "Disable a schedule. A run that has begun continues; runs that wait are dropped."
	}
	cmd := &cobra.Command{
		Use:     verb + " SCHEDULE",
		Short:   strings.ToUpper(verb[:1]) + verb[1:] + " a schedule",
		Long:    long,
		Example: "  scorel schedule " + verb + " nightly",
		Args:    argCount(1, 1, "the id or name of a schedule"),
	}
	f := a.scheduleFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return f.one(cmd.Context(), args[0], func(c *client.Client, s api.Schedule) error {
			changed, err := client.Call(cmd.Context(), c, api.EnableSchedule, api.EnableScheduleRequest{ProjectID: s.ProjectID, ID: s.ID, Enabled: enabled})
			if err != nil {
				return err
			}
			return printDone(a.stdout, f.asJSON, changed.Schedule, "%sd %s", verb, s.Spec.Name)
		})
	}
	return cmd
}

func newScheduleRemove(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "remove SCHEDULE",
		Short:   "Remove a schedule",
		Long:    "Remove a schedule. The sessions of its runs are kept, and a run that has begun continues.",
		Example: "  scorel schedule remove nightly",
		Args:    argCount(1, 1, "the id or name of a schedule"),
	}
	f := a.scheduleFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return f.one(cmd.Context(), args[0], func(c *client.Client, s api.Schedule) error {
			removed, err := client.Call(cmd.Context(), c, api.DeleteSchedule, api.ScheduleRequest{ProjectID: s.ProjectID, ID: s.ID})
			if err != nil {
				return err
			}
			return printDone(a.stdout, f.asJSON, removed, "removed %s", s.Spec.Name)
		})
	}
	return cmd
}
