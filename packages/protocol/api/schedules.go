package api

// ScheduleOnApproval is what a run does when it needs a person.
type ScheduleOnApproval string

const (
	ScheduleWait ScheduleOnApproval = "wait" // it waits, and people are notified
	ScheduleEnd  ScheduleOnApproval = "end"  // it ends
)

// ScheduleOverlap is what becomes of a run that is due while another one of its schedule runs.
type ScheduleOverlap string

const (
	OverlapSkip  ScheduleOverlap = "skip"
	OverlapQueue ScheduleOverlap = "queue" // at most one waits
)

// ScheduleMissed is what becomes of a run that was due while the host was off or asleep.
type ScheduleMissed string

const (
	MissedRun  ScheduleMissed = "run" // once, unless it is too late
	MissedSkip ScheduleMissed = "skip"
)

// ScheduleOutcome selects the ends of runs after which another schedule runs.
type ScheduleOutcome string

const (
	OutcomeSucceeded ScheduleOutcome = "succeeded"
	OutcomeFailed    ScheduleOutcome = "failed" // or canceled
	OutcomeEnded     ScheduleOutcome = "ended"  // either
)

// ScheduleRunState is how far a run is.
type ScheduleRunState string

const (
	RunQueued    ScheduleRunState = "queued"   // it waits for the run before it
	RunStarting  ScheduleRunState = "starting" // its session is being created
	RunRunning   ScheduleRunState = "running"
	RunWaiting   ScheduleRunState = "waiting" // for a person
	RunSucceeded ScheduleRunState = "succeeded"
	RunFailed    ScheduleRunState = "failed"
	RunCanceled  ScheduleRunState = "canceled"
	RunSkipped   ScheduleRunState = "skipped"
)

// ScheduleCause is why a run began.
type ScheduleCause string

const (
	CauseTime    ScheduleCause = "time"
	CauseMissed  ScheduleCause = "missed"  // at a time when the host was off or asleep
	CausePerson  ScheduleCause = "person"  // run_schedule
	CauseSession ScheduleCause = "session" // a turn of a session ended
	CauseRun     ScheduleCause = "run"     // a run of another schedule ended
	CauseWebhook ScheduleCause = "webhook"
	CauseFolder  ScheduleCause = "folder"
	CauseGitHub  ScheduleCause = "github"
)

type (
	// ScheduleWhen says when a schedule runs. One of the fields besides Zone is set.
	ScheduleWhen struct {
		// Cron has five fields: minute, hour, day of month, month, day of week.
		Cron string `json:"cron,omitempty" req:"max=256"`
		// Zone is the IANA time zone of Cron; "" is that of the machine.
		Zone string `json:"zone,omitempty" req:"max=64"`
		// At is the time of a single run, in Unix milliseconds.
		At      int64            `json:"at,omitempty" req:"min=0"`
		After   *ScheduleAfter   `json:"after,omitempty"`
		Webhook *ScheduleWebhook `json:"webhook,omitempty"`
		Folder  *ScheduleFolder  `json:"folder,omitempty"`
		GitHub  *ScheduleGitHub  `json:"github,omitempty"`
	}
	// ScheduleAfter runs a schedule after each turn of a session, or after runs of another
	// schedule of the same project.
	ScheduleAfter struct {
		SessionID  string `json:"sessionId,omitempty" req:"max=256"`
		ScheduleID string `json:"scheduleId,omitempty" req:"max=64"`
		// Outcome selects the runs; "" is OutcomeSucceeded.
		Outcome ScheduleOutcome `json:"outcome,omitempty" req:"max=64"`
	}
	// ScheduleWebhook runs a schedule for each request to /v1/triggers/ID.
	ScheduleWebhook struct {
		// Signed has each request signed with the token instead of sending it.
		Signed bool `json:"signed,omitempty"`
		// PerMinute limits the requests; 0 is 10.
		PerMinute int `json:"perMinute,omitempty" req:"min=0,max=60"`
	}
	// ScheduleFolder runs a schedule for each file that is added to a folder.
	ScheduleFolder struct {
		Path string `json:"path" req:"min=1,max=1024"` // in the project, with slashes
		// Pattern selects names, as in "*.csv"; "" is all of them. Hidden files are left out.
		Pattern string `json:"pattern,omitempty" req:"max=256"`
	}
	// ScheduleGitHub runs a schedule for each new issue, pull request and comment in which
	// one of the authors writes the phrase. The host's gh program reads them.
	ScheduleGitHub struct {
		Repository string   `json:"repository" req:"min=3,max=256"` // OWNER/NAME
		Authors    []string `json:"authors" req:"min=1,max=100"`    // logins
		Phrase     string   `json:"phrase" req:"min=2,max=128"`
	}

	// ScheduleSpec says what a schedule runs, and when.
	ScheduleSpec struct {
		Name string `json:"name" req:"min=1,max=128"`
		// Prompt may begin with /NAME of a skill.
		Prompt string `json:"prompt" req:"min=1,max=65536"`
		Agent  string `json:"agent,omitempty" req:"max=256"` // "" means none
		Model  string `json:"model,omitempty" req:"max=256"` // "" means the default
		Mode   Mode   `json:"mode,omitempty" req:"max=64"`   // "" means ModeAsk
		// Worktree has each run work in a git worktree of its own.
		Worktree bool `json:"worktree,omitempty"`
		// Cost in US dollars, Tokens and Seconds limit each run; 0 is no limit. Seconds does
		// not count the time in which a run waits for a person.
		Cost    float64 `json:"cost,omitempty"`
		Tokens  int64   `json:"tokens,omitempty" req:"min=0"`
		Seconds int64   `json:"seconds,omitempty" req:"min=0,max=2592000"`
		// OnApproval is what a run does when it needs a person; "" is ScheduleWait.
		OnApproval ScheduleOnApproval `json:"onApproval,omitempty" req:"max=64"`
		// Overlap is what becomes of a run that is due while another one runs; "" is
		// OverlapSkip. Events from outside always wait.
		Overlap ScheduleOverlap `json:"overlap,omitempty" req:"max=64"`
		// Missed is what becomes of runs that were due while the host was off or asleep; "" is
		// MissedRun.
		Missed ScheduleMissed `json:"missed,omitempty" req:"max=64"`
		// WindowSeconds is how late a missed run may begin; 0 is 12 hours.
		WindowSeconds int64 `json:"windowSeconds,omitempty" req:"min=0,max=2592000"`
		// AllowUnattended lets runs with text from outside use modes above ModeAsk.
		AllowUnattended bool         `json:"allowUnattended,omitempty"`
		When            ScheduleWhen `json:"when"`
	}

	// Schedule starts sessions by itself.
	Schedule struct {
		ID        string       `json:"id"`
		ProjectID string       `json:"projectId"`
		Spec      ScheduleSpec `json:"spec"`
		Enabled   bool         `json:"enabled"`
		CreatedAt int64        `json:"createdAt"` // Unix milliseconds
		// Author is the client that saved it last. Runs are bounded by what it may do.
		Author string `json:"author"`
		// NextAt is the time of the next run, in Unix milliseconds; 0 if there is none or it is
		// not known.
		NextAt int64 `json:"nextAt,omitempty"`
		// Problem is why it does not run, for people; "" if nothing is wrong.
		Problem string `json:"problem,omitempty"`
		// Queued is the number of runs that wait.
		Queued int `json:"queued,omitempty"`
		// Runs are the last ones, newest first.
		Runs []ScheduleRun `json:"runs"`
	}
	// ScheduleRun is one run of a schedule. Times are in Unix milliseconds.
	ScheduleRun struct {
		ID        string           `json:"id"`
		Cause     ScheduleCause    `json:"cause"`
		State     ScheduleRunState `json:"state"`
		DueAt     int64            `json:"dueAt"`
		StartedAt int64            `json:"startedAt,omitempty"`
		EndedAt   int64            `json:"endedAt,omitempty"`
		SessionID string           `json:"sessionId,omitempty"` // "" until it is created
		// Reason is why it failed, was canceled or skipped, for people.
		Reason string `json:"reason,omitempty"`
	}

	ListSchedulesRequest struct {
		ProjectID string `json:"projectId,omitempty" req:"max=256"` // "" means all projects
	}
	ListSchedulesResponse struct {
		Schedules []Schedule `json:"schedules"`
	}
	// SaveScheduleRequest creates a schedule, one per ClientKey, or replaces the one with ID.
	SaveScheduleRequest struct {
		ProjectID string       `json:"projectId" req:"min=1,max=256"`
		ID        string       `json:"id,omitempty" req:"max=64"`
		ClientKey string       `json:"clientKey,omitempty" req:"max=256"`
		Spec      ScheduleSpec `json:"spec"`
		// Token is that of a webhook, which the caller generates and keeps. When a schedule
		// with a webhook is replaced, "" keeps its token.
		Token string `json:"token,omitempty" req:"max=256"`
	}
	ScheduleResponse struct {
		Schedule Schedule `json:"schedule"`
	}
	// ScheduleRequest names a schedule of a project.
	ScheduleRequest struct {
		ProjectID string `json:"projectId" req:"min=1,max=256"`
		ID        string `json:"id" req:"min=1,max=64"`
	}
	EnableScheduleRequest struct {
		ProjectID string `json:"projectId" req:"min=1,max=256"`
		ID        string `json:"id" req:"min=1,max=64"`
		Enabled   bool   `json:"enabled"`
	}
	// RunScheduleRequest runs a schedule now, once per ClientKey.
	RunScheduleRequest struct {
		ProjectID string `json:"projectId" req:"min=1,max=256"`
		ID        string `json:"id" req:"min=1,max=64"`
		ClientKey string `json:"clientKey" req:"min=1,max=128"`
	}
	RunScheduleResponse struct {
		Run ScheduleRun `json:"run"`
	}
	// PreviewScheduleRequest asks for the next times of a cron expression.
	PreviewScheduleRequest struct {
		Cron string `json:"cron" req:"min=1,max=256"`
		Zone string `json:"zone,omitempty" req:"max=64"` // "" is that of the machine
	}
	PreviewScheduleResponse struct {
		// Times are the next five times, in Unix milliseconds.
		Times []int64 `json:"times"`
	}
)

// Outside reports whether runs get text that others wrote.
func (w ScheduleWhen) Outside() bool { return w.Webhook != nil || w.Folder != nil || w.GitHub != nil }

// Ended reports whether a run is over.
func (s ScheduleRunState) Ended() bool {
	switch s {
	case RunSucceeded, RunFailed, RunCanceled, RunSkipped:
		return true
	}
	return false
}
