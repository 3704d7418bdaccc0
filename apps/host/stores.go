package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/file"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/mysql"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/places"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/postgres"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/rows"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// openStores opens every session provider whose address is known. One that cannot
// be reached keeps the host from starting: its sessions would look as if they were
// gone. beneath, unless it is nil, is put around each of them.
func openStores(ctx context.Context, config state.Config, dir string, beneath func(store.Provider) store.Provider, logger *slog.Logger) (*places.Places, error) {
	providers := map[string]store.Provider{state.SessionsInFiles: file.New(dir, logger)}
	for name, open := range map[string]func(context.Context, string, *slog.Logger) (*rows.Provider, error){
		state.SessionsInPostgres: postgres.Open, state.SessionsInMySQL: mysql.Open,
	} {
		address := config.SessionURL(name)
		if address == "" {
			continue
		}
		provider, err := open(ctx, address, logger)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("session provider %s: %w", name, err), places.New(providers, config.SessionProvider, logger).Close())
		}
		providers[name] = provider
		logger.Info("sessions may be kept in a database", "provider", name, "place", provider.Place())
	}
	if beneath != nil {
		for name, provider := range providers {
			providers[name] = beneath(provider)
		}
	}
	return places.New(providers, config.SessionProvider, logger), nil
}

func (h *Host) deleteSession(ctx context.Context, _ *conn, r api.SessionRequest) (api.Empty, error) {
	return none, h.sessions.Delete(ctx, r.SessionID)
}

func (h *Host) copySession(ctx context.Context, _ *conn, r api.CopySessionRequest) (api.Empty, error) {
	return none, h.sessions.Copy(ctx, r.SessionID, r.To, r.Move)
}

// maxImport bounds a session file that is taken in, in bytes.
const maxImport = 2 << 30

func (h *Host) importSession(ctx context.Context, _ *conn, r api.ImportSessionRequest) (api.ImportSessionResponse, error) {
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
	project, err := h.projectOf(r.ProjectID, parts.Header)
	if err != nil {
		return api.ImportSessionResponse{}, err
	}
	summary, err := h.sessions.Import(ctx, project.ID, parts.Header.ID, data)
	if err == nil {
		h.tell(api.SessionUpdated{Session: summary})
	}
	return api.ImportSessionResponse{Session: summary}, err
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
func (h *Host) projectOf(id string, header session.Header) (api.Project, error) {
	if id != "" {
		project, ok := h.projects.Get(id)
		if !ok {
			return api.Project{}, noProject(id)
		}
		return project, nil
	}
	folder, err := state.Canonical(header.Cwd)
	if err != nil {
		folder = header.Cwd // it need not be there any more
	}
	for _, project := range h.projects.List() {
		if project.Path == folder {
			return project, nil
		}
	}
	return api.Project{}, api.Errorf(api.KindNotFound, "the session ran in %.200q, which is no project of this host: add it, or say with --project which one the session shall be in", header.Cwd)
}
