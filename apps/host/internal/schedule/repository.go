package schedule

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/packages/protocol/api"
)

// mayRead refuses a connection that may not have the host read a repository on GitHub. gh reads
// with the login of this machine's user whatever that can see. So whoever could not allow the agent
// to run gh names a repository of the project's own remotes only. What a schedule reads already
// stays.
func (q *Requests) mayRead(ctx context.Context, c *dispatch.Conn, project api.Project, r api.SaveScheduleRequest) error {
	at := r.Spec.When.GitHub
	if at == nil || c.May(api.GrantApprove) || c.May(api.GrantLocal) {
		return nil
	}
	same := false
	if err := q.Scheduler.do(ctx, func() {
		have, err := q.Scheduler.find(r.ProjectID, r.ID)
		same = err == nil && sameWhen(have.Spec.When, r.Spec.When)
	}); err != nil || same {
		return err
	}
	remotes, err := q.Remotes(ctx, project.Path)
	if err != nil {
		q.Logger.Warn("the remotes of a project cannot be read", "project", project.ID, "error", err)
	}
	if slices.ContainsFunc(remotes, func(remote string) bool { return strings.EqualFold(onGitHub(remote), at.Repository) }) {
		return nil
	}
	return api.Errorf(api.KindNotAllowed, "%s is not a remote of the project on GitHub: reading another repository also needs the grant %q, which this connection does not have", at.Repository, api.GrantApprove)
}

// onGitHub returns the OWNER/NAME that the address of a remote names on GitHub, or "".
func onGitHub(remote string) string {
	if !strings.Contains(remote, "://") { // USER@HOST:PATH
		host, path, ok := strings.Cut(remote, ":")
		if !ok {
			return ""
		}
		remote = "ssh://" + host + "/" + strings.TrimPrefix(path, "/")
	}
	u, err := url.Parse(remote)
	if err != nil || !slices.Contains([]string{"github.com", "www.github.com", "ssh.github.com"}, strings.ToLower(u.Hostname())) {
		return ""
	}
	name := strings.TrimSuffix(strings.Trim(u.Path, "/"), ".git")
	if !repositoryName.MatchString(name) {
		return ""
	}
	return name
}
