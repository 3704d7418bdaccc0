package moves

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/scorel/scorel/packages/atomicfile"
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
	opened, err := s.moves.sessions.Open(s.record.SessionID)
	if err != nil {
		return err
	}
	project, err := opened.Folder()
	if err != nil {
		return err
	}
	closed, err := s.moves.Closed(project, s.record.SessionID)
	if err != nil {
		return err
	}
	var prefix string
	var skipped []string
	err = s.item(api.MoveItem{Kind: api.MoveTree, SessionID: s.record.SessionID}, func(w io.Writer) (err error) {
		prefix, skipped, err = s.moves.Trees.WriteBundle(ctx, project.Path, closed, w)
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

// checkTree checks a bundle that has arrived, and that there is space for its files.
func (m *Moves) checkTree(ctx context.Context, r record, path string) error {
	size, err := m.Trees.CheckBundle(ctx, path, filepath.Join(m.folder(r.ID), scratchName))
	if err != nil {
		return err
	}
	if free, known := freeSpace(m.Paths.Home); known && free < uint64(size)+reserve {
		return api.Errorf(api.KindTooLarge, "the other machine has not enough free space for the files: they need %d MiB there", (size+reserve)>>20)
	}
	return nil
}

// installTree unpacks the bundle of a committed move. The session belongs to this host already, so
// it arrives also if that fails: the bundle is then kept as a file.
func (m *Moves) installTree(ctx context.Context, one *move, r record) error {
	i, ok := treeOf(r)
	if !ok {
		return nil
	}
	bundle := filepath.Join(m.folder(r.ID), itemName(i))
	if r.TreeError == "" {
		_, err := m.receiveTree(ctx, r, bundle)
		if err == nil || ctx.Err() != nil {
			return err
		}
		m.Logger.Warn("the files of a moved session were not unpacked", "move", r.ID, "session", r.SessionID, "error", err)
		err = m.change(one, func(r *record) error {
			r.TreeError = fmt.Sprintf("the files were not unpacked (%v): they are a git bundle in %s", err, m.keptBundle(r.SessionID))
			r.Error = r.TreeError
			return nil
		})
		if err != nil {
			return err
		}
	}
	if err := atomicfile.MkdirAll(m.Paths.Moved(), 0o700); err != nil {
		return fmt.Errorf("moves: keeping a bundle: %w", err)
	}
	if err := os.Rename(bundle, m.keptBundle(r.SessionID)); err != nil && !errors.Is(err, fs.ErrNotExist) { // it was kept before a crash
		return fmt.Errorf("moves: keeping a bundle: %w", err)
	}
	return atomicfile.SyncDir(m.Paths.Moved())
}

func (m *Moves) receiveTree(ctx context.Context, r record, bundle string) (*api.Worktree, error) {
	project, err := m.Projects.Find(r.ProjectID)
	if err != nil {
		return nil, err
	}
	i, _ := treeOf(r)
	return m.Trees.Receive(ctx, r.ID, project, r.Family, bundle, r.Offer.Items[i].Folder, filepath.Join(m.folder(r.ID), scratchName))
}

func (m *Moves) keptBundle(sessionID string) string {
	return filepath.Join(m.Paths.Moved(), sessionID+".bundle")
}
