package moves

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/proof"
)

// stager writes what is moved to the folder of a move.
type stager struct {
	source *source
	folder string
	record *record
	total  int64

	withFiles bool // a bundle of the session's folder is staged too
}

func (s *stager) all(ctx context.Context) error {
	for _, id := range s.record.Family {
		if err := s.log(ctx, id); err != nil {
			return err
		}
		if err := s.files(id); err != nil {
			return err
		}
	}
	if s.withFiles {
		return s.tree(ctx)
	}
	return nil
}

// log stages the log of a session with the entry that hands it over.
func (s *stager) log(ctx context.Context, id string) error {
	data, err := s.source.sessions.Handover.Leaving(ctx, id, s.record.handover())
	if err != nil {
		return err
	}
	found := proof.Check(data)
	s.record.Offer.Problems += len(found.Problems) + found.MoreProblems
	return s.item(api.MoveItem{Kind: api.MoveLog, SessionID: id}, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// files stages the attached files and the process logs of a session, if it has any.
func (s *stager) files(id string) error {
	a := &archive{stager: s}
	places := []place{
		{s.source.paths.Scratch(id), attachedFolder, attachedName},
		{filepath.Join(s.source.paths.Process(), id), ".", processName},
	}
	for _, p := range places {
		if err := a.find(p); err != nil {
			return fmt.Errorf("moves: looking for the files of a session: %w", err)
		}
	}
	if len(a.found) == 0 {
		return nil
	}
	return s.item(api.MoveItem{Kind: api.MoveFiles, SessionID: id}, a.write)
}

// item writes one item, syncs it and adds it to the offer.
func (s *stager) item(item api.MoveItem, write func(io.Writer) error) (err error) {
	items := &s.record.Offer.Items
	if len(*items) >= api.MaxMoveItems {
		return api.Errorf(api.KindTooLarge, "the session has too many subagent sessions to be moved: the limit is %d", api.MaxMoveItems/2)
	}
	file, err := os.OpenFile(filepath.Join(s.folder, strconv.Itoa(len(*items))), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("moves: staging: %w", err)
	}
	sum := sha256.New()
	limited := &limitedWriter{w: io.MultiWriter(file, sum), left: min(maxItem(item.Kind), api.MaxMoveBytes-s.total), most: maxItem(item.Kind), what: "the session is"}
	if item.Kind == api.MoveTree {
		limited.what = "the files are"
	}
	err = write(limited)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	item.Size, item.SHA256 = limited.written, hex.EncodeToString(sum.Sum(nil))
	s.total += item.Size
	*items = append(*items, item)
	return nil
}

// limitedWriter fails once too much is moved.
type limitedWriter struct {
	w             io.Writer
	left, written int64
	most          int64  // for the error
	what          string // for the error
}

// maxItem is the limit of an item in bytes.
func maxItem(kind string) int64 {
	switch kind {
	case api.MoveLog:
		return api.MaxMoveLog
	case api.MoveTree:
		return api.MaxMoveTree
	}
	return api.MaxMoveItem
}

func (l *limitedWriter) Write(p []byte) (int, error) {
	if int64(len(p)) > l.left {
		return 0, api.Errorf(api.KindTooLarge, "%s too large to be moved: one part can have %d MiB, and all together %d MiB", l.what, l.most>>20, int64(api.MaxMoveBytes)>>20)
	}
	n, err := l.w.Write(p)
	l.left -= int64(n)
	l.written += int64(n)
	return n, err
}

// place is a folder whose files are moved.
type place struct {
	root, below string
	name        func(string) (string, bool) // the name of a file in the archive; false leaves it out
}

// archive is a tar archive of files. The agent may have made what is in the folders, so only
// regular files with names that scorel gives are taken.
type archive struct {
	stager *stager
	found  []archived
}

type archived struct{ root, from, name string }

// maxArchived bounds the files of a session.
const maxArchived = 10_000

func (a *archive) find(p place) error {
	root, err := os.OpenRoot(p.root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // it was only read
	err = fs.WalkDir(root.FS(), p.below, func(at string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, ok := p.name(at)
		switch {
		case !ok || !entry.Type().IsRegular():
			a.stager.skip(path.Join(filepath.Base(p.root), at))
		case len(a.found) == maxArchived:
			return api.Errorf(api.KindTooLarge, "the session has more than %d attached files and process logs", maxArchived)
		default:
			a.found = append(a.found, archived{p.root, at, name})
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (s *stager) skip(name string) {
	if len(s.record.Skipped) == api.MaxMoveSkipped {
		s.record.MoreSkipped++
		return
	}
	s.record.Skipped = append(s.record.Skipped, name)
}

func (a *archive) write(w io.Writer) error {
	t := tar.NewWriter(w)
	for _, file := range a.found {
		if err := a.add(t, file); err != nil {
			return err
		}
	}
	return t.Close()
}

func (a *archive) add(t *tar.Writer, file archived) error {
	root, err := os.OpenRoot(file.root)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // it was only read
	from, err := root.Open(file.from)
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }() // as above
	info, err := from.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return errors.Join(err, fmt.Errorf("moves: %s is not a file any more", file.from))
	}
	if err := t.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: file.name, Size: info.Size(), Mode: 0o600}); err != nil {
		return err
	}
	_, err = io.CopyN(t, from, info.Size())
	return err
}
