// Package files answers the requests about the files of projects: folders, files, git, and
// what changed since a session began.
//
// People see here what the file tools could read without asking, and less: nothing outside of
// the folder, none of git's or scorel's own files, nothing that looks like a secret, and
// nothing that a rule closes to read_file. Git runs by package gitrepo.
package files

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/apps/host/internal/gitrepo"
	"github.com/scorel/scorel/apps/host/internal/permission"
	"github.com/scorel/scorel/apps/host/internal/sessions"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/apps/host/internal/tool"
	"github.com/scorel/scorel/packages/protocol/api"
)

// maxAtOnce is how many commands of git and searches run at once; more requests wait.
const maxAtOnce = 4

// Options are the parts that the handlers call. All are required.
type Options struct {
	Logger   *slog.Logger
	Paths    state.Paths
	Projects *state.Projects
	Catalog  *tool.Catalog
	// Policy returns the rules for calls of a session; the id is "" for none.
	Policy func(project api.Project, sessionID string) permission.Policy
}

// Files answers the requests about files.
type Files struct {
	Options
	sessions *sessions.Manager // set by Attach
	slots    chan struct{}     // holds one token per running search or request of git

	commits sync.Mutex // one commit at a time
	made    madeCommits
}

// New makes the handlers, and removes what a host that was killed left behind.
func New(o Options) (*Files, error) {
	if err := gitrepo.RemoveLocks(o.Paths.GitViews()); err != nil {
		o.Logger.Error("removing the lock of an index that a killed host left", "error", err)
	}
	if err := os.RemoveAll(o.Paths.GitViews()); err != nil {
		return nil, err
	}
	return &Files{Options: o, slots: make(chan struct{}, maxAtOnce)}, nil
}

// Attach sets the sessions, which are made with Began. The endpoints need them.
func (f *Files) Attach(manager *sessions.Manager) { f.sessions = manager }

// Endpoints are the requests about files.
func (f *Files) Endpoints() []dispatch.Endpoint {
	return []dispatch.Endpoint{
		dispatch.Serve(api.ListFiles, f.listFiles),
		dispatch.Serve(api.FindFiles, f.findFiles),
		dispatch.Serve(api.ReadFile, f.readFile),
		dispatch.Serve(api.GitStatus, f.gitStatus),
		dispatch.Serve(api.GitDiff, f.gitDiff),
		dispatch.Serve(api.GitLog, f.gitLog),
		dispatch.Serve(api.GitBranches, f.gitBranches),
		dispatch.Serve(api.GitCommit, f.gitCommit),
		dispatch.Serve(api.GetChanges, f.getChanges),
		dispatch.Serve(api.RevertFile, f.revertFile),
	}
}

// slot waits until the request may run git, or search the folder.
func (f *Files) slot(ctx context.Context) (release func(), err error) {
	select {
	case f.slots <- struct{}{}:
		return func() { <-f.slots }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// place is the folder that a request is about.
type place struct {
	project api.Project
	session *sessions.Session // nil for a project's folder
	folder  *tool.ProjectFolder
	policy  permission.Policy
	repo    *gitrepo.Repo // nil if it is in no repository
}

// noRepository is the error for a request that needs a git repository.
func (p *place) noRepository() error {
	return api.Errorf(api.KindNotFound, "the folder %s is not in a git repository: run git init there", p.project.Path)
}

func (f *Files) placeOf(p api.Place) (*place, error) {
	if (p.SessionID == "") == (p.ProjectID == "") {
		return nil, api.Errorf(api.KindBadRequest, "give either sessionId or projectId")
	}
	var at place
	var err error
	if p.SessionID != "" {
		if at.session, err = f.sessions.Open(p.SessionID); err != nil {
			return nil, err
		}
		if at.project, err = at.session.Folder(); err != nil {
			return nil, err
		}
	} else if at.project, err = f.Projects.Find(p.ProjectID); err != nil {
		return nil, err
	}
	return f.open(&at, p.SessionID)
}

// open opens the folder of a place.
func (f *Files) open(at *place, sessionID string) (*place, error) {
	folder, err := f.Catalog.ProjectFolder(at.project.Path)
	if err != nil {
		return nil, api.Errorf(api.KindInvalidPath, "the folder %s cannot be opened: restore it, or add the project at its new location", at.project.Path)
	}
	at.folder = folder
	at.policy = f.Policy(at.project, sessionID)
	at.policy.Mode, at.policy.Dir = api.ModeAsk, folder.Dir()
	at.repo = gitrepo.Find(folder.Dir(), folder.IsPrivate)
	return at, nil
}

// closed reports whether the content of a file is not sent.
func (at *place) closed(path string) bool {
	real, err := at.folder.Follow(path)
	if err != nil || permission.LooksSecret(path) || permission.LooksSecret(real) {
		return true
	}
	for _, name := range []string{path, real} {
		if at.policy.Judge(permission.Request{Tool: "read_file", Subject: name, Paths: []string{name}}).Action != permission.Allow {
			return true
		}
	}
	return false
}

// Closed returns a function that reports whether the content of a file is not sent, of those in the
// folder of a session.
func (f *Files) Closed(project api.Project, sessionID string) (func(path string) bool, error) {
	at, err := f.open(&place{project: project}, sessionID)
	if err != nil {
		return nil, err
	}
	return at.closed, nil
}

// checkOpen returns the error for a file whose content is not sent.
func (at *place) checkOpen(path string) error {
	if _, err := at.folder.Follow(path); err != nil {
		return fileError(path, err)
	}
	if at.closed(path) {
		return api.Errorf(api.KindNotAllowed, "%s is closed: it looks like a secret, or a rule does not let read_file read it without asking. Open it on the machine", path)
	}
	return nil
}

// fileError explains why a file cannot be used.
func fileError(path string, err error) error {
	if path == "" {
		path = "the folder"
	}
	var system *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return api.Errorf(api.KindNotFound, "%s does not exist", path)
	case errors.Is(err, tool.ErrIsFolder):
		return api.Errorf(api.KindInvalidPath, "%s is a folder: give the path of a file, or list the folder with `scorel file list`", path)
	case errors.Is(err, fs.ErrPermission):
		return api.Errorf(api.KindInvalidPath, "%s cannot be opened: permission denied", path)
	case errors.Is(err, tool.ErrClosed), errors.Is(err, tool.ErrGitsOwn), errors.Is(err, tool.ErrLeavesIt):
		return api.Errorf(api.KindNotAllowed, "%s %v", path, err)
	case errors.As(err, &system):
		return api.Errorf(api.KindInvalidPath, "%s cannot be used: %v", path, system.Err)
	}
	return api.Errorf(api.KindInvalidPath, "%s %v", path, err)
}

// mayWrite returns an error for a connection that may not change files: whoever may answer
// approvals could let the agent make the same change.
func mayWrite(c *dispatch.Conn) error {
	if c.May(api.GrantApprove) {
		return nil
	}
	return c.Lacks(api.GrantApprove, "changing files also")
}

// checkWritable returns the error for a file that a rule keeps the agent from changing, or
// that is closed.
func (at *place) checkWritable(path string) error {
	if err := at.checkOpen(path); err != nil {
		return err
	}
	verdict := at.policy.Judge(permission.Request{Tool: "write_file", Subject: path, Writes: true, Paths: []string{path}})
	if verdict.Action == permission.Deny {
		return api.Errorf(api.KindNotAllowed, "%s is not changed: %s", path, verdict.Reason)
	}
	return nil
}

// inFolder returns a path of the host relative to the folder; false if it is outside.
func (at *place) inFolder(full string) (string, bool) {
	rel, err := filepath.Rel(at.folder.Dir(), full)
	return filepath.ToSlash(rel), err == nil && filepath.IsLocal(rel)
}
