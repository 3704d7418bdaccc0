package file

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/protocol/session"
)

// maxHeader bounds how much of a file is read to find its header, in bytes.
const maxHeader = 1 << 20

// List implements store.Provider.
func (p *Provider) List(ctx context.Context) ([]store.Info, error) {
	var list []store.Info
	err := p.scan(ctx, func(path string, header session.Header) {
		stat, err := os.Stat(path)
		if err != nil {
			return // it was deleted in the meantime
		}
		list = append(list, store.Info{
			Header: header, ProjectID: filepath.Base(filepath.Dir(path)), Modified: stat.ModTime(),
			Revision: revision(stat),
		})
	})
	return list, err
}

// scan reads the headers of all files and remembers where each session is. Of two files with
// one id, the first by name is used.
func (p *Provider) scan(ctx context.Context, each func(path string, header session.Header)) error {
	files, err := filepath.Glob(filepath.Join(p.dir, "*", "*"+ending))
	if err != nil {
		return fmt.Errorf("listing the sessions below %s: %w", p.dir, err)
	}
	seen := make(map[string]string, len(files))
	for _, path := range files {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("listing sessions: %w", err)
		}
		header, err := readHeader(path)
		if err != nil {
			p.logger.Error("a session file cannot be listed; it was not changed", "file", filepath.Base(path), "error", err)
			continue
		}
		if first, twice := seen[header.ID]; twice {
			p.logger.Error("two files have a session with the same id; the second is ignored",
				"first", filepath.Base(first), "second", filepath.Base(path))
			continue
		}
		seen[header.ID] = path
		each(path, header)
	}
	p.mu.Lock()
	p.paths = seen
	p.mu.Unlock()
	return nil
}

// readHeader reads the first line that is JSON, which must be the header.
func readHeader(path string) (session.Header, error) {
	f, err := os.Open(path)
	if err != nil {
		return session.Header{}, err
	}
	defer f.Close()
	r := bufio.NewReader(io.LimitReader(f, maxHeader))
	for {
		line, err := r.ReadBytes('\n')
		if header, parseErr := session.ParseHeader(line); parseErr == nil {
			return header, nil
		}
		if err != nil || json.Valid(line) {
			return session.Header{}, session.ErrNotSession
		}
	}
}

// find returns the path of a session. The error is store.ErrNotFound, or one of
// reading the folder.
func (p *Provider) find(id string) (string, error) {
	p.mu.Lock()
	path, known := p.paths[id]
	p.mu.Unlock()
	if known && holds(path, id) {
		return path, nil
	}
	if store.CheckName(id) == nil { // so that the id contains no pattern characters
		named, err := filepath.Glob(filepath.Join(p.dir, "*", "*_"+id+ending))
		if err != nil {
			return "", fmt.Errorf("looking for session %s: %w", id, err)
		}
		if len(named) > 0 && holds(named[0], id) {
			p.mu.Lock()
			p.paths[id] = named[0]
			p.mu.Unlock()
			return named[0], nil
		}
	}
	found := ""
	err := p.scan(context.Background(), func(path string, header session.Header) {
		if header.ID == id {
			found = path
		}
	})
	if err != nil {
		return "", err
	}
	if found == "" {
		return "", fmt.Errorf("session %.140q: %w", id, store.ErrNotFound)
	}
	return found, nil
}

// Locate implements store.Locator.
func (p *Provider) Locate(_ context.Context, id string) (string, error) { return p.find(id) }

func holds(path, id string) bool {
	header, err := readHeader(path)
	return err == nil && header.ID == id
}
