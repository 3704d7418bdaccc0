package read

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/scorel/scorel/packages/protocol/session"
)

// LostJobs returns the background jobs that began on the path and whose end no model was
// told of. They belong to a host, so one that opens the session for the first time has
// none of them.
func LostJobs(tree *session.Tree) []string {
	path, err := tree.Path(tree.Leaf())
	if err != nil {
		return nil
	}
	var open []string
	for _, entry := range path {
		if !bytes.Contains(entry.Raw, []byte(`"job`)) { // most say nothing of jobs
			continue
		}
		if job, ended := jobResult(entry); ended {
			open = without(open, job)
		} else if job != "" {
			open = append(without(open, job), job)
		}
		if jobs, told := jobNote(entry); told {
			open = without(open, jobs...)
		}
	}
	return open
}

func without(list []string, gone ...string) []string {
	return slices.DeleteFunc(list, func(job string) bool { return slices.Contains(gone, job) })
}

// jobResult tells what the result of a tool says of a job; "" says nothing.
func jobResult(entry session.Entry) (job string, ended bool) {
	m, ok := entry.AsMessage()
	if !ok || m.Message.Role != session.RoleToolResult || !slices.Contains([]string{"bash", "execute_skill", "bash_job"}, m.Message.ToolName) {
		return "", false
	}
	var details struct {
		Job     string
		Running *bool // bash_job says it; the others tell of one that goes on
	}
	if json.Unmarshal(m.Message.Details, &details) != nil {
		return "", false
	}
	return details.Job, details.Running != nil && !*details.Running
}

// jobNote returns the jobs whose end a note tells. One from before notes named them
// begins its lines with them.
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
