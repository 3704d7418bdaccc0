package schedule

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/apps/host/internal/permission"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
)

var none = api.Empty{}

// Requests answers the requests about schedules. All fields are required.
type Requests struct {
	Logger    *slog.Logger
	Scheduler *Scheduler
	Projects  *state.Projects
	// MaxMode is the highest mode that a connection may set.
	MaxMode func(*dispatch.Conn) api.Mode
	// CheckModel and CheckAgent return why a session cannot have a model, or run as an agent.
	CheckModel func(name string) error
	CheckAgent func(folder, name string) error
	// Remotes returns the addresses of the remotes of a folder's repository.
	Remotes func(ctx context.Context, folder string) ([]string, error)
	// ProjectOf returns the project of a session.
	ProjectOf func(sessionID string) (projectID string, exists bool)
}

// Endpoints are the requests about schedules.
func (q *Requests) Endpoints() []dispatch.Endpoint {
	return []dispatch.Endpoint{
		dispatch.Serve(api.ListSchedules, q.list),
		dispatch.Serve(api.SaveSchedule, q.save),
		dispatch.Serve(api.PreviewSchedule, q.preview),
		dispatch.Serve(api.EnableSchedule, q.enable),
		dispatch.Serve(api.RunSchedule, q.run),
		dispatch.Serve(api.DeleteSchedule, q.remove),
	}
}

func unknown(id string) *api.Error {
	return api.Errorf(api.KindNotFound, "there is no schedule %.64q: `scorel schedule list` shows the schedules", id)
}

func (q *Requests) list(ctx context.Context, c *dispatch.Conn, r api.ListSchedulesRequest) (response api.ListSchedulesResponse, err error) {
	response.Schedules = []api.Schedule{}
	err = q.Scheduler.do(ctx, func() {
		for _, id := range q.Scheduler.ids() {
			one := q.Scheduler.records[id]
			if c.SeesProject(one.ProjectID) && (r.ProjectID == "" || r.ProjectID == one.ProjectID) {
				response.Schedules = append(response.Schedules, q.Scheduler.shown(one))
			}
		}
	})
	slices.SortStableFunc(response.Schedules, func(a, b api.Schedule) int { return cmp.Compare(a.CreatedAt, b.CreatedAt) })
	return response, err
}

// shown is a schedule as clients see it. Its secrets stay here.
func (s *Scheduler) shown(r record) api.Schedule {
	out := api.Schedule{
		ID: r.ID, ProjectID: r.ProjectID, Spec: r.Spec, Enabled: r.Enabled, CreatedAt: r.CreatedAt, Author: r.Author,
		Queued: len(r.Queue), Problem: s.problems[r.ID], Runs: []api.ScheduleRun{},
	}
	if next, ok := nextOf(r); ok {
		out.NextAt = next.UnixMilli()
	}
	for _, one := range r.Runs {
		out.Runs = append(out.Runs, one.ScheduleRun)
	}
	return out
}

// may refuses a connection that may not have such a schedule run. What runs unattended is a
// setting, which needs manage; its runs are prompts; and none runs in a higher mode than the
// connection may set.
func (q *Requests) may(c *dispatch.Conn, mode api.Mode) error {
	if !c.May(api.GrantPrompt) {
		return c.Lacks(api.GrantPrompt, "a schedule sends prompts, which")
	}
	if most := q.MaxMode(c); permission.Lower(mode, most) != mode {
		return api.Errorf(api.KindNotAllowed, "this connection may use modes up to %q: do this on the host's own machine, or raise permissions.remote_mode in its config.toml", most)
	}
	return nil
}

func modeOf(spec api.ScheduleSpec) api.Mode { return cmp.Or(spec.Mode, api.ModeAsk) }

func (q *Requests) save(ctx context.Context, c *dispatch.Conn, r api.SaveScheduleRequest) (response api.ScheduleResponse, err error) {
	project, err := q.Projects.Find(r.ProjectID)
	if err != nil {
		return response, err
	}
	r.Spec.Name = strings.Join(strings.Fields(r.Spec.Name), " ")
	if err := q.check(project, r); err != nil {
		return response, err
	}
	if err := q.may(c, modeOf(r.Spec)); err != nil {
		return response, err
	}
	if err := q.mayRead(ctx, c, project, r); err != nil {
		return response, err
	}
	doErr := q.Scheduler.do(ctx, func() {
		if r.ID == "" {
			response, err = q.Scheduler.create(c.ClientID(), r)
		} else {
			response, err = q.Scheduler.replace(c.ClientID(), r)
		}
	})
	if err = cmp.Or(doErr, err); err == nil {
		q.Logger.Info("a schedule was saved", "schedule", response.Schedule.ID, "client", c.ClientID())
	}
	return response, err
}

// create adds a schedule, once for each clientKey.
func (s *Scheduler) create(author string, r api.SaveScheduleRequest) (response api.ScheduleResponse, err error) {
	sum := sha256.Sum256([]byte("scorel schedule\x00" + r.ClientKey))
	id := idPrefix + hex.EncodeToString(sum[:10])
	if have, exists := s.records[id]; exists {
		if have.ProjectID != r.ProjectID {
			return response, api.Errorf(api.KindConflict, "this clientKey belongs to a request for another project: use a new one")
		}
		response.Schedule = s.shown(have)
		return response, nil
	}
	if len(s.records) >= maxSchedules {
		return response, api.Errorf(api.KindTooLarge, "the limit of %d schedules is reached: remove one that is no longer used", maxSchedules)
	}
	if err := s.checkName(r); err != nil {
		return response, err
	}
	if err := s.checkAfter(id, r); err != nil {
		return response, err
	}
	now := s.Now()
	if at := r.Spec.When.At; at != 0 && at <= now.UnixMilli() {
		return response, api.Errorf(api.KindBadRequest, "%s is in the past: choose a later time", time.UnixMilli(at).Format(time.RFC3339))
	}
	one := record{ID: id, ProjectID: r.ProjectID, Spec: r.Spec, Enabled: true, CreatedAt: now.UnixMilli(), Author: author, Key: r.ClientKey, Handled: now.UnixMilli()}
	one.setToken(r.Token)
	if err := s.files.save(one); err != nil {
		return response, err
	}
	s.records[id] = one
	s.follow()
	s.Changed(one.ProjectID)
	response.Schedule = s.shown(one)
	return response, nil
}

// replace changes a schedule. Its history stays.
func (s *Scheduler) replace(author string, r api.SaveScheduleRequest) (response api.ScheduleResponse, err error) {
	have, err := s.find(r.ProjectID, r.ID)
	if err != nil {
		return response, err
	}
	if have.Spec.Name != r.Spec.Name { // earlier versions let two have one name
		if err := s.checkName(r); err != nil {
			return response, err
		}
	}
	if err := s.checkAfter(r.ID, r); err != nil {
		return response, err
	}
	if web := r.Spec.When.Webhook; web != nil && r.Token == "" {
		if have.TokenHash == "" || web.Signed && have.Secret == "" {
			return response, api.Errorf(api.KindBadRequest, "this webhook needs a new token: give one")
		}
	}
	now := s.Now().UnixMilli()
	err = s.changeOr(r.ID, func(one *record) {
		if !sameWhen(one.Spec.When, r.Spec.When) {
			one.Handled, one.Files, one.Looked, one.Cursor = now, nil, false, ""
			delete(s.polls, r.ID)
			delete(s.settling, r.ID)
			delete(s.failures, r.ID)
			if at := r.Spec.When.At; at > now {
				one.Enabled = true
			}
		}
		one.Spec, one.Author = r.Spec, author
		one.setToken(r.Token)
	})
	response.Schedule = s.shown(s.records[r.ID])
	return response, err
}

// checkName returns an error for a name that another schedule of the project has: commands could not
// tell them apart by it.
func (s *Scheduler) checkName(r api.SaveScheduleRequest) error {
	for id, other := range s.records {
		if id != r.ID && other.ProjectID == r.ProjectID && other.Spec.Name == r.Spec.Name {
			return api.Errorf(api.KindConflict, "the project has a schedule with the name %.64q already: choose another name, or remove that one", r.Spec.Name)
		}
	}
	return nil
}

// setToken stores the token of a webhook: its hash, and where requests are signed with it, the
// token itself.
func (r *record) setToken(token string) {
	if r.Spec.When.Webhook == nil {
		r.TokenHash, r.Secret = "", ""
		return
	}
	if token != "" {
		r.TokenHash, r.Secret = hashOf(token), token
	}
	if !r.Spec.When.Webhook.Signed {
		r.Secret = ""
	}
}

func hashOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

func (s *Scheduler) find(projectID, id string) (record, error) {
	r, known := s.records[id]
	if !known || r.ProjectID != projectID {
		return r, unknown(id)
	}
	return r, nil
}

func (q *Requests) enable(ctx context.Context, c *dispatch.Conn, r api.EnableScheduleRequest) (response api.ScheduleResponse, err error) {
	s := q.Scheduler
	doErr := s.do(ctx, func() {
		var have record
		if have, err = s.find(r.ProjectID, r.ID); err != nil {
			return
		}
		if r.Enabled {
			if err = q.may(c, modeOf(have.Spec)); err != nil {
				return
			}
			if at := have.Spec.When.At; at != 0 && at <= s.Now().UnixMilli() {
				err = api.Errorf(api.KindConflict, "the time of this schedule has passed: change it, or run it now")
				return
			}
		}
		if have.Enabled != r.Enabled {
			err = s.changeOr(r.ID, func(one *record) { one.enable(r.Enabled, s.Now().UnixMilli()) })
		}
		response.Schedule = s.shown(s.records[r.ID])
	})
	return response, cmp.Or(doErr, err)
}

// enable starts over: what was due while it was disabled does not count.
func (r *record) enable(enabled bool, now int64) {
	r.Enabled = enabled
	if enabled {
		ran := r.Spec.When.Cron != "" && r.Handled > now && r.Handled-now <= correction.Milliseconds()
		if !ran { // else the clock was set back, and times until then do not repeat
			r.Handled = now
		}
		r.Files, r.Looked, r.Cursor = nil, false, ""
		return
	}
	for _, one := range r.Queue {
		one.State, one.Reason, one.EndedAt, one.Text = api.RunSkipped, "The schedule was disabled.", now, ""
		r.put(one)
	}
	r.Queue = nil
}

func (q *Requests) run(ctx context.Context, c *dispatch.Conn, r api.RunScheduleRequest) (response api.RunScheduleResponse, err error) {
	s := q.Scheduler
	doErr := s.do(ctx, func() {
		var have record
		if have, err = s.find(r.ProjectID, r.ID); err != nil {
			return
		}
		if err = q.may(c, modeOf(have.Spec)); err != nil {
			return
		}
		key := "person:" + r.ClientKey
		if !have.saw(key) {
			if have.active() != nil || len(have.Queue) > 0 {
				err = api.Errorf(api.KindConflict, "a run of this schedule has not ended: wait for it, or cancel its turn")
				return
			}
			if !s.fire(r.ID, newRun(api.CausePerson, key, s.Now().UnixMilli())) {
				err = api.Errorf(api.KindInternal, "the run could not be stored: see the host's log")
				return
			}
		}
		err = unknown(r.ID)
		for _, one := range slices.Concat(s.records[r.ID].Runs, s.records[r.ID].Queue) {
			if one.Key == key {
				response.Run, err = one.ScheduleRun, nil
			}
		}
	})
	return response, cmp.Or(doErr, err)
}

func (q *Requests) remove(ctx context.Context, c *dispatch.Conn, r api.ScheduleRequest) (_ api.Empty, err error) {
	s := q.Scheduler
	doErr := s.do(ctx, func() {
		if _, err = s.find(r.ProjectID, r.ID); err != nil {
			return
		}
		if err = s.files.remove(r.ID); err != nil {
			return
		}
		delete(s.records, r.ID)
		delete(s.polling, r.ID)
		delete(s.problems, r.ID)
		delete(s.rates, r.ID)
		delete(s.polls, r.ID)
		delete(s.failures, r.ID)
		delete(s.settling, r.ID)
		s.follow()
		s.Changed(r.ProjectID)
	})
	if err = cmp.Or(doErr, err); err == nil {
		q.Logger.Info("a schedule was deleted", "schedule", r.ID, "client", c.ClientID())
	}
	return none, err
}
