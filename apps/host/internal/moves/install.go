package moves

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/scorel/scorel/apps/host/internal/sessions"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/atomicfile"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/proof"
	"github.com/scorel/scorel/packages/protocol/session"
)

// verify checks what has arrived and syncs it. An item that was damaged on the way is removed,
// which is a conflict: it is sent again. Everything else is the fault of the source.
func (m *Moves) verify(ctx context.Context, r record) error {
	problems := 0
	for i, item := range r.Offer.Items {
		path := filepath.Join(m.folder(r.ID), itemName(i))
		if err := checkItem(path, item); err != nil {
			return err
		}
		var err error
		switch item.Kind {
		case api.MoveLog:
			problems, err = checkLog(path, item.SessionID, r, problems)
		case api.MoveTree:
			err = m.checkTree(ctx, r, path)
		case api.MoveFiles:
			err = walkArchive(path, func(string, string, *tar.Header, io.Reader) error { return nil })
		}
		if err != nil {
			return err
		}
	}
	if problems > r.Offer.Problems {
		return api.Errorf(api.KindBadRequest, "the log does not prove what was offered: %d problems were found", problems)
	}
	return atomicfile.SyncDir(m.folder(r.ID))
}

func checkItem(path string, item api.MoveItem) error {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) // an empty item has no part
	if err != nil {
		return fmt.Errorf("moves: checking an item: %w", err)
	}
	sum := sha256.New()
	size, err := io.Copy(sum, file)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return fmt.Errorf("moves: checking an item: %w", err)
	}
	if size == item.Size && hex.EncodeToString(sum.Sum(nil)) == item.SHA256 {
		return nil
	}
	if size == item.Size {
		if err := os.Remove(path); err != nil {
			return fmt.Errorf("moves: removing a damaged item: %w", err)
		}
	}
	return api.Errorf(api.KindConflict, "a part of the session did not arrive as it was offered")
}

// checkLog checks that a log is one of the session, can be continued, and ends with the entry in
// which the source hands it over to this host. It adds the problems of its chain.
func checkLog(path, id string, r record, problems int) (int, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return problems, fmt.Errorf("moves: reading a log: %w", err)
	}
	bad := func(what string) (int, error) {
		return problems, api.Errorf(api.KindBadRequest, "the log of the session %.64s is not valid: %s", id, what)
	}
	parts, err := store.Split(data)
	if err != nil {
		return bad(err.Error())
	}
	if !parts.Equal(data) || len(parts.Lines) == 0 || parts.Header.ID != id {
		return bad("it is not that of this session, or not complete")
	}
	if id != r.SessionID && !slices.Contains(r.Family, parts.Header.ChildOf) || id == r.SessionID && parts.Header.ChildOf != "" {
		return bad("it does not belong to the session")
	}
	file, err := session.ReadFile(data)
	if err != nil {
		return bad(err.Error())
	}
	if trouble := store.Trouble(file); trouble != "" {
		return bad(trouble)
	}
	if what := checkHandover(parts, r); what != "" {
		return bad(what)
	}
	found := proof.Check(data)
	return problems + len(found.Problems) + found.MoreProblems, nil
}

// checkHandover returns what is wrong with the last entry of a log, or "".
func checkHandover(parts store.Parts, r record) string {
	line := parts.Lines[len(parts.Lines)-1]
	covered, _, chained := session.SplitChain(line)
	_, head, signed := session.SplitHead(covered)
	entry, err := session.ParseEntry(line)
	if !chained || !signed || err != nil || entry.CustomType != session.CustomMoved {
		return "it does not end with the entry that hands it over"
	}
	if (api.DeviceKeys{Sign: head.SignKey, Seal: head.SealKey}) != r.Offer.From {
		return "another device has handed it over"
	}
	custom, ok := entry.AsCustom()
	var record session.MovedRecord
	if !ok || json.Unmarshal(custom.Data, &record) != nil || record != r.handover() {
		return "it was handed over to another device"
	}
	return "" // proof.Check verifies the signature
}

// walkArchive calls do for each file of an archive of attached files and process logs.
func walkArchive(path string, do func(folder, name string, header *tar.Header, content io.Reader) error) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("moves: reading an archive: %w", err)
	}
	defer func() { _ = file.Close() }() // it was only read
	info, err := file.Stat()
	if err != nil {
		return fmt.Errorf("moves: reading an archive: %w", err)
	}
	left := info.Size() // a sparse file in it claims more than the archive has
	t := tar.NewReader(file)
	seen := map[string]bool{}
	for {
		header, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return api.Errorf(api.KindBadRequest, "the archive of files cannot be read: %v", err)
		}
		left -= header.Size
		folder, name, ok := unpackedName(header.Name)
		if !ok || left < 0 || header.Typeflag != tar.TypeReg || seen[header.Name] || len(seen) == maxArchived {
			return api.Errorf(api.KindBadRequest, "the archive of files has an entry that does not belong there: %.100q", header.Name)
		}
		seen[header.Name] = true
		if err := do(folder, name, header, t); err != nil {
			return err
		}
	}
}

// install makes a committed move a session of this host. Repeating it completes what a crash
// cut off.
func (m *Moves) install(ctx context.Context, one *move) error {
	one.files.Lock()
	defer one.files.Unlock()
	r := m.recordOf(one)
	if r.State != api.MoveCommitted {
		return nil
	}
	if err := m.installFiles(r); err != nil {
		return err
	}
	m.reached("unpacked")
	if err := m.installTree(ctx, one, r); err != nil {
		return err
	}
	m.reached("tree")
	r = m.recordOf(one)
	if err := m.dropEarlier(r); err != nil {
		return err
	}
	if err := m.sessions.Arrive(ctx, r.ProjectID, m.arrivals(r), r.handover(), m.noteFor(r)); err != nil {
		return err
	}
	m.reached("arrived")
	err := m.change(one, func(r *record) error {
		r.State, r.EndedAt = api.MoveDone, time.Now().UnixMilli()
		return nil
	})
	if err != nil {
		return err
	}
	m.reached("installed")
	return removeItems(m.folder(r.ID))
}

// arrivals are the logs, those of subagents first. Each is read when it is stored, so that only
// one is in memory.
func (m *Moves) arrivals(r record) (list []sessions.Arrival) {
	for i, item := range slices.Backward(r.Offer.Items) {
		if item.Kind != api.MoveLog {
			continue
		}
		path := filepath.Join(m.folder(r.ID), itemName(i))
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
func (m *Moves) dropEarlier(r record) error {
	for _, one := range m.all() {
		earlier := m.recordOf(one)
		if !earlier.Incoming && earlier.State == api.MoveDone && slices.ContainsFunc(earlier.Family, func(id string) bool { return slices.Contains(r.Family, id) }) {
			if err := m.drop(one); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *Moves) installFiles(r record) error {
	for i, item := range r.Offer.Items {
		if item.Kind != api.MoveFiles {
			continue
		}
		if err := m.unpack(filepath.Join(m.folder(r.ID), itemName(i)), item.SessionID); err != nil {
			return fmt.Errorf("moves: unpacking files: %w", err)
		}
	}
	return nil
}

func (m *Moves) unpack(archive, sessionID string) error {
	roots := map[string]string{attachedFolder: m.Paths.Scratch(sessionID), processFolder: filepath.Join(m.Paths.Process(), sessionID)}
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
func (m *Moves) noteFor(r record) string {
	note := "This session was moved here from another machine. Paths above belong to that machine: look at files again before you use them, and start background jobs again."
	if slices.ContainsFunc(r.Offer.Items, func(item api.MoveItem) bool { return item.Kind == api.MoveFiles && item.SessionID == r.SessionID }) {
		note += " Attached files are in " + filepath.Join(m.Paths.Scratch(r.SessionID), attachedFolder) + " now, under the same names."
	}
	if _, moved := treeOf(r); moved && r.TreeError == "" {
		note += " The files of the folder were moved too, with changes that are not committed, into a new git worktree, in which you work now."
	} else if moved {
		note += " The files of the folder were not unpacked: ask the person before you rely on them."
	}
	return note
}
