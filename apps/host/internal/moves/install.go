package moves

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/scorel/scorel/apps/host/internal/sessions"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/atomicfile"
	"github.com/scorel/scorel/packages/protocol/api"
)

// installer makes what has arrived sessions of this host.
type installer struct {
	records  *Records
	sessions *sessions.Manager
	projects *state.Projects
	paths    state.Paths
	trees    Trees
	copies   copies
	step     steps
	logger   *slog.Logger
}

// install makes a committed move a session of this host. Repeating it completes what a crash
// cut off.
func (i *installer) install(ctx context.Context, one *move) error {
	one.files.Lock()
	defer one.files.Unlock()
	r := i.records.of(one)
	if r.State != api.MoveCommitted {
		return nil
	}
	if err := i.installFiles(r); err != nil {
		return err
	}
	i.step.reached("unpacked")
	if err := i.installTree(ctx, one, r); err != nil {
		return err
	}
	i.step.reached("tree")
	r = i.records.of(one)
	if err := i.dropEarlier(r); err != nil {
		return err
	}
	if err := i.sessions.Handover.Arrive(ctx, r.ProjectID, i.arrivals(r), r.handover(), i.noteFor(r)); err != nil {
		return err
	}
	i.step.reached("arrived")
	err := i.records.change(one, func(r *record) error {
		r.State, r.EndedAt = api.MoveDone, time.Now().UnixMilli()
		return nil
	})
	if err != nil {
		return err
	}
	i.step.reached("installed")
	return removeItems(i.records.folder(r.ID))
}

// arrivals are the logs, those of subagents first. Each is read when it is stored, so that only
// one is in memory.
func (i *installer) arrivals(r record) (list []sessions.Arrival) {
	for at, item := range slices.Backward(r.Offer.Items) {
		if item.Kind != api.MoveLog {
			continue
		}
		path := i.records.itemPath(r.ID, at)
		list = append(list, sessions.Arrival{SessionID: item.SessionID, Read: func() ([]byte, error) {
			data, err := os.ReadFile(path)
			if err != nil {
				return nil, fmt.Errorf("moves: reading a log: %w", err)
			}
			return data, nil
		}})
	}
	return list
}

// dropEarlier forgets that the session was moved away from this host before.
func (i *installer) dropEarlier(r record) error {
	for _, one := range i.records.all() {
		earlier := i.records.of(one)
		if !earlier.Incoming && earlier.State == api.MoveDone && slices.ContainsFunc(earlier.Family, func(id string) bool { return slices.Contains(r.Family, id) }) {
			if err := i.records.drop(one); err != nil {
				return err
			}
		}
	}
	return nil
}

func (i *installer) installFiles(r record) error {
	for at, item := range r.Offer.Items {
		if item.Kind != api.MoveFiles {
			continue
		}
		if err := i.unpack(i.records.itemPath(r.ID, at), item.SessionID); err != nil {
			return fmt.Errorf("moves: unpacking files: %w", err)
		}
	}
	return nil
}

func (i *installer) unpack(archive, sessionID string) error {
	roots := map[string]string{attachedFolder: i.paths.Scratch(sessionID), processFolder: filepath.Join(i.paths.Process(), sessionID)}
	changed := map[[2]string]bool{} // folders, each a root and a path in it
	err := walkArchive(archive, func(folder, name string, _ *tar.Header, content io.Reader) (err error) {
		for at := filepath.Dir(name); ; at = filepath.Dir(at) {
			changed[[2]string{roots[folder], at}] = true
			if at == "." {
				break
			}
		}
		if err := atomicfile.MkdirAll(roots[folder], 0o700); err != nil {
			return err
		}
		root, err := os.OpenRoot(roots[folder])
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, root.Close()) }()
		if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return err
		}
		file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
		if err != nil {
			return err
		}
		_, err = io.Copy(file, content)
		return errors.Join(err, file.Sync(), file.Close())
	})
	for folder := range changed {
		err = errors.Join(err, syncIn(folder[0], folder[1]))
	}
	return err
}

// syncIn syncs a folder below another one.
func syncIn(top, path string) (err error) {
	root, err := os.OpenRoot(top)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	folder, err := root.OpenRoot(path)
	if err != nil {
		return err
	}
	return errors.Join(atomicfile.SyncRoot(folder), folder.Close())
}

// noteFor tells the model that its files are elsewhere now.
func (i *installer) noteFor(r record) string {
	note := "This session was moved here from another machine. Paths above belong to that machine: look at files again before you use them, and start background jobs again."
	if slices.ContainsFunc(r.Offer.Items, func(item api.MoveItem) bool { return item.Kind == api.MoveFiles && item.SessionID == r.SessionID }) {
		note += " Attached files are in " + filepath.Join(i.paths.Scratch(r.SessionID), attachedFolder) + " now, under the same names."
	}
	if _, moved := treeOf(r); moved && r.TreeError == "" {
		note += " The files of the folder were moved too, with changes that are not committed, into a new git worktree, in which you work now."
	} else if moved {
		note += " The files of the folder were not unpacked: ask the person before you rely on them."
	}
	return note
}
