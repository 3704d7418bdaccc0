package tool

import (
	"context"
	_ "embed"
	"fmt"
	"strings"
	"time"

	"github.com/scorel/scorel/apps/host/internal/agent"
)

//go:embed bashjob.md
var bashJobDoc string

// defaultWait is how long wait waits by default.
const defaultWait = 60 * time.Second

type bashJob struct{ *Set }

type bashJobArgs struct {
	Action  string `json:"action"`
	Job     string `json:"job,omitempty"`
	Timeout int    `json:"timeout_seconds,omitempty"`
}

func (bashJob) Spec() agent.ToolSpec {
	return spec("bash_job", bashJobDoc, `{
		"action": {"type": "string", "enum": ["list", "poll", "wait", "kill"], "description": "What to do."},
		"job": {"type": "string", "description": "Name of the job, for all but list."},
		"timeout_seconds": {"type": "integer", "minimum": 1, "maximum": 600, "description": "How long wait waits; 60 without this."}}`, "action")
}

// Risk implements agent.Tool. The tool affects only what the session itself started.
func (bashJob) Risk() agent.Risk { return agent.RiskRead }

func (bashJob) Describe(call agent.Call) agent.Description {
	return agent.Description{Title: "Manage background jobs", Detail: string(call.Arguments)}
}

func (t bashJob) Run(ctx context.Context, call agent.Call, _ func(string)) agent.Result {
	var args bashJobArgs
	if err := decodeArgs(call.Arguments, &args); err != nil {
		return agent.Failure("bash_job: %v.", err)
	}
	timeout := time.Duration(args.Timeout) * time.Second
	switch {
	case timeout < 0 || timeout > maxTimeout:
		return agent.Failure("bash_job: timeout_seconds must be 1 to %d.", int(maxTimeout.Seconds()))
	case args.Action == "list":
		return t.list()
	case args.Action != "poll" && args.Action != "wait" && args.Action != "kill":
		return agent.Failure("bash_job: action must be list, poll, wait or kill.")
	}
	j := t.find(args.Job)
	if j == nil {
		return agent.Failure("bash_job: there is no job %q. %s", args.Job, t.list().Content.Plain())
	}
	switch args.Action {
	case "kill":
		j.cancel(errKilled)
		<-j.done // the group is killed within the command's grace period
	case "wait":
		if timeout == 0 {
			timeout = defaultWait
		}
		timer := time.NewTimer(timeout)
		defer timer.Stop()
		select {
		case <-j.done:
		case <-timer.C:
		case <-ctx.Done():
			return agent.Failure("Cancelled by the user. The job %s continues.", j.id)
		}
	}
	return t.report(j)
}

func (t bashJob) find(id string) *job {
	for _, j := range t.jobs.inBackground() {
		if j.id == id {
			return j
		}
	}
	return nil
}

func (t bashJob) list() agent.Result {
	var rows strings.Builder
	for _, j := range t.jobs.inBackground() {
		fmt.Fprintf(&rows, "%s: %s: %s\n", j.id, j.state(), firstWords(j.command))
	}
	if rows.Len() == 0 {
		return agent.Success("There are no background jobs.")
	}
	return agent.Success(rows.String())
}

// jobDetails holds information for people and programs besides the text.
type jobDetails struct {
	Job      string `json:"job"`
	Running  bool   `json:"running"`
	ExitCode int    `json:"exitCode"` // -1 if it is running or a signal stopped it
}

func (t bashJob) report(j *job) agent.Result {
	info := jobDetails{Job: j.id, Running: true, ExitCode: -1}
	select {
	case <-j.done:
		info.Running, info.ExitCode = false, j.exit
		t.notices.forget(j.id)
	default:
	}
	state := j.state()
	text, missed := t.jobs.news(j)
	head := fmt.Sprintf("%s: %s.", j.id, state)
	switch {
	case text == "":
		head += " No new output."
	case missed:
		head += " New output, only the end:\n"
	default:
		head += " New output:\n"
	}
	result := agent.Success(head + text)
	result.Details = details(info)
	return result
}
