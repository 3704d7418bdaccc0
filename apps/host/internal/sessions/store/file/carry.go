package file

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/scorel/scorel/apps/host/internal/sessions/store"
)

// Export implements store.Provider.
func (p *Provider) Export(ctx context.Context, id string) (projectID string, data []byte, err error) {
	path, data, err := p.readBytes(ctx, id)
	if err != nil {
		return "", nil, err
	}
	parts, err := store.Split(data)
	if err != nil {
		return "", nil, fmt.Errorf("reading session %s: %w", id, err)
	}
	return filepath.Base(filepath.Dir(path)), parts.Bytes(), nil
}

// readBytes reads the acknowledged part of a session file.
func (p *Provider) readBytes(ctx context.Context, id string) (path string, data []byte, err error) {
	if err := ctx.Err(); err != nil {
		return "", nil, fmt.Errorf("reading session %.140q: %w", id, err)
	}
	if path, err = p.find(id); err != nil {
		return "", nil, fmt.Errorf("reading a session: %w", err)
	}
	p.mu.Lock()
	acknowledged := p.open[path]
	p.mu.Unlock()
	most := int64(-1)
	if acknowledged != nil {
		most = acknowledged.Load()
	}
	if data, err = os.ReadFile(path); err != nil {
		return "", nil, explain(err, "reading session "+id)
	}
	if most >= 0 && int64(len(data)) > most {
		data = data[:most]
	}
	return path, cutUnfinished(path, data), nil
}

// Import implements store.Provider.
func (p *Provider) Import(ctx context.Context, projectID string, data []byte) error {
	parts, err := store.CheckImport(ctx, projectID, data)
	if err != nil {
		return err
	}
	id, path := parts.Header.ID, filepath.Join(p.dir, projectID, fileName(parts.Header))
	switch _, err := p.find(id); {
	case err == nil:
		return fmt.Errorf("importing session %s: %w", id, store.ErrExists)
	case !errors.Is(err, store.ErrNotFound):
		return err
	}
	if err := p.makeNew(path, parts.Bytes()); err != nil {
		return explain(err, "importing session "+id)
	}
	p.mu.Lock()
	p.paths[id] = path
	p.mu.Unlock()
	return nil
}
