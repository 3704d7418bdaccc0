package host

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/apps/host/internal/gitrepo"
	"github.com/scorel/scorel/apps/host/internal/permission"
	"github.com/scorel/scorel/apps/host/internal/schedule"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
)

// loadSchedules makes the scheduler. Its sessions follow in openSessions.
func (w *wiring) loadSchedules() (err error) {
	w.runs = &schedule.Runs{Projects: w.projects, Budgets: w.budgets, Author: w.authorMay}
	w.scheduler, err = schedule.New(schedule.Options{
		Logger: w.log, Folder: w.paths.Schedules(), Sessions: w.runs, Now: time.Now, After: time.After,
		Project: func(id string) (string, error) {
			project, err := w.projects.Find(id)
			return project.Path, err
		},
		GitHub:  schedule.GH{Environ: w.environ}.Get,
		Changed: func(projectID string) { w.hub.Notify(api.SchedulesChanged{ProjectID: projectID}) },
	})
	return err
}

func (w *wiring) scheduleAPI() *schedule.Requests {
	return &schedule.Requests{
		Logger: w.log, Scheduler: w.scheduler, Projects: w.projects, MaxMode: w.sessionAPI.MaxMode, ProjectOf: w.sessions.ProjectOf, Remotes: w.remotesOf,
		CheckModel: func(name string) error {
			_, _, err := w.models.Model(name)
			return err
		},
		CheckAgent: func(folder, name string) error {
			_, err := w.agents.Persona(folder, name)
			return err
		},
	}
}

// remotesOf returns the addresses of the remotes of a folder's repository; none without one.
func (w *wiring) remotesOf(ctx context.Context, folder string) ([]string, error) {
	repo := gitrepo.Find(folder, func(string) bool { return false })
	if repo == nil {
		return nil, nil
	}
	return repo.Remotes(ctx)
}

// authorMay returns the highest mode that the author of a schedule may use in a project now.
// An author without access has no runs.
func (w *wiring) authorMay(author, projectID string) (api.Mode, error) {
	var grants []api.Grant
	switch {
	case author == dispatch.LocalID:
		grants = api.LocalGrants()
	case strings.HasPrefix(author, "tok_"):
		if token, known := w.tokens.Find(author); known && (token.ExpiresAt == 0 || time.Now().UnixMilli() < token.ExpiresAt) {
			grants = token.Grants
		}
	default:
		id, err := ident.ParseClientID(author)
		client, known := w.clients.Get(id)
		sees := len(client.Projects) == 0 || slices.Contains(client.Projects, projectID)
		if err == nil && known && !client.Expired(time.Now()) && sees {
			grants = client.Grants
		}
	}
	if !slices.Contains(grants, api.GrantManage) || !slices.Contains(grants, api.GrantPrompt) {
		return "", api.Errorf(api.KindNotAllowed, "the client that saved this schedule may not have it run any more: save it again from another one")
	}
	return permission.Cap(grants, w.config.Permissions.RemoteMode), nil
}
