package sessionapi

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/proof"
	"github.com/scorel/scorel/packages/protocol/session"
)

// maxImport bounds an imported session file, in bytes.
const maxImport = 2 << 30

func (s *Sessions) importSession(ctx context.Context, _ *dispatch.Conn, r api.ImportSessionRequest) (api.ImportSessionResponse, error) {
	data, err := readImport(r.Path)
	if err != nil {
		return api.ImportSessionResponse{}, err
	}
	parts, err := store.Split(data)
	switch {
	case errors.Is(err, session.ErrNotSession), errors.Is(err, session.ErrEmpty):
		return api.ImportSessionResponse{}, api.Errorf(api.KindBadRequest, "%s is not a session file: it does not begin with a session header", r.Path)
	case err != nil:
		return api.ImportSessionResponse{}, api.Errorf(api.KindBadRequest, "%s cannot be imported: %v", r.Path, err)
	}
	project, err := s.projectOf(r.ProjectID, parts.Header)
	if err != nil {
		return api.ImportSessionResponse{}, err
	}
	proven := proof.Check(data)
	summary, err := s.manager.Import(ctx, project.ID, parts.Header.ID, data)
	if err != nil {
		return api.ImportSessionResponse{}, err
	}
	s.hub.Notify(api.SessionUpdated{Session: summary})
	return api.ImportSessionResponse{Session: summary, Proof: &proven}, nil
}

func readImport(path string) ([]byte, error) {
	if !filepath.IsAbs(path) {
		return nil, api.Errorf(api.KindInvalidPath, "%.200q is not an absolute path", path)
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return nil, api.Errorf(api.KindInvalidPath, "%s is not a file: give the path of a session file", path)
	case err == nil && info.Size() > maxImport:
		return nil, api.Errorf(api.KindTooLarge, "%s is larger than 2 GiB, which is the limit", path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, api.Errorf(api.KindInvalidPath, "the file cannot be read: %v", err)
	}
	return data, nil
}

// projectOf returns the project of the id, or with "" that of the folder in which
// the session ran.
func (s *Sessions) projectOf(id string, header session.Header) (api.Project, error) {
	if id != "" {
		return s.projects.Find(id)
	}
	folder, err := state.Canonical(header.Cwd)
	if err != nil {
		folder = header.Cwd // it may have been deleted
	}
	for _, project := range s.projects.List() {
		if project.Path == folder {
			return project, nil
		}
	}
	return api.Project{}, api.Errorf(api.KindNotFound, "the session's folder %.200q is not a project of this host: add it, or choose a project with --project", header.Cwd)
}
