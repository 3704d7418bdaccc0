package schedule

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/scorel/scorel/packages/atomicfile"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/exactjson"
)

// record is a schedule as its file holds it.
type record struct {
	ID        string           `json:"id"`
	ProjectID string           `json:"projectId"`
	Spec      api.ScheduleSpec `json:"spec"`
	Enabled   bool             `json:"enabled"`
	CreatedAt int64            `json:"createdAt"` // Unix milliseconds, like all times here
	Author    string           `json:"author"`
	Key       string           `json:"key"` // clientKey of the request that created it

	// Handled is the last time that was due and led to a run or was skipped.
	Handled int64 `json:"handled"`
	Runs    []run `json:"runs,omitempty"`  // newest first
	Queue   []run `json:"queue,omitempty"` // oldest first
	// Seen are the keys of events that led to a run, oldest first. Earlier versions also kept times
	// in it, which do not count.
	Seen []string `json:"seen,omitempty"`

	TokenHash string           `json:"tokenHash,omitempty"` // SHA-256 of the token of a webhook, lower-case hex
	Secret    string           `json:"secret,omitempty"`    // the token, where requests are signed with it
	Files     map[string]int64 `json:"files,omitempty"`     // files that were in the folder, by name
	Looked    bool             `json:"looked,omitempty"`    // Files has those that were there at first
	Cursor    string           `json:"cursor,omitempty"`    // what was read on GitHub
}

// run is a run as the file of its schedule holds it.
type run struct {
	api.ScheduleRun
	Key    string `json:"key,omitempty"`  // of its event
	Text   string `json:"text,omitempty"` // from outside; dropped when it has ended
	Source string `json:"source,omitempty"`
	// ActiveMs is how long it has worked, without the time in which it waited or the machine
	// slept.
	ActiveMs int64 `json:"activeMs,omitempty"`
	// Ending is why the host ends it; "" if it does not.
	Ending string `json:"ending,omitempty"`
}

func newRun(cause api.ScheduleCause, key string, now int64) run {
	return run{ScheduleRun: api.ScheduleRun{ID: "run_" + strings.ToLower(rand.Text()), Cause: cause, State: api.RunQueued, DueAt: now}, Key: key}
}

// clone returns a copy that shares nothing that changes.
func (r record) clone() record {
	r.Runs, r.Queue, r.Seen, r.Files = slices.Clone(r.Runs), slices.Clone(r.Queue), slices.Clone(r.Seen), maps.Clone(r.Files)
	return r
}

// active returns the run that has not ended, or nil.
func (r *record) active() *run {
	for i := range r.Runs {
		if !r.Runs[i].State.Ended() {
			return &r.Runs[i]
		}
	}
	return nil
}

func (r *record) run(id string) *run {
	for i := range r.Runs {
		if r.Runs[i].ID == id {
			return &r.Runs[i]
		}
	}
	return nil
}

func (r *record) saw(key string) bool { return key != "" && slices.Contains(r.Seen, key) }

func (r *record) see(key string) {
	if key == "" {
		return
	}
	if r.Seen = append(r.Seen, key); len(r.Seen) > maxSeen {
		r.Seen = slices.Delete(r.Seen, 0, len(r.Seen)-maxSeen)
	}
}

// put adds a run to the history, which stays bounded.
func (r *record) put(one run) {
	r.Runs = slices.Insert(r.Runs, 0, one)
	for i := len(r.Runs) - 1; len(r.Runs) > maxRuns && i > 0; i-- {
		if r.Runs[i].State.Ended() {
			r.Runs = slices.Delete(r.Runs, i, i+1)
		}
	}
}

// files are the schedules of a home, one file each.
type files struct{ folder string }

func (f files) path(id string) string { return filepath.Join(f.folder, id+".json") }

// load reads all schedules. A file that is damaged is an error: a schedule that silently does
// not run would be worse.
func (f files) load() (map[string]record, error) {
	records := map[string]record{}
	entries, err := os.ReadDir(f.folder)
	if errors.Is(err, fs.ErrNotExist) {
		return records, nil
	}
	if err != nil {
		return nil, fmt.Errorf("schedule: %w", err)
	}
	for _, entry := range entries {
		id, ok := strings.CutSuffix(entry.Name(), ".json")
		if !ok || !strings.HasPrefix(id, idPrefix) {
			continue
		}
		data, err := os.ReadFile(f.path(id))
		if err != nil {
			return nil, fmt.Errorf("schedule: %w", err)
		}
		var r record
		if err = exactjson.Unmarshal(data, &r); err == nil && r.ID != id {
			err = fmt.Errorf("it has the id %.64q", r.ID)
		}
		if err != nil {
			return nil, fmt.Errorf("schedule: %s is damaged: repair it, or move it away and start without it (%w)", f.path(id), err)
		}
		records[id] = r
	}
	return records, nil
}

func (f files) save(r record) error {
	data, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return fmt.Errorf("schedule: encoding a schedule: %w", err)
	}
	if err := atomicfile.MkdirAll(f.folder, 0o700); err != nil {
		return fmt.Errorf("schedule: %w", err)
	}
	if err := atomicfile.Write(f.path(r.ID), append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("schedule: %w", err)
	}
	return nil
}

// remove removes a schedule, so that it does not return after a power failure.
func (f files) remove(id string) error {
	err := os.Remove(f.path(id))
	if err == nil {
		err = atomicfile.SyncDir(f.folder)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("schedule: %w", err)
	}
	return nil
}

// idPrefix begins the id of a schedule.
const idPrefix = "sch_"
