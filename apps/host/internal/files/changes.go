package files

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/apps/host/internal/gitrepo"
	"github.com/scorel/scorel/packages/protocol/api"
)

// Began records the folder of a session, unless that was done in an earlier turn. It is part of sessions.Deps.
func (f *Files) Began(ctx context.Context, sessionID string, project api.Project) {
	at, err := f.open(&place{project: project}, sessionID)
	if err == nil {
		err = gitrepo.TakeBaseline(ctx, f.Paths.Changes(sessionID), at.folder.Dir(), at.repo, at.closed)
	}
	if err != nil && ctx.Err() == nil { // the session works without it, and get_changes says so
		f.Logger.Warn("the state of a folder was not recorded", "session", sessionID, "error", err)
	}
}

// Forget removes the record of a session that was deleted.
func (f *Files) Forget(sessionID string) {
	if err := os.RemoveAll(f.Paths.Changes(sessionID)); err != nil {
		f.Logger.Error("removing the recorded state of a folder", "session", sessionID, "error", err)
	}
}

// textNotRecorded is the reason for sessions without a turn since the host records folders.
const textNotRecorded = "the state of the folder is recorded when the next turn begins"

func (f *Files) getChanges(ctx context.Context, _ *dispatch.Conn, r api.GetChangesRequest) (response api.GetChangesResponse, err error) {
	release, err := f.slot(ctx)
	if err != nil {
		return response, err
	}
	defer release()
	at, err := f.placeOf(api.Place{SessionID: r.SessionID})
	if err != nil {
		return response, err
	}
	if _, err := at.inside(r.Path); err != nil {
		return response, err
	}
	response.Files = []api.FileChange{}
	byTools, err := at.session.ChangedFiles(ctx)
	if err != nil {
		return response, err
	}
	baseline, err := gitrepo.LoadBaseline(f.Paths.Changes(r.SessionID))
	switch {
	case err != nil:
		return response, err
	case baseline == nil:
		response.Reason = textNotRecorded
	default:
		response.Since, response.Reason, response.Skipped = baseline.Since, baseline.Reason, baseline.Skipped
	}
	if baseline != nil && baseline.Reason == "" {
		if err := f.compare(ctx, at, baseline, r.Path, &response); err != nil {
			return response, gitError(err)
		}
	}
	return response, f.addTools(at, byTools, r.Path, &response)
}

// compare adds the files that differ from the recorded state.
func (f *Files) compare(ctx context.Context, at *place, baseline *gitrepo.Baseline, path string, response *api.GetChangesResponse) (err error) {
	v, between, err := baseline.View(ctx, f.Paths.GitViews(), at.folder.Dir(), at.repo)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, v.Close()) }()
	skipped := func(path string) bool { return slices.Contains(baseline.Skipped, path) }
	_, truncated, err := v.IncludeUntracked(ctx, skipped, only(path)...)
	if err != nil {
		return err
	}
	files, more, err := at.differences(ctx, v, between, path)
	if err != nil {
		return err
	}
	response.Files = slices.DeleteFunc(files, func(file api.FileChange) bool { return skipped(file.Path) })
	response.Truncated = truncated || more
	if path != "" {
		for i := range response.Files {
			if file := &response.Files[i]; !file.Closed && file.From == "" {
				file.Version, _ = at.version(file.Path) // without one, it cannot be reverted
			}
		}
	}
	return nil
}

// addTools marks the files that the session's tools changed, and adds those that the recorded
// state says nothing about.
func (f *Files) addTools(at *place, byTools []string, path string, response *api.GetChangesResponse) error {
	for _, full := range byTools {
		rel, inside := at.inFolder(full)
		if !inside {
			if path == "" && len(response.Outside) < api.MaxFileEntries {
				response.Outside = append(response.Outside, full)
			}
			continue
		}
		i := slices.IndexFunc(response.Files, func(file api.FileChange) bool { return file.Path == rel || file.From == rel })
		switch {
		case i >= 0:
			response.Files[i].ByTools = true
		case path != "" && path != rel, len(response.Files) >= api.MaxFileEntries:
		case response.Reason != "" || response.Since == 0 || slices.Contains(response.Skipped, rel):
			response.Files = append(response.Files, api.FileChange{Path: rel, Status: api.FileUnknown, ByTools: true, Closed: at.closed(rel)})
		}
	}
	slices.SortStableFunc(response.Files, func(a, b api.FileChange) int { return strings.Compare(a.Path, b.Path) })
	return nil
}

// absent is the version of a file that does not exist.
const absent = "absent"

// maxReverted bounds the size of a file that can be reverted, in bytes.
const maxReverted = 10 << 20

var errTooLarge = errors.New("is too large to revert")

// version identifies the present content of a file.
func (at *place) version(path string) (string, error) {
	file, err := at.folder.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return absent, nil
	}
	if err != nil {
		return "", err
	}
	defer file.Close()
	hash := sha256.New()
	n, err := io.Copy(hash, io.LimitReader(file, maxReverted+1))
	if err == nil && n > maxReverted {
		err = errTooLarge
	}
	return hex.EncodeToString(hash.Sum(nil)), err
}

func (f *Files) revertFile(ctx context.Context, c *dispatch.Conn, r api.RevertFileRequest) (none api.Empty, err error) {
	if err := mayWrite(c); err != nil {
		return none, err
	}
	release, err := f.slot(ctx)
	if err != nil {
		return none, err
	}
	defer release()
	at, err := f.placeOf(api.Place{SessionID: r.SessionID})
	if err != nil {
		return none, err
	}
	if err := at.checkWritable(r.Path); err != nil {
		return none, err
	}
	baseline, err := gitrepo.LoadBaseline(f.Paths.Changes(r.SessionID))
	if err != nil {
		return none, err
	}
	if baseline == nil || baseline.Reason != "" || slices.Contains(baseline.Skipped, r.Path) {
		return none, api.Errorf(api.KindNotFound, "%s cannot be reverted: its earlier state was not recorded", r.Path)
	}
	return none, f.revert(ctx, at, baseline, r)
}

func (f *Files) revert(ctx context.Context, at *place, baseline *gitrepo.Baseline, r api.RevertFileRequest) (err error) {
	v, _, err := baseline.View(ctx, f.Paths.GitViews(), at.folder.Dir(), at.repo)
	if err != nil {
		return gitError(err)
	}
	defer func() { err = errors.Join(err, v.Close()) }()
	stored, err := v.Stored(ctx, r.Path)
	if err != nil {
		return gitError(err)
	}
	verify := func() error {
		now, err := at.version(r.Path)
		switch {
		case err != nil:
			return err
		case stored == nil && now == absent: // as it was
			return fs.ErrNotExist
		case now != r.Version:
			return api.Errorf(api.KindConflict, "%s has changed since you looked at it: load the changes again", r.Path)
		}
		return nil
	}
	if stored == nil {
		err = at.folder.Remove(ctx, r.Path, verify)
	} else {
		err = at.folder.Replace(ctx, r.Path, stored.Content, stored.Mode, verify)
	}
	var refused *api.Error
	switch {
	case err == nil, errors.As(err, &refused):
		return err
	case stored == nil && errors.Is(err, fs.ErrNotExist):
		return nil
	}
	return fileError(r.Path, fmt.Errorf("cannot be reverted: %w", err))
}

// hasText reports whether a text has a character that is not blank.
func hasText(text string) bool { return strings.TrimSpace(text) != "" }
