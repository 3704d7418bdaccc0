package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// scheduleSpec are the flags of a new schedule.
type scheduleSpec struct {
	spec                                          api.ScheduleSpec
	skill, mode, at, limit, window, afterSchedule string
	afterSession, on, onApproval, overlap, missed string
	webhook, signed                               bool
	perMinute                                     int
	folder                                        api.ScheduleFolder
	github                                        api.ScheduleGitHub
}

func newScheduleAdd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "add NAME",
		Short: "Add a schedule",
		Long: `Add a schedule to a project. It starts a session at the times of a cron expression, once at a
time, after each turn of a session, or after runs of another schedule. The cron expression has
five fields (minute, hour, day of month, month, day of week) and is compared with clocks in the
time zone; the default is the zone of the machine. A run that was due while the host was off or
asleep is made up once, up to --window later, unless --missed is skip.

Runs work in the mode ask unless another one is given. A call that needs approval waits for a
person; with --on-approval end, the run ends instead.

With --webhook, --folder and --github, each request, new file or mention begins a run, and its
text is part of the prompt, marked as text from outside. Such runs use the mode plan or ask,
unless --allow-unattended is given. The token of a webhook is printed once.`,
		Example: `  scorel schedule add nightly --cron '0 3 * * 1-5' --zone Europe/Berlin --prompt 'Run the tests and fix what fails.'
  scorel schedule add release --at '2027-01-04 09:00' --skill release --mode accept-edits
  scorel schedule add report --after-schedule nightly --on ended --prompt 'Summarize the last test run.' --cost 1 --time 20m
  scorel schedule add deploys --webhook --prompt 'Say what this deployment changed.'
  scorel schedule add inbox --folder inbox --pattern '*.csv' --prompt 'Check this file.'
  scorel schedule add mentions --github o/r --author anna --phrase '@scorel' --prompt 'Answer this.'`,
		Args: argCount(1, 1, "the name of the schedule"),
	}
	f, asJSON := &scheduleSpec{}, false
	project := a.projectFlag(cmd)
	f.add(cmd)
	f.addOutside(cmd)
	addJSON(cmd, &asJSON)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := f.complete(args[0]); err != nil {
			return err
		}
		return project.within(cmd.Context(), false, func(c *client.Client, projectID string) error {
			if err := f.resolve(cmd, c); err != nil {
				return err
			}
			if err := f.checkSkill(cmd.Context(), c, projectID); err != nil {
				return err
			}
			request := api.SaveScheduleRequest{ProjectID: projectID, ClientKey: rand.Text(), Spec: f.spec}
			if f.webhook {
				request.Token = "sct_" + rand.Text()
			}
			saved, err := client.Call(cmd.Context(), c, api.SaveSchedule, request)
			if err != nil {
				return err
			}
			s := saved.Schedule
			if f.webhook {
				return printDone(a.stdout, asJSON, addedWebhook{s, request.Token}, "added %s (%s)\nrequests go to /v1/triggers/%s, with this token, which is not shown again:\n%s", s.Spec.Name, s.ID, s.ID, request.Token)
			}
			if s.NextAt != 0 {
				return printDone(a.stdout, asJSON, s, "added %s (%s), next run %s", s.Spec.Name, s.ID, timeOf(s.NextAt))
			}
			return printDone(a.stdout, asJSON, s, "added %s (%s)", s.Spec.Name, s.ID)
		})
	}
	return cmd
}

// checkSkill returns an error if the project has no such skill. The host sees only a prompt.
func (f *scheduleSpec) checkSkill(ctx context.Context, c *client.Client, projectID string) error {
	if f.skill == "" {
		return nil
	}
	_, err := client.Call(ctx, c, api.GetSkill, api.GetSkillRequest{ProjectID: projectID, Name: f.skill})
	var refused *api.Error
	if errors.As(err, &refused) && refused.Kind == api.KindNotFound {
		return err
	}
	return nil // one that cannot be read now may be readable when it runs
}

// addedWebhook is a new schedule with the token of its webhook.
type addedWebhook struct {
	api.Schedule
	Token string `json:"token"`
}

// addOutside adds the flags of events from outside.
func (f *scheduleSpec) addOutside(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&f.webhook, "webhook", false, "run for each request to the webhook of the schedule")
	flags.BoolVar(&f.signed, "signed", false, "have requests to the webhook signed with its token")
	flags.IntVar(&f.perMinute, "per-minute", 0, "how many requests to the webhook are accepted (default: 10)")
	flags.StringVar(&f.folder.Path, "folder", "", "run for each new file in this folder of the project")
	flags.StringVar(&f.folder.Pattern, "pattern", "", "which files of --folder count, such as '*.csv'")
	flags.StringVar(&f.github.Repository, "github", "", "run for mentions in issues and comments of this repository (OWNER/NAME)")
	flags.StringArrayVar(&f.github.Authors, "author", nil, "login of an author whose mentions count; can be repeated")
	flags.StringVar(&f.github.Phrase, "phrase", "", "the phrase that is a mention, such as @scorel")
	flags.BoolVar(&f.spec.AllowUnattended, "allow-unattended", false, "let text from outside lead to changes without approval, in modes above ask")
}

// completeOutside sets the event from outside that the flags name.
func (f *scheduleSpec) completeOutside() error {
	when := &f.spec.When
	if f.webhook {
		when.Webhook = &api.ScheduleWebhook{Signed: f.signed, PerMinute: f.perMinute}
	}
	if f.folder.Path != "" {
		when.Folder = &f.folder
	}
	if f.github.Repository != "" {
		when.GitHub = &f.github
	}
	switch {
	case !f.webhook && (f.signed || f.perMinute != 0):
		return usagef("--signed and --per-minute only apply to --webhook")
	case when.Folder == nil && f.folder.Pattern != "":
		return usagef("--pattern only applies to --folder")
	case when.GitHub == nil && (f.github.Phrase != "" || len(f.github.Authors) > 0):
		return usagef("--author and --phrase only apply to --github")
	case when.GitHub != nil && (f.github.Phrase == "" || len(f.github.Authors) == 0):
		return usagef("--github needs --author and --phrase")
	}
	return nil
}

func (f *scheduleSpec) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.spec.Prompt, "prompt", "", "what the agent should do")
	flags.StringVar(&f.skill, "skill", "", "the skill to run; --prompt is then what it is given")
	flags.StringVar(&f.spec.When.Cron, "cron", "", "run at the times of this cron expression")
	flags.StringVar(&f.spec.When.Zone, "zone", "", "IANA time zone of --cron, such as Europe/Berlin (default: that of the machine)")
	flags.StringVar(&f.at, "at", "", "run once at this time, such as '2027-01-04 09:00' or 2027-01-04T09:00:00Z")
	flags.StringVar(&f.afterSession, "after-session", "", "run after each turn of the session with this id")
	flags.StringVar(&f.afterSchedule, "after-schedule", "", "run after runs of the schedule with this id or name")
	flags.StringVar(&f.on, "on", "", "after which runs: succeeded, failed or ended (default: succeeded)")
	flags.StringVar(&f.spec.Agent, "agent", "", "the agent to run as")
	flags.StringVar(&f.spec.Model, "model", "", "name of a model of the machine")
	flags.StringVar(&f.mode, "mode", "", "what the agent may do without asking: plan, ask, accept-edits, auto or bypass (default: ask)")
	flags.BoolVar(&f.spec.Worktree, "worktree", false, "work in a new git worktree each time")
	flags.Float64Var(&f.spec.Cost, "cost", 0, "limit of each run in US dollars")
	flags.Int64Var(&f.spec.Tokens, "tokens", 0, "limit of each run in tokens")
	flags.StringVar(&f.limit, "time", "", "limit of each run in working time, such as 30m")
	flags.StringVar(&f.onApproval, "on-approval", "", "when a call needs approval: wait or end (default: wait)")
	flags.StringVar(&f.overlap, "overlap", "", "when the run before has not ended: skip or queue (default: skip)")
	flags.StringVar(&f.missed, "missed", "", "when the host was off or asleep: run or skip (default: run)")
	flags.StringVar(&f.window, "window", "", "how late a missed run may begin, such as 2h (default: 12h)")
}

// complete reads what the flags have as text.
func (f *scheduleSpec) complete(name string) error {
	s := &f.spec
	s.Name, s.Mode, s.OnApproval = name, api.Mode(f.mode), api.ScheduleOnApproval(f.onApproval)
	s.Overlap, s.Missed = api.ScheduleOverlap(f.overlap), api.ScheduleMissed(f.missed)
	switch {
	case f.skill != "":
		if s.Prompt = "/" + f.skill + " " + s.Prompt; s.Prompt[len(s.Prompt)-1] == ' ' {
			s.Prompt = s.Prompt[:len(s.Prompt)-1]
		}
	case s.Prompt == "":
		return usagef("say what the agent should do: give --prompt or --skill")
	}
	if f.at != "" {
		at, err := parseMoment(f.at)
		if err != nil {
			return err
		}
		s.When.At = at.UnixMilli()
	}
	for flag, to := range map[string]*int64{"time": &s.Seconds, "window": &s.WindowSeconds} {
		text := map[string]string{"time": f.limit, "window": f.window}[flag]
		if text == "" {
			continue
		}
		d, err := time.ParseDuration(text)
		if err != nil || d < time.Second {
			return usagef("--%s %q is not a duration: give it as in 30m or 2h", flag, text)
		}
		*to = int64(d / time.Second)
	}
	if f.on != "" && f.afterSchedule == "" {
		return usagef("--on only applies to --after-schedule")
	}
	return f.completeOutside()
}

// resolve finds what the flags name on the host.
func (f *scheduleSpec) resolve(cmd *cobra.Command, c *client.Client) error {
	if f.afterSession != "" {
		f.spec.When.After = &api.ScheduleAfter{SessionID: f.afterSession}
	}
	if f.afterSchedule == "" {
		return nil
	}
	if f.afterSession != "" {
		return usagef("--after-session and --after-schedule: give one of them")
	}
	listed, err := client.Call(cmd.Context(), c, api.ListSchedules, api.ListSchedulesRequest{})
	if err != nil {
		return err
	}
	found, err := findSchedule(listed.Schedules, f.afterSchedule)
	f.spec.When.After = &api.ScheduleAfter{ScheduleID: found.ID, Outcome: api.ScheduleOutcome(f.on)}
	return err
}

// parseMoment reads a time. Without a zone it is one of this machine.
func parseMoment(text string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04Z07:00"} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, nil
		}
	}
	for _, layout := range []string{"2006-01-02 15:04", "2006-01-02T15:04", "2006-01-02 15:04:05"} {
		if at, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return at, nil
		}
	}
	return time.Time{}, usagef("--at %q is not a time: give it as in '2027-01-04 09:00' or 2027-01-04T09:00:00Z", text)
}
