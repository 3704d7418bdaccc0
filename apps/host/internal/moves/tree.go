package moves

import (
	"context"
	"io"
	"path"
	"path/filepath"
	"slices"

	"github.com/scorel/scorel/packages/protocol/api"
)

// Trees writes and unpacks git bundles of the folders that sessions work in.
type Trees interface {
	// WriteBundle writes a bundle of the repository of a folder, with changes that are not
	// committed, and returns the path of the folder in it and what is left out. That includes
	// the changes of closed files, by their paths in the folder.
	WriteBundle(ctx context.Context, folder string, closed func(path string) bool, to io.Writer) (prefix string, skipped []string, err error)
	// CheckProject returns an error if files cannot be unpacked for a project.
	CheckProject(project api.Project) error
	// CheckBundle checks a bundle from elsewhere and returns the bytes of its files. Scratch is
	// a folder that it may use.
	CheckBundle(ctx context.Context, path, scratch string) (size int64, err error)
	// Receive unpacks a bundle into a new worktree for sessions. Repeating it changes nothing.
	Receive(ctx context.Context, id string, project api.Project, sessionIDs []string, path, prefix, scratch string) (*api.Worktree, error)
}

// scratchName is the folder in that of a move in which a bundle is unpacked.
const scratchName = "bundle"

// tree stages a bundle of the folder that the session works in.
func (s *stager) tree(ctx context.Context) error {
	opened, err := s.source.sessions.Open(s.record.SessionID)
	if err != nil {
		return err
	}
	project, err := opened.Folder()
	if err != nil {
		return err
	}
	closed, err := s.source.closed(project, s.record.SessionID)
	if err != nil {
		return err
	}
	var prefix string
	var skipped []string
	err = s.item(api.MoveItem{Kind: api.MoveTree, SessionID: s.record.SessionID}, func(w io.Writer) (err error) {
		prefix, skipped, err = s.source.trees.WriteBundle(ctx, project.Path, closed, w)
		return err
	})
	if err != nil {
		return err
	}
	items := s.record.Offer.Items
	items[len(items)-1].Folder = prefix
	for _, name := range skipped {
		s.skip(path.Join(filepath.Base(project.Path), name))
	}
	return nil
}

// treeOf returns the index of the bundle in a move; false if its files are not moved.
func treeOf(r record) (int, bool) {
	i := slices.IndexFunc(r.Offer.Items, func(item api.MoveItem) bool { return item.Kind == api.MoveTree })
	return i, i >= 0
}
