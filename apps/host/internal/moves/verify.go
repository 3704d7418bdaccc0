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

	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/atomicfile"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/proof"
	"github.com/scorel/scorel/packages/protocol/session"
)

// verify checks what has arrived and syncs it. An item that was damaged on the way is removed,
// which is a conflict: it is sent again. Everything else is the fault of the source.
func (t *target) verify(ctx context.Context, r record) error {
	problems := 0
	for i, item := range r.Offer.Items {
		path := t.records.itemPath(r.ID, i)
		if err := checkItem(path, item); err != nil {
			return err
		}
		var err error
		switch item.Kind {
		case api.MoveLog:
			problems, err = checkLog(path, item.SessionID, r, problems)
		case api.MoveTree:
			err = t.checkTree(ctx, r, path)
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
	return atomicfile.SyncDir(t.records.folder(r.ID))
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

// checkTree checks a bundle that has arrived, and that there is space for its files.
func (t *target) checkTree(ctx context.Context, r record, path string) error {
	size, err := t.trees.CheckBundle(ctx, path, filepath.Join(t.records.folder(r.ID), scratchName))
	if err != nil {
		return err
	}
	if free, known := freeSpace(t.paths.Home); known && free < uint64(size)+reserve {
		return api.Errorf(api.KindTooLarge, "the other machine has not enough free space for the files: they need %d MiB there", (size+reserve)>>20)
	}
	return nil
}
