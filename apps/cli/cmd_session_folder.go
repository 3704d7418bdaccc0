package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// A session and the sessions that its agent created form a folder with a file for each.

// exportFolder writes a session of the host and all of its child sessions to a new folder.
func exportFolder(ctx context.Context, to *target, id, folder string) error {
	c, err := to.connect(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }() // everything was received
	if _, err := client.Call(ctx, c, api.GetSnapshot, api.SessionRequest{SessionID: id}); err != nil {
		return err
	}
	all, err := client.Sessions(ctx, c, api.ListSessionsRequest{All: true, Archived: api.ArchivedToo})
	if err != nil {
		return err
	}
	projects, err := client.Call(ctx, c, api.ListProjects, api.Empty{})
	if err != nil {
		return err
	}
	if err := os.Mkdir(folder, 0o700); err != nil {
		if errors.Is(err, os.ErrExist) {
			return sayf(err, "%s exists: give the name of a new folder", folder)
		}
		return sayf(err, "%s cannot be created (%v): give a path in an existing folder that you can write to", folder, reason(err))
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
		noteDamage(to.con.stderr, f)
		path := filepath.Join(folder, folderName(f.Header))
		if err := writeOut(to.con.stdout, path, f.Bytes()); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(to.con.stdout, printable(path)); err != nil {
			return err
		}
	}
	return nil
}

// belonging returns an id and those of its direct and indirect child sessions.
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

// folderName returns the name of a session's file, as hosts choose it. The id comes from a
// host, so characters that could lead elsewhere are removed.
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

// importFolder imports every session file of a folder. A file that fails does not keep the
// others from being imported.
func importFolder(ctx context.Context, con console, in *projectFlag, folder string, asJSON bool) error {
	entries, err := os.ReadDir(folder) // sorted, oldest first
	entries = slices.DeleteFunc(entries, func(e os.DirEntry) bool { return filepath.Ext(e.Name()) != ".jsonl" })
	if err != nil || len(entries) == 0 {
		return sayf(err, "there is no session file in %s: give the path of a file, or of a folder written by `scorel session export --children`", folder)
	}
	var failed []error
	for _, entry := range entries {
		if err := importFile(ctx, con, in, filepath.Join(folder, entry.Name()), asJSON); err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", printable(entry.Name()), err))
		}
	}
	return errors.Join(failed...)
}
