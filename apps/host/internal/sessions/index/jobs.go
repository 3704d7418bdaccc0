package index

import (
	"encoding/json"
	"slices"

	"github.com/scorel/scorel/apps/host/internal/sessions/read"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Job is a background job whose end starts a turn.
type Job struct {
	Name   string `json:"name"`
	TurnID string `json:"turnId,omitempty"` // of the turn that started it
}

// addJob adds what the result of a tool reports about a job. Jobs that a fork inherited run
// in the original session.
func (d *Digest) addJob(news read.JobNews, turnID string) {
	d.dropJobs(news.Ended...)
	if news.Job == "" || news.Seen || d.Begun > 0 {
		return
	}
	d.dropJobs(news.Job) // a later host reused the name
	if news.Wakes {
		d.Jobs = append(d.Jobs, Job{news.Job, turnID})
	}
}

func (d *Digest) dropJobs(names ...string) {
	d.Jobs = slices.DeleteFunc(d.Jobs, func(j Job) bool { return slices.Contains(names, j.Name) })
}

// addNote adds a note to the model. A waking note starts a turn, unless one is running.
func (d *Digest) addNote(e session.Entry) {
	d.dropJobs(read.NewsOfJobs(e).Ended...)
	if !d.Cut && d.Begun == 0 && read.Waking(e) {
		d.Owed = e.Text("turnId")
	}
}

// addEnd adds the record of how a turn ended. The jobs of a turn that a person canceled start
// no turn.
func (d *Digest) addEnd(e session.Entry) {
	d.Cut, d.Owed = false, ""
	var record session.TurnRecord
	custom, ok := e.AsCustom()
	if !ok || json.Unmarshal(custom.Data, &record) != nil || record.StopReason != session.StopAborted || record.HostEnded {
		return
	}
	d.Jobs = slices.DeleteFunc(d.Jobs, func(j Job) bool { return j.TurnID == record.TurnID })
}

// Wants reports whether the end of one of the jobs starts a turn.
func (d *Digest) Wants(jobs []string) bool {
	return slices.ContainsFunc(d.Jobs, func(j Job) bool { return slices.Contains(jobs, j.Name) })
}
