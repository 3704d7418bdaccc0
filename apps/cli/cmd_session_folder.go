package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// A session and those that its agent had made are a folder with a file for each.

// exportFolder writes a session of the host and all that belong to it into a new folder.
func (a *app) exportFolder(ctx context.Context, to *target, id, folder string) error {
	c, err := to.connect(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }() // only read from
	all, err := client.Sessions(ctx, c, api.ListSessionsRequest{All: true})
	if err != nil {
		return err
	}
	projects, err := client.Call[api.ListProjectsResponse](ctx, c, "list_projects", api.Empty{})
	if err != nil {
		return err
	}
	if err := os.Mkdir(folder, 0o700); err != nil {
		if errors.Is(err, os.ErrExist) {
			return sayf(err, "%s exists: give the name of a new folder", folder)
		}
		return sayf(err, "%s cannot be made (%v): give a path in a folder that is there and yours to write in", folder, reason(err))
	}
	for _, id := range belonging(all, id) {
		response, err := loadSession(ctx, c, id)
		if err != nil {
			return err
		}
		f, err := fileOf(response, projects.Projects)
		if err != nil {
			return err
		}
		noteDamage(a.stderr, f)
		path := filepath.Join(folder, folderName(f.Header))
		if err := a.writeOut(path, f.Bytes()); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(a.stdout, printable(path)); err != nil {
			return err
		}
	}
	return nil
}

// belonging returns an id and those of all sessions that belong to it, over others too.
func belonging(all []api.SessionSummary, id string) []string {
	ids, has := []string{id}, map[string]bool{id: true}
	for i := 0; i < len(ids); i++ {
		for _, s := range all {
			if s.ParentSessionID == ids[i] && !has[s.ID] {
				ids, has[s.ID] = append(ids, s.ID), true
			}
		}
	}
	return ids
}

// folderName is the name of a session's file, as hosts give it. The id is a host's word:
// what could lead elsewhere is no part of it.
func folderName(h session.Header) string {
	clean := func(text string) string {
		return strings.Map(func(r rune) rune {
			if r == '-' || r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
				return r
			}
			return '-'
		}, text)
	}
	return clean(h.Timestamp) + "_" + clean(h.ID) + ".jsonl"
}

// importFolder takes every session file of a folder in. One that is not taken keeps no
// other from it.
func (a *app) importFolder(ctx context.Context, in *projectFlag, folder string, asJSON bool) error {
	paths, err := filepath.Glob(filepath.Join(escapeGlob(folder), "*.jsonl")) // sorted: older ones first
	if err != nil || len(paths) == 0 {
		return sayf(err, "there is no session file in %s: give the path of a file, or of a folder as `scorel session export --children` writes it", folder)
	}
	var failed []error
	for _, path := range paths {
		if err := a.importFile(ctx, in, path, asJSON); err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", printable(filepath.Base(path)), err))
		}
	}
	return errors.Join(failed...)
}

// escapeGlob makes a path stand for itself in a pattern.
func escapeGlob(path string) string {
	if os.PathSeparator == '\\' { // there it separates, and escapes nothing
		return path
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}
