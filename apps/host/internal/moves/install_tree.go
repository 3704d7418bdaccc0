package moves

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/scorel/scorel/packages/protocol/api"
)

// installTree unpacks the bundle of a committed move. The session belongs to this host already, so
// it arrives also if that fails: the bundle is then kept as a file.
func (i *installer) installTree(ctx context.Context, one *move, r record) error {
	at, ok := treeOf(r)
	if !ok {
		return nil
	}
	bundle := i.records.itemPath(r.ID, at)
	if r.TreeError == "" {
		_, err := i.receiveTree(ctx, r, bundle)
		if err == nil || ctx.Err() != nil {
			return err
		}
		i.logger.Warn("the files of a moved session were not unpacked", "move", r.ID, "session", r.SessionID, "error", err)
		err = i.records.change(one, func(r *record) error {
			r.TreeError = fmt.Sprintf("the files were not unpacked (%v): they are a git bundle in %s", err, i.copies.bundle(r.SessionID))
			r.Error = r.TreeError
			return nil
		})
		if err != nil {
			return err
		}
	}
	return i.copies.keepBundle(bundle, r.SessionID)
}

func (i *installer) receiveTree(ctx context.Context, r record, bundle string) (*api.Worktree, error) {
	project, err := i.projects.Find(r.ProjectID)
	if err != nil {
		return nil, err
	}
	at, _ := treeOf(r)
	return i.trees.Receive(ctx, r.ID, project, r.Family, bundle, r.Offer.Items[at].Folder, filepath.Join(i.records.folder(r.ID), scratchName))
}
