package read

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/scorel/scorel/packages/protocol/session"
)

// LostJobs returns the background jobs that started on the path and whose end was not reported
// to a model. Jobs belong to a host, so a host that opens the session for the first time has
// none of them.
func LostJobs(tree *session.Tree) []string {
	path, err := tree.Path(tree.Leaf())
	if err != nil {
		return nil
	}
	var open []string
	for _, entry := range path {
		news := NewsOfJobs(entry)
		open = without(open, news.Ended...)
		if news.Job != "" {
			open = append(without(open, news.Job), news.Job)
		}
	}
	return open
}

// JobNews is what an entry reports to the model about background jobs.
type JobNews struct {
	Job   string   // a running job; "" if none
	Seen  bool     // an earlier job was looked at
	Wakes bool     // its end starts a turn
	Ended []string // jobs that ended or were lost
}

// NewsOfJobs returns what an entry reports about background jobs.
func NewsOfJobs(entry session.Entry) JobNews {
	if !bytes.Contains(entry.Raw, []byte(`"job`)) { // most entries mention no job
		return JobNews{}
	}
	if jobs, found := jobNote(entry); found {
		return JobNews{Ended: jobs}
	}
	m, ok := entry.AsMessage()
	if !ok {
		return JobNews{}
	}
	return NewsOfResult(m.Message)
}

func without(list []string, gone ...string) []string {
	return slices.DeleteFunc(list, func(job string) bool { return slices.Contains(gone, job) })
}

// NewsOfResult returns what the result of a tool reports about a background job; the zero
// value for every other message.
func NewsOfResult(m session.Message) (news JobNews) {
	if m.Role != session.RoleToolResult || !slices.Contains([]string{"bash", "execute_skill", "bash_job"}, m.ToolName) {
		return news
	}
	if !bytes.Contains(m.Details, []byte(`"job"`)) {
		return news
	}
	var details struct {
		Job     string
		Notify  bool
		Running *bool // set by bash_job; the other tools start a job
	}
	switch err := json.Unmarshal(m.Details, &details); {
	case err != nil || details.Job == "":
		return news
	case details.Running != nil && !*details.Running:
		return JobNews{Ended: []string{details.Job}}
	}
	return JobNews{Job: details.Job, Seen: details.Running != nil, Wakes: details.Notify}
}

// jobNote returns the jobs whose end a note reports. Notes of older versions name them only at
// the beginning of their lines.
func jobNote(entry session.Entry) (jobs []string, ok bool) {
	if entry.CustomType != session.CustomNote {
		return nil, false
	}
	var note struct {
		Content session.Content
		Details session.NoteRecord
	}
	if json.Unmarshal(entry.Raw, &note) != nil || note.Details.Kind != session.NoteJobs {
		return nil, false
	}
	if note.Details.Jobs != nil {
		return note.Details.Jobs, true
	}
	for line := range strings.Lines(note.Content.Plain()) {
		if after, found := strings.CutPrefix(line, "Background job "); found {
			jobs = append(jobs, strings.Fields(after + " ?")[0])
		}
	}
	return jobs, true
}

// Bounds returns the highest permitted modes that prompts of the log name.
func Bounds(tree *session.Tree) (modes []string) {
	for _, entry := range tree.Entries() {
		if entry.Role() != session.RoleUser || !bytes.Contains(entry.Raw, []byte(`"maxMode"`)) {
			continue
		}
		if mode := entry.Text("maxMode"); mode != "" && !slices.Contains(modes, mode) {
			modes = append(modes, mode)
		}
	}
	return modes
}

// Wakes counts the turns since the last prompt that no person requested. A note that arrived
// during a turn is part of that turn.
func Wakes(tree *session.Tree) int {
	turns := map[string]bool{}
	for _, entry := range slices.Backward(tree.Entries()) {
		if entry.Role() == session.RoleUser {
			delete(turns, entry.Text("turnId"))
			break
		}
		if Waking(entry) {
			turns[entry.Text("turnId")] = true
		}
	}
	return len(turns)
}

// Waking reports whether an entry is a note that starts a turn if none is running.
func Waking(entry session.Entry) bool {
	if entry.CustomType != session.CustomNote || !bytes.Contains(entry.Raw, []byte(`"wakes"`)) {
		return false
	}
	var note struct{ Details session.NoteRecord }
	return json.Unmarshal(entry.Raw, &note) == nil && note.Details.Wakes
}
