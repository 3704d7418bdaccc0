package schedule

import (
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/scorel/scorel/packages/protocol/api"
)

// check returns what is wrong with a schedule, for people.
func (q *Requests) check(project api.Project, r api.SaveScheduleRequest) error {
	bad := func(format string, args ...any) error { return api.Errorf(api.KindBadRequest, format, args...) }
	spec := r.Spec
	switch {
	case (r.ID == "") == (r.ClientKey == ""):
		return bad("give a clientKey to create a schedule, or the id of the one to replace")
	case spec.Name == "" || strings.ContainsFunc(spec.Name, unicode.IsControl):
		return bad("the schedule needs a name of one line")
	case strings.TrimSpace(spec.Prompt) == "":
		return bad("the prompt is empty: say what the agent should do")
	case spec.Mode != "" && !slices.Contains(api.Modes(), spec.Mode):
		return bad("unknown mode %.40q: use one of %s", spec.Mode, api.ModeNames())
	case !(spec.Cost >= 0 && spec.Cost <= api.MaxCost): // also rejects NaN
		return bad("the cost is in US dollars, at most %d, and may not be negative", int64(api.MaxCost))
	case !oneOf(spec.OnApproval, "", api.ScheduleWait, api.ScheduleEnd):
		return bad("unknown value %.40q of onApproval: use wait or end", spec.OnApproval)
	case !oneOf(spec.Overlap, "", api.OverlapSkip, api.OverlapQueue):
		return bad("unknown value %.40q of overlap: use skip or queue", spec.Overlap)
	case !oneOf(spec.Missed, "", api.MissedRun, api.MissedSkip):
		return bad("unknown value %.40q of missed: use run or skip", spec.Missed)
	case spec.When.Outside() && !spec.AllowUnattended && !oneOf(modeOf(spec), api.ModePlan, api.ModeAsk):
		return bad("text from outside must not cause changes without approval: use the mode plan or ask, or allow it with --allow-unattended (allowUnattended in requests)")
	}
	if spec.Model != "" {
		if err := q.CheckModel(spec.Model); err != nil {
			return err
		}
	}
	if spec.Agent != "" {
		if err := q.CheckAgent(project.Path, spec.Agent); err != nil {
			return err
		}
	}
	return q.checkWhen(project, r)
}

func oneOf[T comparable](value T, list ...T) bool { return slices.Contains(list, value) }

func (q *Requests) checkWhen(project api.Project, r api.SaveScheduleRequest) error {
	bad := func(format string, args ...any) error { return api.Errorf(api.KindBadRequest, format, args...) }
	when := r.Spec.When
	given := 0
	for _, set := range []bool{when.Cron != "", when.At != 0, when.After != nil, when.Webhook != nil, when.Folder != nil, when.GitHub != nil} {
		if set {
			given++
		}
	}
	switch {
	case given == 0:
		return bad("say when it runs, with one of cron, at, after, webhook, folder and github")
	case given > 1:
		return bad("a schedule runs for one reason: of cron, at, after, webhook, folder and github, give one")
	case when.Zone != "" && when.Cron == "":
		return bad("a time zone only applies to a cron expression")
	case when.Cron != "":
		if _, err := parseCron(when.Cron, when.Zone); err != nil {
			return bad("%s", err)
		}
	case when.After != nil:
		return q.checkEvent(r.ProjectID, *when.After)
	case when.Webhook != nil:
		if r.ID == "" && r.Token == "" || r.Token != "" && len(r.Token) < minTokenLen {
			return bad("a webhook needs a token of at least %d characters", minTokenLen)
		}
	case when.Folder != nil:
		return checkFolder(project, *when.Folder)
	case when.GitHub != nil:
		return checkGitHub(*when.GitHub)
	}
	if r.Token != "" && when.Webhook == nil {
		return bad("a token only applies to a webhook")
	}
	return nil
}

func (q *Requests) checkEvent(projectID string, after api.ScheduleAfter) error {
	switch {
	case (after.SessionID == "") == (after.ScheduleID == ""):
		return api.Errorf(api.KindBadRequest, "after needs either a session or a schedule")
	case !oneOf(after.Outcome, "", api.OutcomeSucceeded, api.OutcomeFailed, api.OutcomeEnded):
		return api.Errorf(api.KindBadRequest, "unknown outcome %.40q: use succeeded, failed or ended", after.Outcome)
	case after.SessionID != "":
		if of, exists := q.ProjectOf(after.SessionID); !exists || of != projectID {
			return api.Errorf(api.KindNotFound, "there is no session %.64q in this project", after.SessionID)
		}
	}
	return nil
}

// checkAfter refuses schedules that run after themselves.
func (s *Scheduler) checkAfter(id string, r api.SaveScheduleRequest) error {
	after := r.Spec.When.After
	if after == nil || after.ScheduleID == "" {
		return nil
	}
	at, err := s.find(r.ProjectID, after.ScheduleID)
	if err != nil {
		return err
	}
	for range len(s.records) + 1 {
		if at.ID == id {
			return api.Errorf(api.KindConflict, "this schedule would run after itself: choose another schedule")
		}
		if at.Spec.When.After == nil || at.Spec.When.After.ScheduleID == "" {
			return nil
		}
		at = s.records[at.Spec.When.After.ScheduleID]
	}
	return nil
}

func sameWhen(a, b api.ScheduleWhen) bool { return reflect.DeepEqual(a, b) }

// checkFolder refuses folders that are not in the project, and patterns that cannot match.
func checkFolder(project api.Project, folder api.ScheduleFolder) error {
	if !localPath(folder.Path) {
		return api.Errorf(api.KindBadRequest, "%.80q is not a folder in the project: give a path such as inbox, without ..", folder.Path)
	}
	if _, err := path.Match(folder.Pattern, "x"); err != nil || strings.Contains(folder.Pattern, "/") {
		return api.Errorf(api.KindBadRequest, "the pattern %.80q is not valid: use one for names, such as *.csv", folder.Pattern)
	}
	root, err := openFolder(project.Path, folder.Path)
	if err != nil {
		return api.Errorf(api.KindInvalidPath, "the folder %.200s cannot be watched: %s", folder.Path, reason(err))
	}
	return root.Close()
}

var repositoryName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]{0,38}/[A-Za-z0-9._-]{1,100}$`)
var loginName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]{0,38}(\[bot\])?$`)

func checkGitHub(g api.ScheduleGitHub) error {
	_, name, _ := strings.Cut(g.Repository, "/")
	if !repositoryName.MatchString(g.Repository) || name == "." || name == ".." {
		return api.Errorf(api.KindBadRequest, "%.80q is not a repository: give OWNER/NAME", g.Repository)
	}
	for _, login := range g.Authors {
		if !loginName.MatchString(login) {
			return api.Errorf(api.KindBadRequest, "%.80q is not the login of an author", login)
		}
	}
	if len(g.Authors) == 0 || strings.TrimSpace(g.Phrase) != g.Phrase || strings.ContainsFunc(g.Phrase, unicode.IsControl) {
		return api.Errorf(api.KindBadRequest, "give at least one author, and a phrase of one line without spaces around it")
	}
	return nil
}
